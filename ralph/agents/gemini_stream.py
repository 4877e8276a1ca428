"""Gemini CLI's stream-json into common events.

Its input tokens include cached ones, its output tokens leave thoughts out; here both are put right. Shell commands
return without an exit code, so whether they failed is unknown. Retries are announced on stderr alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal

import msgspec

from ralph.agents.fields import TEXT_CAP, canonical, clean, count, mapping, shortened, text, word
from ralph.agents.lines import Lines, Seen
from ralph.agents.statuses import of_status, weighed
from ralph.agents.turns import Turns
from ralph.facts import event as ev
from ralph.facts.event import Event, Finish, Known, Scope, Trouble
from ralph.facts.usage import Tokens

RETRY = re.compile(rb"\bRetrying (?:with backoff|after (\d{1,9})ms)")
SHELL = "run_shell_command"
NOISE = ("[STARTUP]", "Warning: ", "YOLO mode ", "Ripgrep ")
DENIED = frozenset({"policy_violation", "tool_denied", "execution_denied"})
"""Its own words for a call that was refused; the tool of a wrong name is a mistake of the model, not a refusal."""
TURN_LIMIT, CANCELLED = 53, 130
EXITS = {
    41: Trouble.AUTH,
    42: Trouble.MISCONFIGURED,
    44: Trouble.MISCONFIGURED,
    52: Trouble.MISCONFIGURED,
    55: Trouble.MISCONFIGURED,
}
"""Its own exit codes: no login, no input, no sandbox, bad settings, untrusted folder."""
STATUSES = {status % 256: status for status in (401, 402, 403, 404, 429, 500, 502, 503, 504, 529)}
"""Other exit codes are HTTP statuses, of which an exit code keeps the lower eight bits."""


class Line(msgspec.Struct):
    """The fields we read of any line."""

    type: object = None
    session_id: object = None
    model: object = None
    role: object = None
    content: object = None
    tool_name: object = None
    tool_id: object = None
    parameters: object = None
    status: object = None
    output: object = None
    error: object = None
    stats: object = None


def tokens_of(stats: object) -> Tokens | None:
    """Return the normalised tokens of a result, None if it counts nothing: failed runs tell zeros."""
    found = mapping(stats)
    whole, out, total = (count(found.get(k)) or 0 for k in ("input_tokens", "output_tokens", "total_tokens"))
    read = min(count(found.get("cached")) or 0, whole)
    if not whole and not out:
        return None
    return Tokens(whole - read, max(out, total - whole), read)


class GeminiReader:
    """Reads one run. It names no turns and tells its words in pieces, which are put together."""

    def __init__(self) -> None:
        self._lines = Lines(Line)
        self._called, self._returned = Seen(), Seen()
        self._shells = Seen()
        self._turns = Turns()
        self._pieces: list[str] = []
        self._held = 0
        self._finished = False
        self._errors: list[str] = []
        self._handlers: dict[str, Callable[[Line], Iterator[Event]]] = {
            "init": self._init,
            "message": self._message,
            "tool_use": self._tool_use,
            "tool_result": self._tool_result,
            "result": self._result,
        }

    def line(self, stream: Literal["out", "err"], line: bytes) -> tuple[Event, ...]:
        """Return the events of one line; of stderr only announced retries count."""
        return self._events(self._lines.take(line)) if stream == "out" else tuple(self._stderr(line))

    def end(self) -> tuple[Event, ...]:
        """Return what is left: a document over several lines, and words that nothing followed."""
        return (*self._events(self._lines.rest()), *self._spoken())

    def exited(self, code: int) -> tuple[Event, ...]:
        """Return what the exit code tells where there was no result."""
        if self._finished:
            return ()
        if code in (TURN_LIMIT, CANCELLED):
            return (ev.Finished(Finish.OWN_LIMIT if code == TURN_LIMIT else Finish.INTERRUPTED, None, self._words()),)
        kind = EXITS.get(code) or of_status(STATUSES.get(code))
        return () if kind is None else (ev.Troubled(kind, self._words() or f"exit code {code}"),)

    def _words(self) -> str:
        return " ".join(self._errors)

    def _stderr(self, line: bytes) -> Iterator[Event]:
        words = clean(line[:2048].decode("utf-8", "replace")).strip()
        if words and not words.startswith(NOISE):
            self._errors = [*self._errors[-1:], words[:500]]
        found = RETRY.search(line[:8192])
        if found is not None:
            yield ev.Retrying(words, int(found[1]) / 1000 if found[1] else None)

    def _events(self, records: tuple[Line, ...]) -> tuple[Event, ...]:
        found: list[Event] = []
        for record in records:
            reading = self._handlers.get(word(record.type))
            if reading is not None:
                found += reading(record)
        return tuple(found)

    def _init(self, record: Line) -> Iterator[Event]:
        yield ev.Started(word(record.session_id) or None, word(record.model) or None)

    def _message(self, record: Line) -> Iterator[Event]:
        piece = text(record.content)
        if record.role == "assistant" and piece:
            self._turns.said()
            self._pieces.append(piece)
            self._held += len(piece)
            if self._held > TEXT_CAP:
                yield from self._spoken()

    def _spoken(self) -> Iterator[Event]:
        whole = "".join(self._pieces)
        self._pieces, self._held = [], 0
        if whole:
            yield ev.Said(shortened(whole)[0], self._turns.name)

    def _tool_use(self, record: Line) -> Iterator[Event]:
        yield from self._spoken()
        call, name = word(record.tool_id), word(record.tool_name)
        if self._called.add(call):
            if name == SHELL:
                self._shells.add(call)
            args = None if record.parameters is None else canonical(record.parameters)
            yield ev.ToolCalled(call, name, args, self._turns.called())

    def _tool_result(self, record: Line) -> Iterator[Event]:
        call, error = word(record.tool_id), mapping(record.error)
        if not self._returned.add(call):
            return
        self._turns.returned()
        told = text(record.output, 1 << 24)
        said = text(error.get("message"), 1 << 24) or ""
        result, cut = shortened(max(told or "", said, key=len))
        # Writes return nothing at all, so their result is not known to be empty.
        known = Known.TRUNCATED if cut else Known.KNOWN if told is not None or said else Known.UNKNOWN
        failed: bool | None = record.status == "error"
        if not failed and call in self._shells:
            failed = None
        yield ev.ToolReturned(call, result, known, failed, word(error.get("type")) in DENIED)

    def _result(self, record: Line) -> Iterator[Event]:
        yield from self._spoken()
        self._finished = True
        tokens = tokens_of(record.stats)
        if tokens is not None:
            models = list(mapping(mapping(record.stats).get("models")))
            yield ev.UsageSeen(Scope.RUN, "", tokens, None, word(models[0]) if len(models) == 1 else None)
        if record.status == "success":
            yield ev.Finished(Finish.OK, None, "", self._turns.count)
            return
        error = mapping(record.error)
        words = text(error.get("message"), 2048) or ""
        if word(error.get("type")) == "FatalTurnLimitedError":
            yield ev.Finished(Finish.OWN_LIMIT, None, words, self._turns.count)
            return
        kind = weighed(None, words)
        if kind is not None:
            yield ev.Troubled(kind, words)
        yield ev.Finished(Finish.FAILED, None, words, self._turns.count)
