"""Cursor's agent, headless: `cursor-agent -p --output-format stream-json`, prompt on stdin. Never run here.

Source: https://cursor.com/docs/cli/reference/output-format. On a failure there is no result, only stderr and an exit
code; each tool call is an object with one key that names the tool, with `args` and, once completed, `result`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ralph.agents.adapter import Abilities, Ask, Launch
from ralph.agents.fields import canonical, count, mapping, shortened, word
from ralph.agents.limits import diagnosis
from ralph.agents.lines import Seen
from ralph.agents.message_stream import Line, MessageReader
from ralph.facts import event as ev
from ralph.facts.event import Event, Known, Trouble
from ralph.facts.usage import Tokens

PERMISSIONS = {"ask-nothing": ("--force", "--trust"), "edits": ("--trust",), "own": ()}
DENIED = ("rejected", "permissionDenied")


def tokens_of(usage: object) -> Tokens | None:
    """Return the tokens of a result, which newer versions tell; its documentation is silent about cached ones."""
    found = mapping(usage)
    plain, out = count(found.get("inputTokens")) or 0, count(found.get("outputTokens")) or 0
    read, write = count(found.get("cacheReadTokens")) or 0, count(found.get("cacheWriteTokens")) or 0
    tokens = Tokens(plain + write, out, read, write)
    return tokens if tokens != Tokens() else None


class CursorReader(MessageReader):
    """Reads one run."""

    def __init__(self) -> None:
        super().__init__(tokens_of)
        self._open, self._done = Seen(), Seen()
        self.handlers["tool_call"] = self._tool_call

    def _tool_call(self, record: Line, stream: str) -> Iterator[Event]:
        call, tool = word(record.call_id), mapping(record.tool_call)
        key = next((k for k in tool if k.endswith("ToolCall")), next(iter(tool), ""))
        body = mapping(tool.get(key))
        name = word(key.removesuffix("ToolCall"))
        if key == "function":
            name = word(body.get("name"))
        if self._open.add(call):
            told = body.get("args", body.get("arguments"))
            yield ev.ToolCalled(call, name, None if told is None else canonical(told), self.turns(stream).called())
        if record.subtype == "completed" and self._done.add(call):
            self.turns(stream).returned()
            yield _returned(call, mapping(body.get("result")))


def _returned(call: str, result: Mapping[str, object]) -> ev.ToolReturned:
    good = mapping(result.get("success"))
    told, cut = shortened(canonical(dict(result), 1 << 24) or "")
    known = Known.UNKNOWN if not result else Known.TRUNCATED if cut else Known.KNOWN
    failed = ("success" not in result or bool(count(good.get("exitCode")))) if result else None
    return ev.ToolReturned(call, told, known, failed, any(word in result for word in DENIED))


class Cursor:
    """Cursor's agent."""

    name = "cursor"
    programs: tuple[str, ...] = ("cursor-agent",)
    abilities = Abilities(
        reports_tokens="end",
        reports_tools=True,
        reports_turns=True,
        note="from its documentation, not run; reports no dollars, and tokens in newer versions only; "
        "what it may do without --force is up to its own permissions",
        documented=True,
    )

    def launch(self, ask: Ask) -> Launch:
        """Return argv."""
        argv = [*ask.program, "-p", "--output-format", "stream-json", *PERMISSIONS[ask.permissions]]
        if ask.model is not None:
            argv += ["--model", ask.model]
        return Launch((*argv, *ask.args), {"NO_COLOR": "1"})

    def reader(self) -> CursorReader:
        """Return a fresh reader."""
        return CursorReader()

    def diagnose(self, error_tail: bytes) -> tuple[Trouble, str] | None:
        """Return what it says on stderr, which is all it says of a failure."""
        return diagnosis(error_tail)
