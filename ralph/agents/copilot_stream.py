"""Copilot CLI's `--output-format json` stream, and its usage file, into common events.

Its input tokens include cached ones; here they are taken out. A shell command that failed is a success to it, with
an exit code. Ephemeral events repeat in pieces what the others tell; of them only the model's name and retries count.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Literal

import msgspec

from ralph.agents.fields import canonical, count, items, mapping, shortened, text, word
from ralph.agents.lines import Lines, Seen
from ralph.agents.statuses import of_status, weighed
from ralph.facts import event as ev
from ralph.facts.event import MAIN, Event, Finish, Known, Scope, Trouble
from ralph.facts.usage import Tokens

USAGE = "usage"
KINDS = {
    "authentication": Trouble.AUTH,
    "authorization": Trouble.AUTH,
    "quota": Trouble.QUOTA,
    "rate_limit": Trouble.OUTAGE,
    "context_limit": Trouble.CONTEXT,
}
"""Its own words for an error; `query` says nothing, its status and text tell."""
SHELL_ID = re.compile(r"<shellId: \d{1,9} (completed with exit code -?\d{1,9})>$")
DENIED = ("Denied by ", "Permission denied", "The user rejected", "Tool call denied")
DENIED_CODES = frozenset({"denied", "rejected", "permission_denied"})


class Line(msgspec.Struct):
    """The fields we read of any line."""

    type: object = None
    data: object = None
    agentId: object = None  # noqa: N815 - its name in the stream
    exitCode: object = None  # noqa: N815


def tokens_of(usage: object) -> Tokens:
    """Return the normalised tokens of one model's usage."""
    found = mapping(usage)
    whole, out = count(found.get("inputTokens")) or 0, count(found.get("outputTokens")) or 0
    read, write = count(found.get("cacheReadTokens")) or 0, count(found.get("cacheWriteTokens")) or 0
    plain = max(0, whole - read)
    return Tokens(plain, out, read, min(write, plain))


class CopilotReader:
    """Reads one run."""

    def __init__(self) -> None:
        self._lines = Lines(Line)
        self._called, self._returned, self._said = Seen(), Seen(), Seen()
        self._up = self._aborted = False
        self._answer: str | None = None
        self._error = ""
        self._handlers: dict[str, Callable[[Mapping[str, object], str], Iterator[Event]]] = {
            "session.tools_updated": self._model,
            "assistant.message": self._message,
            "assistant.turn_retry": self._retry,
            "tool.execution_start": self._start,
            "tool.execution_complete": self._complete,
            "session.error": self._errored,
            "abort": self._abort,
        }

    def line(self, stream: Literal["out", "err"], line: bytes) -> tuple[Event, ...]:
        """Return the events of one line of stdout."""
        return self._events(self._lines.take(line)) if stream == "out" else ()

    def end(self) -> tuple[Event, ...]:
        """Return the events of a document that was spread over lines."""
        return self._events(self._lines.rest())

    def file(self, name: str, data: bytes) -> tuple[Event, ...]:
        """Return the tokens of the usage file."""
        return tuple(_usage(data)) if name == USAGE else ()

    def _events(self, records: tuple[Line, ...]) -> tuple[Event, ...]:
        found: list[Event] = []
        for record in records:
            kind, data = word(record.type), mapping(record.data)
            reading = self._handlers.get(kind)
            if reading is not None:
                found += reading(data, word(data.get("parentToolCallId")) or word(record.agentId))
            elif kind == "result":
                found.append(self._result(record))
        return tuple(found)

    def _model(self, data: Mapping[str, object], stream: str) -> Iterator[Event]:
        if not self._up:
            self._up = True
            yield ev.Started(None, word(data.get("model")) or None)

    def _message(self, data: Mapping[str, object], stream: str) -> Iterator[Event]:
        turn, said = word(data.get("turnId")), text(data.get("content"))
        if said and self._said.add(word(data.get("messageId")) or said[:256]):
            if stream == MAIN:
                self._answer = said
            yield ev.Said(said, turn, stream)
        for request in map(mapping, items(data.get("toolRequests"))):
            yield from self._call(request, word(request.get("name")), turn=turn, stream=stream)

    def _start(self, data: Mapping[str, object], stream: str) -> Iterator[Event]:
        # Also told by the message that asked for it; calls without such a message are its own.
        yield from self._call(data, word(data.get("toolName")), turn=word(data.get("turnId")), stream=stream)

    def _call(self, asked: Mapping[str, object], name: str, *, turn: str, stream: str) -> Iterator[Event]:
        call = word(asked.get("toolCallId"))
        if self._called.add(call):
            args = canonical(asked["arguments"]) if "arguments" in asked else None
            yield ev.ToolCalled(call, name, args, turn, stream)

    def _complete(self, data: Mapping[str, object], stream: str) -> Iterator[Event]:
        call, error, shell = word(data.get("toolCallId")), mapping(data.get("error")), data.get("shellExecution")
        if not self._returned.add(call):
            return
        told = text(mapping(data.get("result")).get("content"), 1 << 24)
        said = text(error.get("message"), 1 << 24)
        # The shell's number differs from call to call, so the same result would never be the same.
        result, cut = shortened(SHELL_ID.sub(r"<\1>", told if told is not None else said or ""))
        known = Known.TRUNCATED if cut else Known.KNOWN if told is not None or said is not None else Known.UNKNOWN
        code = mapping(shell).get("exitCode")
        failed = data.get("success") is False or (code is not None and code != 0)
        denied = word(error.get("code")) in DENIED_CODES or (failed and result.startswith(DENIED))
        yield ev.ToolReturned(call, result, known, failed, denied, stream)

    def _retry(self, data: Mapping[str, object], stream: str) -> Iterator[Event]:
        yield ev.Retrying(word(data.get("reason")))

    def _errored(self, data: Mapping[str, object], stream: str) -> Iterator[Event]:
        words = text(data.get("message"), 2048) or ""
        if stream == MAIN:
            self._error = words
        kind = KINDS.get(word(data.get("errorType"))) or of_status(data.get("statusCode"))
        kind = weighed(kind, words)
        if kind is not None:
            yield ev.Troubled(kind, words, None, stream == MAIN)

    def _abort(self, data: Mapping[str, object], stream: str) -> Iterator[Event]:
        self._aborted = True
        return iter(())

    def _result(self, record: Line) -> Event:
        # Interrupted, it exits with 0 as well, and may even tell a result.
        if self._aborted:
            return ev.Finished(Finish.INTERRUPTED, None, "aborted")
        if record.exitCode == 0:
            return ev.Finished(Finish.OK, self._answer)
        return ev.Finished(Finish.FAILED, None, self._error)


def _usage(data: bytes) -> Iterator[Event]:
    try:
        found = mapping(json.loads(data.decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return
    metrics = mapping(found.get("modelMetrics"))
    each = [tokens_of(mapping(m).get("usage")) for m in metrics.values()]
    whole = sum(each, Tokens())
    if whole != Tokens():
        yield ev.UsageSeen(Scope.RUN, "", whole, None, word(next(iter(metrics))) if len(metrics) == 1 else None)
