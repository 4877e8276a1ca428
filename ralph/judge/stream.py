"""One iteration's events, folded as they come: what the outcome, the budget and the idle limit ask for.

Loops inside an iteration are the business of `judge/signals`. O(1) an event; memory is capped whatever the agent says.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import assert_never

from ralph.facts.event import (
    MAIN,
    Compacted,
    Event,
    Finish,
    Finished,
    Known,
    Retrying,
    Said,
    Started,
    ToolCalled,
    ToolReturned,
    Trouble,
    Troubled,
    UsageSeen,
)
from ralph.facts.usage import Tokens
from ralph.judge.usage_fold import SessionMarks, UsageFold, Used

TEXT_CAP = 64 << 10
"""Characters kept of the agent's last words: the end, where a promise stands."""
RESULTS_KEPT = 16_384
CALLS_KEPT = 4096
DENIED_KEPT = 100
STREAMS_KEPT = 1024


@dataclass(slots=True)
class RunMemory:
    """What one iteration's stream leaves for the next: results of tools seen before, and resumed sessions.

    results: 8-byte digests, the oldest forgotten first. Shared by all `StreamFold`s of a run.
    """

    results: OrderedDict[bytes, None] = field(default_factory=OrderedDict)
    sessions: SessionMarks = field(default_factory=SessionMarks)

    def is_news(self, result: str) -> bool:
        """Return whether the run had not seen this result, and remember it."""
        key = blake2b(result.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        news = key not in self.results
        self.results[key] = None
        if len(self.results) > RESULTS_KEPT:
            self.results.popitem(last=False)
        return news


@dataclass(frozen=True, slots=True)
class StreamFacts:
    """What a stream has told so far.

    turns: model turns, 0 if it told none. tools: calls. micro, tokens: used so far, None if not told. models: all
    named, first first. finish: the terminal event that counts. conflicting: another one said something else.
    trouble: the last refusal that was final and that the agent did not work on after. warnings: retries and refusals
    that were not final. denied: names of refused tools, sorted. new_results: results this run had not seen.
    """

    turns: int = 0
    tools: int = 0
    micro: int | None = None
    tokens: Tokens | None = None
    session: str | None = None
    model: str | None = None
    version: str | None = None
    finish: Finished | None = None
    conflicting: bool = False
    answer: str | None = None
    trouble: Troubled | None = None
    warnings: int = 0
    denied: tuple[str, ...] = ()
    new_results: int = 0
    events: int = 0


class StreamFold:
    """Folds the events of one agent run."""

    def __init__(self, memory: RunMemory | None = None) -> None:
        self._memory = memory or RunMemory()
        self._usage = UsageFold(self._memory.sessions)
        self._facts = StreamFacts()
        self._calls: OrderedDict[str, str] = OrderedDict()
        self._turns: OrderedDict[str, str] = OrderedDict()
        self._answering = False
        self._waiting = False
        self._denied: set[str] = set()
        self._said = ""
        self._said_turn = ""
        self._events = self._tools = self._turn_count = self._news = self._warnings = 0

    def see(self, event: Event) -> None:
        """Take the next event. Never raises."""
        self._events += 1
        self._waiting = isinstance(event, Retrying)
        match event:
            case Started():
                self._start(event)
            case Said():
                self._turn(event.stream, event.turn)
                self._say(event)
            case ToolCalled():
                self._turn(event.stream, event.turn)
                self._call(event)
            case ToolReturned():
                self._return(event)
            case UsageSeen():
                self._usage.add(event)
            case Retrying():
                self._warnings += 1
            case Troubled():
                self._trouble(event)
            case Finished():
                self._finish(event)
            case Compacted():
                pass  # says nothing about how it ends
            case _:
                assert_never(event)

    def excused(self) -> bool:
        """Return whether silence is expected: a tool is at work, or the agent announced that it waits."""
        return self._waiting or bool(self._calls)

    def finished(self) -> bool:
        """Return whether a terminal event was seen."""
        return self._facts.finish is not None

    @property
    def used(self) -> Used:
        """Return tokens and money so far; cheap enough to ask after every event."""
        return self._usage.used

    @property
    def turns(self) -> int:
        """Return the model turns seen so far."""
        return self._turn_count

    def facts(self) -> StreamFacts:
        """Return all that was told so far."""
        used, finish = self._usage.used, self._facts.finish
        told = finish.turns if finish is not None and finish.turns is not None else 0
        answer = finish.answer if finish is not None else None
        return replace(
            self._facts,
            turns=max(self._turn_count, told),
            tools=self._tools,
            micro=used.micro,
            tokens=used.tokens,
            answer=answer[-TEXT_CAP:] if answer is not None else (self._said or None),
            warnings=self._warnings,
            denied=tuple(sorted(self._denied)),
            new_results=self._news,
            events=self._events,
        )

    def _start(self, event: Started) -> None:
        known = self._facts
        self._facts = replace(
            known,
            session=known.session or event.session,
            model=known.model or event.model,
            version=known.version or event.version,
        )

    def _turn(self, stream: str, turn: str) -> None:
        """Count a model turn: a new id on its stream; without ids, the first words after a tool's result."""
        last = self._turns.get(stream)
        if last is None or (turn != last if turn else self._answering):
            self._turn_count += 1
        self._turns[stream] = turn
        if len(self._turns) > STREAMS_KEPT:
            self._turns.popitem(last=False)
        self._answering = False

    def _say(self, event: Said) -> None:
        if event.stream != MAIN:
            return
        more = bool(event.turn) and event.turn == self._said_turn
        self._said = (self._said + event.text if more else event.text)[-TEXT_CAP:]
        self._said_turn = event.turn

    def _call(self, event: ToolCalled) -> None:
        self._tools += 1
        self._calls[event.id] = event.name
        if len(self._calls) > CALLS_KEPT:
            self._calls.popitem(last=False)
        self._recover(event.stream)

    def _return(self, event: ToolReturned) -> None:
        name = self._calls.pop(event.id, "")
        self._answering = True
        if event.denied:
            if len(self._denied) < DENIED_KEPT:
                self._denied.add(name or "(a tool)")
            return
        if event.known is Known.KNOWN and not event.failed and event.result.strip():
            self._news += self._memory.is_news(event.result)

    def _recover(self, stream: str) -> None:
        if stream == MAIN and self._facts.trouble is not None:
            # It said it gave up and worked on after all.
            self._facts = replace(self._facts, trouble=None)
            self._warnings += 1

    def _trouble(self, event: Troubled) -> None:
        if not event.final:
            self._warnings += 1
            return
        before = self._facts.trouble
        if before is not None and before.kind is Trouble.QUOTA:
            if event.kind is not Trouble.QUOTA:
                return  # what follows a usage limit is its echo
            event = replace(event, text=event.text or before.text, until=event.until or before.until)
        self._facts = replace(self._facts, trouble=event)

    def _finish(self, event: Finished) -> None:
        self._calls.clear()
        before = self._facts.finish
        if before is None:
            self._facts = replace(self._facts, finish=event)
            return
        conflicting = self._facts.conflicting or before.how is not event.how
        # The first good one stands against any later error (R016); a good one heals an error before it.
        better = before.how is not Finish.OK or event.how is Finish.OK
        self._facts = replace(self._facts, finish=event if better else before, conflicting=conflicting)
