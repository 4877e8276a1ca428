"""Codex's `exec --json` stream into common events.

Its usage counts cached tokens as input; here they are taken out. Refused edits appear on stderr only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Literal

import msgspec

from ralph.agents.fields import canonical, count, items, mapping, shortened, text, word
from ralph.agents.limits import trouble_of
from ralph.agents.lines import Lines, Seen
from ralph.facts import event as ev
from ralph.facts.event import Event, Finish, Known, Scope
from ralph.facts.usage import Tokens

WRAPPED = re.compile(r"^(?:/usr)?(?:/bin/)?(?:bash|sh|zsh) -l?c (['\"])(.*)\1$", re.DOTALL)
RETRY = re.compile(r"^Reconnecting\.\.\. \d+/\d+")
REFUSED_EDIT = re.compile(rb"patch rejected: |rejected by user approval settings")
SILENT = {"agent_message", "reasoning", "error", "user_message"}


THREAD = re.compile(r"[0-9a-f-]{16,64}")
"""What the name of a file may be made of."""


class RecordLine(msgspec.Struct):
    """The field we read of any line of its own record."""

    payload: object = None


class Line(msgspec.Struct):
    """The fields we read of any line."""

    type: object = None
    thread_id: object = None
    item: object = None
    usage: object = None
    error: object = None
    message: object = None


def tokens_of(usage: object) -> Tokens | None:
    """Return the normalised tokens of a usage object, None without input and output figures."""
    found = mapping(usage)
    whole, out = count(found.get("input_tokens")), count(found.get("output_tokens"))
    if whole is None or out is None:
        return None
    read, write = count(found.get("cached_input_tokens")) or 0, count(found.get("cache_write_input_tokens")) or 0
    plain = max(0, whole - read)
    return Tokens(plain, out, read, min(write, plain))


def unwrapped(command: str) -> str:
    """Return the command without the login shell that Codex wraps around it."""
    found = WRAPPED.match(command)
    if found is None:
        return command
    quote, inner = found.groups()
    if quote == "'":
        return inner.replace("'\\''", "'").replace("'\"'\"'", "'")
    return re.sub(r'\\(["\\$`])', r"\1", inner)


class CodexReader:
    """Reads one run. Item ids are per run. It names no turns: a model response is taken to begin with its first
    message, or with a tool call that follows a finished one."""

    def __init__(self) -> None:
        self._lines = Lines(Line)
        self._called, self._returned, self._said = Seen(), Seen(), Seen()
        self._thread = ""
        self._turn = 0
        self._running = 0
        self._after_call = True
        self._answer: str | None = None
        self._worked = False
        self._error = ""
        self._refusals = 0
        self._handlers: dict[str, Callable[[Line], Iterator[Event]]] = {
            "thread.started": self._started,
            "item.started": self._item_started,
            "item.completed": self._item_completed,
            "turn.completed": self._completed,
            "turn.failed": self._failed,
            "error": self._errored,
        }

    def line(self, stream: Literal["out", "err"], line: bytes) -> tuple[Event, ...]:
        """Return the events of one line; of stderr only refused edits count."""
        return self._events(self._lines.take(line)) if stream == "out" else tuple(self._stderr(line))

    def end(self) -> tuple[Event, ...]:
        """Return what is left: a document over several lines, and an error that no closing event followed."""
        found = self._events(self._lines.rest())
        if self._error:
            found += tuple(self._trouble(self._error))
        return found

    def record(self, environment: Mapping[str, str]) -> tuple[str, str] | None:
        """Return where Codex keeps the record of this thread: it has the tokens of each model call as it ends."""
        home = environment.get("CODEX_HOME") or f"{environment.get('HOME', '')}/.codex"
        known = THREAD.fullmatch(self._thread) is not None and home.startswith("/")
        return (f"{home}/sessions", f"*/*/*/rollout-*-{self._thread}.jsonl") if known else None

    def recorded(self, line: bytes) -> tuple[Event, ...]:
        """Return what its stream does not tell: the model, and tokens, cumulative over the thread, after each call."""
        counts = b'"token_count"' in line
        if not counts and b'"turn_context"' not in line:
            return ()
        try:
            payload = mapping(msgspec.json.decode(line, type=RecordLine).payload)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            return ()
        if not counts:
            model = word(payload.get("model"))
            return (ev.Started(self._thread, model),) if model else ()
        tokens = tokens_of(mapping(payload.get("info")).get("total_token_usage"))
        return () if tokens is None else (ev.UsageSeen(Scope.SESSION, self._thread, tokens),)

    def _events(self, records: tuple[Line, ...]) -> tuple[Event, ...]:
        found: list[Event] = []
        for record in records:
            reading = self._handlers.get(word(record.type))
            if reading is not None:
                found += reading(record)
        return tuple(found)

    def _stderr(self, line: bytes) -> Iterator[Event]:
        if REFUSED_EDIT.search(line[:4096]):
            self._refusals += 1
            call = f"refused_{self._refusals}"
            words = shortened(line[:4096].decode("utf-8", "replace"), 1024)[0]
            yield ev.ToolCalled(call, "apply_patch", None, self._turn_name())
            yield ev.ToolReturned(call, words, Known.TRUNCATED, failed=True, denied=True)

    def _started(self, record: Line) -> Iterator[Event]:
        self._thread = word(record.thread_id)
        yield ev.Started(self._thread or None)

    def _item_started(self, record: Line) -> Iterator[Event]:
        item = mapping(record.item)
        if word(item.get("type")) not in SILENT:
            yield from self._call(item)

    def _item_completed(self, record: Line) -> Iterator[Event]:
        item = mapping(record.item)
        kind = word(item.get("type"))
        if kind in ("agent_message", "reasoning"):
            yield from self._message(item, kind=kind)
        elif kind not in SILENT:
            yield from self._call(item)
            yield from self._return(item)

    def _message(self, item: Mapping[str, object], *, kind: str) -> Iterator[Event]:
        if not self._said.add(word(item.get("id")) or f"said {self._turn}"):
            return
        self._begin()
        self._after_call = False
        said = text(item.get("text"))
        if kind == "agent_message" and said:
            self._answer = said
            yield ev.Said(said, self._turn_name())

    def _begin(self) -> None:
        if self._after_call:
            self._turn += 1

    def _turn_name(self) -> str:
        return f"turn_{max(1, self._turn)}"

    def _call(self, item: Mapping[str, object]) -> Iterator[Event]:
        call = word(item.get("id"))
        if not self._called.add(call):
            return
        if not self._running:
            self._begin()
        self._worked, self._after_call = True, False
        self._running += 1
        name, args = _named(item)
        yield ev.ToolCalled(call, name, canonical(args), self._turn_name())

    def _return(self, item: Mapping[str, object]) -> Iterator[Event]:
        call, status = word(item.get("id")), word(item.get("status"))
        if not self._returned.add(call):
            return
        self._running = max(0, self._running - 1)
        self._after_call = self._running == 0
        result, known = _result(item)
        code = item.get("exit_code")
        failed = status in ("failed", "declined") or (count(code) or 0) > 0
        yield ev.ToolReturned(call, result, known, failed, status == "declined")

    def _completed(self, record: Line) -> Iterator[Event]:
        self._error = ""
        tokens = tokens_of(record.usage)
        if tokens is not None:
            yield ev.UsageSeen(Scope.SESSION, self._thread, tokens)
        # A refusal is a turn that completed without a word and without work.
        how = Finish.OK if self._answer is not None or self._worked else Finish.REFUSED
        yield ev.Finished(how, self._answer, "", self._turn or None)

    def _errored(self, record: Line) -> Iterator[Event]:
        words = text(record.message, 2048) or ""
        if RETRY.match(words):
            yield ev.Retrying(words)
        else:
            self._error = words

    def _failed(self, record: Line) -> Iterator[Event]:
        words = text(mapping(record.error).get("message"), 2048) or self._error
        how = _finish(words)
        self._error = ""
        if how is Finish.FAILED:
            yield from self._trouble(words)
        yield ev.Finished(how, None, words, self._turn or None)

    def _trouble(self, words: str) -> Iterator[Event]:
        kind = trouble_of(words)
        if kind is not None:
            yield ev.Troubled(kind, words)


def _finish(words: str) -> Finish:
    if "max_output_tokens" in words:
        return Finish.TRUNCATED
    flagged = "request was flagged" in words or "cyber_policy" in words or "content_filter" in words
    return Finish.REFUSED if flagged else Finish.FAILED


def _named(item: Mapping[str, object]) -> tuple[str, object]:
    """Return the tool's name and the arguments that a repeat is judged by."""
    kind = word(item.get("type"))
    if kind == "command_execution":
        return "shell", {"command": unwrapped(text(item.get("command")) or "")}
    if kind == "file_change":
        changes = [
            {k: word(c.get(k), 4096) for k in ("kind", "path")} for c in map(mapping, items(item.get("changes")))
        ]
        return "apply_patch", {"changes": changes}
    if kind == "mcp_tool_call":
        return f"{word(item.get('server'))}:{word(item.get('tool'))}", item.get("arguments")
    told = {k: v for k, v in item.items() if k not in ("id", "type", "status", "result", "error")}
    return kind, told


def _result(item: Mapping[str, object]) -> tuple[str, Known]:
    """Return what the tool gave, as far as it is told: edits come without diff or content."""
    if word(item.get("type")) == "command_execution":
        result, cut = shortened(text(item.get("aggregated_output"), 1 << 24) or "")
        return result, Known.TRUNCATED if cut else Known.KNOWN
    if item.get("result") is not None or item.get("error") is not None:
        result, cut = shortened(canonical([item.get("result"), item.get("error")], 1 << 24) or "")
        return result, Known.TRUNCATED if cut else Known.KNOWN
    return "", Known.UNKNOWN
