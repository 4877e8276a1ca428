"""opencode's `run --format json` stream into common events.

It has no terminal event: a run that ended by itself stops after a step with the reason `stop`, or after an error.
Its input leaves cached tokens out, its output leaves reasoning out. Every step tells what it cost.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Literal

import msgspec

from ralph.agents.fields import canonical, count, mapping, micro, seconds, shortened, text, word
from ralph.agents.limits import epoch
from ralph.agents.lines import Lines, Seen
from ralph.agents.statuses import of_status, weighed
from ralph.facts import event as ev
from ralph.facts.event import MAIN, Event, Finish, Finished, Known, Scope, Trouble
from ralph.facts.usage import Tokens

KINDS = {
    "ContextOverflowError": Trouble.CONTEXT,
    "ProviderAuthError": Trouble.AUTH,
    "ProviderModelNotFoundError": Trouble.MISCONFIGURED,
}
"""Its names for errors; `APIError` carries a status, `UnknownError` only words."""
REASONS = {"stop": Finish.OK, "length": Finish.TRUNCATED, "content-filter": Finish.REFUSED}
REFUSALS = ("The user rejected permission", "The user has specified a rule which prevents")


class Line(msgspec.Struct):
    """The fields we read of any line."""

    type: object = None
    timestamp: object = None
    sessionID: object = None  # noqa: N815 - its name in the stream
    part: object = None
    error: object = None


def tokens_of(value: object) -> Tokens | None:
    """Return the normalised tokens of a step, None if it counts nothing."""
    found = mapping(value)
    cache = mapping(found.get("cache"))
    plain, out, thought = (count(found.get(k)) or 0 for k in ("input", "output", "reasoning"))
    read, write = count(cache.get("read")) or 0, count(cache.get("write")) or 0
    tokens = Tokens(plain + write, out + thought, read, write)
    return tokens if tokens != Tokens() else None


class OpencodeReader:
    """Reads one run."""

    def __init__(self) -> None:
        self._lines = Lines(Line)
        self._called, self._said, self._steps = Seen(), Seen(), Seen()
        self._session = ""
        self._answer: str | None = None
        self._compacting = False
        self._ending: Finished | None = None
        self._handlers: dict[str, Callable[[Line, Mapping[str, object], str], Iterator[Event]]] = {
            "step_start": self._step_start,
            "text": self._text,
            "tool_use": self._tool_use,
            "step_finish": self._step_finish,
            "error": self._error,
        }

    def line(self, stream: Literal["out", "err"], line: bytes) -> tuple[Event, ...]:
        """Return the events of one line of stdout."""
        return self._events(self._lines.take(line)) if stream == "out" else ()

    def end(self) -> tuple[Event, ...]:
        """Return how it ended, which the last step or error tells once nothing follows it."""
        found = self._events(self._lines.rest())
        return found if self._ending is None else (*found, self._ending)

    def _events(self, records: tuple[Line, ...]) -> tuple[Event, ...]:
        found: list[Event] = []
        for record in records:
            reading = self._handlers.get(word(record.type))
            if reading is not None:
                found += self._started(record)
                found += reading(record, mapping(record.part), self._stream(record))
        return tuple(found)

    def _started(self, record: Line) -> Iterator[Event]:
        session = word(record.sessionID)
        if session and not self._session:
            self._session = session
            yield ev.Started(session)

    def _stream(self, record: Line) -> str:
        session = word(record.sessionID)
        return MAIN if session == self._session else session

    def _step_start(self, record: Line, part: Mapping[str, object], stream: str) -> Iterator[Event]:
        self._goes_on(stream)
        return iter(())

    def _goes_on(self, stream: str) -> None:
        if stream == MAIN:
            self._ending = None

    def _text(self, record: Line, part: Mapping[str, object], stream: str) -> Iterator[Event]:
        said = text(part.get("text"))
        if not said or not self._said.add(word(part.get("id")) or said[:256]):
            return
        self._goes_on(stream)
        if part.get("synthetic") is True:
            # It speaks to itself: after a compaction it goes on by its own will, without end if that did not help.
            if mapping(part.get("metadata")).get("compaction_continue") is True:
                yield ev.Compacted()
                yield ev.Retrying("conversation compacted, goes on")
            return
        if stream == MAIN:
            self._answer = said
        yield ev.Said(said, word(part.get("messageID")), stream)

    def _tool_use(self, record: Line, part: Mapping[str, object], stream: str) -> Iterator[Event]:
        call, state = word(part.get("callID")), mapping(part.get("state"))
        if not self._called.add(call):
            return
        self._goes_on(stream)
        args = canonical(state["input"]) if "input" in state else None
        yield ev.ToolCalled(call, word(part.get("tool")), args, word(part.get("messageID")), stream)
        yield _returned(call, state, stream=stream)

    def _step_finish(self, record: Line, part: Mapping[str, object], stream: str) -> Iterator[Event]:
        key = word(part.get("id"))
        if key and not self._steps.add(key):
            return
        tokens, cost = tokens_of(part.get("tokens")), micro(part.get("cost"))
        if tokens is not None or cost:
            # A plan or a model without a price costs "0": that is unknown, not free.
            yield ev.UsageSeen(Scope.CALL, key, tokens, cost or None)
        if stream != MAIN:
            return
        how = REASONS.get(word(part.get("reason")))
        # The step that compacts a conversation ends with `stop` too; the run goes on after it.
        ended = how is not None and not self._compacting
        self._compacting = False
        if ended and how is not None:
            self._ending = Finished(how, self._answer if how is Finish.OK else None)

    def _error(self, record: Line, part: Mapping[str, object], stream: str) -> Iterator[Event]:
        error = mapping(record.error)
        name, data = word(error.get("name")), mapping(error.get("data"))
        words = _words(data)
        if name == "ContentFilterError":
            self._ending = Finished(Finish.REFUSED, None, words)
            return
        if name == "MessageAbortedError":
            self._ending = Finished(Finish.INTERRUPTED, None, words)
            return
        self._compacting = name == "ContextOverflowError"
        kind = weighed(KINDS.get(name) or of_status(data.get("statusCode")), words)
        if kind is not None:
            until = _until(record.timestamp, mapping(data.get("responseHeaders")))
            yield ev.Troubled(kind, words, until if kind in (Trouble.QUOTA, Trouble.OUTAGE) else None, stream == MAIN)
        if stream == MAIN:
            self._ending = Finished(Finish.FAILED, None, words or name)


def _returned(call: str, state: Mapping[str, object], *, stream: str) -> ev.ToolReturned:
    meta = mapping(state.get("metadata"))
    error = text(state.get("error"), 1 << 24)
    whole = error if error is not None else text(state.get("output"), 1 << 24)
    result, cut = shortened(whole or "")
    known = Known.TRUNCATED if cut or meta.get("truncated") is True else Known.KNOWN
    # A command that was ended by its time limit has an exit code of null.
    failed = state.get("status") == "error" or ("exit" in meta and meta["exit"] != 0)
    denied = error is not None and error.removeprefix("Error: ").startswith(REFUSALS)
    return ev.ToolReturned(call, result, known if whole is not None else Known.UNKNOWN, failed, denied, stream)


def _words(data: Mapping[str, object]) -> str:
    """Return what an error says: its message, which may itself be JSON with a message."""
    words = text(data.get("message"), 2048) or ""
    if words.startswith("{"):
        try:
            inner = mapping(json.loads(words))
        except (ValueError, RecursionError):
            return words
        return " ".join(filter(None, (text(inner.get(k), 1024) for k in ("message", "type")))) or words
    return words


def _until(timestamp: object, headers: Mapping[str, object]) -> datetime | None:
    """Return when the server lets it try again, by the event's own time and the header of the answer."""
    begun, header = epoch(timestamp), text(headers.get("retry-after"), 16) or ""
    if begun is None or not header.isdecimal() or not header.isascii():
        return None
    wait = seconds(int(header))
    return begun + timedelta(seconds=wait) if wait is not None and wait < 32 * 86400 else None
