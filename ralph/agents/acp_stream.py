"""What an agent tells over the Agent Client Protocol: its answers to us, and the updates of its sessions.

Source: agentclientprotocol.com, version 1, and the output of Gemini CLI 0.61.0, Qwen Code 0.24.4, opencode 1.18.33 and
Copilot CLI 1.0.102 in that mode.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from ralph.agents.acp_call import Call, Standing
from ralph.agents.acp_message import (
    ID_CAP,
    INITIALIZE,
    MODE,
    NEW,
    PROMPT,
    Line,
    fault,
    is_answer,
    model_of,
    trouble_in,
    words_of,
)
from ralph.agents.fields import TEXT_CAP, count, mapping, micro, shortened, text, word
from ralph.agents.lines import Lines
from ralph.agents.turns import Turns
from ralph.facts import event as ev
from ralph.facts.event import MAIN, Event, Finish, Known, Scope, Trouble
from ralph.facts.usage import Tokens

STREAMS_CAP = 64
"""Sub-agents whose turns are told apart."""
CUT = "interrupted by the user"
"""Stands for the result of a call that we cut short: words that say so are no error of the tool's."""
STOPS = {
    "end_turn": Finish.OK,
    "max_tokens": Finish.TRUNCATED,
    "max_turn_requests": Finish.OWN_LIMIT,
    "refusal": Finish.REFUSED,
    "cancelled": Finish.INTERRUPTED,
}


def tokens_of(usage: object) -> Tokens | None:
    """Return the normalised tokens of a usage object; input counts cached ones where its total says so."""
    found = mapping(usage)
    keys = ("inputTokens", "outputTokens", "cachedReadTokens", "cachedWriteTokens", "thoughtTokens", "totalTokens")
    whole, out, read, write, thought, total = (count(found.get(key)) or 0 for key in keys)
    if not whole and not out:
        return None
    apart = total >= whole + out + read + write and read + write > 0
    plain = whole if apart else max(0, whole - read - write)
    thinking = thought if total >= whole + out + thought + (read + write if apart else 0) else 0
    return Tokens(plain + write, out + thinking, read, write)


def quota_of(quota: object) -> Tokens | None:
    """Return the tokens of one prompt in Gemini's words."""
    found = mapping(mapping(quota).get("token_count"))
    whole, out = count(found.get("input_tokens")) or 0, count(found.get("output_tokens")) or 0
    return Tokens(whole, out) if whole or out else None


class AcpReader:
    """Reads one run. standing: shared with the conversation, alone without one. model: the one asked for, if any."""

    def __init__(self, standing: Standing | None = None, *, model: str | None = None) -> None:
        self._lines = Lines(Line)
        self._standing = standing or Standing()
        self._model = model
        self._version: str | None = None
        self._session = ""
        self._turns: dict[str, Turns] = {}
        self._pieces: list[str] = []
        self._speaker = MAIN
        self._held = 0
        self._calls_counted = 0

    def line(self, stream: Literal["out", "err"], line: bytes) -> tuple[Event, ...]:
        """Return the events of one line of stdout."""
        return self._events(self._lines.take(line)) if stream == "out" else ()

    def end(self) -> tuple[Event, ...]:
        """Return words that nothing followed, and the calls that were refused last."""
        return (*self._events(self._lines.rest()), *self._refused(), *self._spoken())

    def _events(self, records: tuple[Line, ...]) -> tuple[Event, ...]:
        found: list[Event] = []
        for record in records:
            found += self._refused()
            if is_answer(record):
                found += self._answer(record)
            elif record.method in ("session/update", "session/request_permission"):
                params = mapping(record.params)
                session = word(params.get("sessionId"), ID_CAP)
                stream = MAIN if session == self._session or not self._session else word(session)
                if record.method == "session/update":
                    found += self._update(mapping(params.get("update")), stream)
                else:
                    found += self._asked(mapping(params.get("toolCall")), stream)
        return tuple(found)

    def _turn(self, stream: str) -> Turns:
        if stream not in self._turns and len(self._turns) >= STREAMS_CAP:
            del self._turns[next(name for name in self._turns if name != MAIN)]
        return self._turns.setdefault(stream, Turns())

    # answers to us

    def _answer(self, record: Line) -> Iterator[Event]:
        number = record.id if isinstance(record.id, int) else 0
        if number >= PROMPT:
            yield from self._prompted(number, record)
            return
        if number == INITIALIZE:
            self._version = word(mapping(mapping(record.result).get("agentInfo")).get("version")) or None
        elif number == NEW and not self._session:
            self._session = word(mapping(record.result).get("sessionId"), ID_CAP)
            yield ev.Started(word(self._session) or None, model_of(record.result) or None, self._version)
        elif number == MODE and record.error is not None:
            yield ev.Troubled(Trouble.MISCONFIGURED, words_of(record.error), final=False)
        wrong = fault(record, model=self._model)
        if wrong is not None:
            yield ev.Troubled(*wrong)
            yield ev.Finished(Finish.FAILED, None, wrong[1])

    def _prompted(self, number: int, record: Line) -> Iterator[Event]:
        yield from self._spoken()
        result = mapping(record.result)
        yield from self._left_open(cut=self._standing.cutting or result.get("stopReason") == "cancelled")
        self._turn(MAIN).closed()
        yield from self._used(result, f"prompt {number}")
        if record.error is not None:
            yield from self._failed(record.error)
        elif not self._standing.goes_on:
            stop = word(result.get("stopReason"))
            how = STOPS.get(stop, Finish.FAILED)
            yield ev.Finished(how, None, "" if how is Finish.OK else f"stop reason {stop}", self._turn(MAIN).count)

    def _left_open(self, *, cut: bool) -> Iterator[Event]:
        """Tell the calls that will not return any more. cut: since we ended the turn, not since the agent is silent."""
        for stream, call in self._standing.open():
            call.done = True
            self._turn(stream).returned()
            if cut:
                yield ev.ToolReturned(call.id, CUT, Known.KNOWN, failed=True, stream=stream)
            else:
                yield ev.ToolReturned(call.id, "", Known.UNKNOWN, stream=stream)

    def _failed(self, error: object) -> Iterator[Event]:
        kind, words = trouble_in(error), words_of(error)
        if self._standing.goes_on:
            # It is asked again in a moment; an agent that was cancelled may say so as an error.
            return
        if kind is not None:
            yield ev.Troubled(kind, words)
        yield ev.Finished(Finish.FAILED, None, words, self._turn(MAIN).count)

    def _used(self, result: Mapping[str, object], key: str) -> Iterator[Event]:
        tokens = tokens_of(result.get("usage"))
        if tokens is not None:
            yield ev.UsageSeen(Scope.RUN, "", tokens)
        spent = quota_of(mapping(result.get("_meta")).get("quota"))
        if spent is not None:
            yield ev.UsageSeen(Scope.CALL, key, spent)

    # updates

    def _update(self, update: Mapping[str, object], stream: str) -> Iterator[Event]:
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                yield from self._piece(update, stream)
            case "agent_thought_chunk":
                self._turn(stream).said()
            case "tool_call" | "tool_call_update":
                yield from self._spoken()
                yield from self._called(update, stream)
            case "usage_update":
                cost = mapping(update.get("cost"))
                spent = micro(cost.get("amount")) if cost.get("currency") == "USD" else None
                if spent is not None:
                    # Of the session, which is ours alone and as old as this run.
                    yield ev.UsageSeen(Scope.RUN, stream, None, spent)

    def _piece(self, update: Mapping[str, object], stream: str) -> Iterator[Event]:
        if stream != self._speaker:
            yield from self._spoken()
            self._speaker = stream
        piece = text(mapping(update.get("content")).get("text"))
        if piece:
            self._turn(stream).said()
            self._pieces.append(piece)
            self._held += len(piece)
            if self._held > TEXT_CAP:
                yield from self._spoken()
        tokens = tokens_of(mapping(update.get("_meta")).get("usage"))
        if tokens is not None:
            # Qwen tells each model call on the side, at its end.
            yield from self._spoken()
            self._turn(stream).closed()
            self._calls_counted += 1
            yield ev.UsageSeen(Scope.CALL, f"call {self._calls_counted}", tokens)

    def _spoken(self) -> Iterator[Event]:
        whole = "".join(self._pieces)
        self._pieces, self._held = [], 0
        if whole:
            yield ev.Said(shortened(whole)[0], self._turn(self._speaker).name, self._speaker)

    def _asked(self, update: Mapping[str, object], stream: str) -> Iterator[Event]:
        yield from self._spoken()
        call = self._standing.call(stream, update)
        yield from self._tell(call, stream)

    def _called(self, update: Mapping[str, object], stream: str) -> Iterator[Event]:
        call = self._standing.call(stream, update)
        status = word(update.get("status"))
        if call.is_whole or status in ("in_progress", "completed", "failed"):
            yield from self._tell(call, stream)
        if status in ("completed", "failed") and not call.done:
            call.done = True
            self._turn(stream).returned()
            result = call.result
            known = Known.UNKNOWN if result is None else Known.TRUNCATED if call.cut else Known.KNOWN
            yield ev.ToolReturned(call.id, result or "", known, call.failed(status), stream=stream)

    def _tell(self, call: Call, stream: str) -> Iterator[Event]:
        if not call.told:
            call.told = True
            yield ev.ToolCalled(call.id, call.name, call.args, self._turn(stream).called(), stream)

    def _refused(self) -> Iterator[Event]:
        """Tell the calls we said no to: not every agent does, and its words for it are none of the tool's."""
        while self._standing.refused:
            stream, id_ = self._standing.refused.popleft()
            call = self._standing.calls.get((stream, id_))
            if call is not None and call.told and not call.done:
                call.done = True
                self._turn(stream).returned()
                yield ev.ToolReturned(call.id, "", Known.UNKNOWN, failed=True, denied=True, stream=stream)
