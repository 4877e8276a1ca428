"""Tool calls as the Agent Client Protocol tells them: in pieces, by title and kind, often without their arguments.

Shared by the reader of a run and its conversation, so that a call that asks is the call that is counted.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ralph.agents.copilot_stream import SHELL_ID
from ralph.agents.fields import canonical, count, digest, items, mapping, shortened, text, word
from ralph.agents.qwen import PGID

CALLS_CAP = 256
"""Open calls that are followed; the oldest is forgotten."""
TITLE_CAP = 4096
TOOLS = {"execute": "shell", "move": "move_file", "switch_mode": "exit_plan_mode"}
"""Kinds whose name is not already that of such a tool elsewhere (read, edit, delete, search, fetch, think, other)."""
COMMANDS = ("command", "cmd", "script")


@dataclass(slots=True)
class Call:
    """What is known of one call so far; all texts are capped. told: its `ToolCalled` is out. done: its result too."""

    id: str
    kind: str = ""
    tool: str = ""
    title: str = ""
    path: str = ""
    diff: str = ""
    input: str | None = None
    is_whole: bool = False
    shown: str | None = None
    output: str | None = None
    cut: bool = False
    exit: int | None = None
    told: bool = False
    done: bool = False

    @property
    def name(self) -> str:
        """Return the tool's name: as the agent gives it on the side, else by its kind."""
        return self.tool or TOOLS.get(self.kind, self.kind) or "other"

    @property
    def args(self) -> str | None:
        """Return its arguments, else what stands for them: title, place and change."""
        if self.input is not None:
            return self.input
        named = {"command" if self.kind == "execute" else "title": self.title, "path": self.path, "diff": self.diff}
        return canonical({key: value for key, value in named.items() if value})

    def take(self, update: Mapping[str, object]) -> None:
        """Take what an update tells anew; what it leaves out stays as it is."""
        self.kind = word(update.get("kind")) or self.kind
        self.title = text(update.get("title"), TITLE_CAP) or self.title
        meta = mapping(update.get("_meta"))
        self.tool = self.tool or word(meta.get("toolName")) or word(mapping(meta.get("claudeCode")).get("toolName"))
        for place in map(mapping, list(items(update.get("locations")))[:1]):
            self.path = word(place.get("path"), TITLE_CAP) or self.path
        self._ask(update.get("rawInput"))
        self._show(update.get("content"), begun=update.get("status") != "pending")
        self._put_out(update.get("rawOutput"))

    def _ask(self, raw: object) -> None:
        # Only before it is told: Copilot asks with other arguments than it called with.
        if raw and not self.told and isinstance(raw, dict):
            self.input = canonical(raw)
            # opencode first tells a command's folder alone.
            self.is_whole = self.kind != "execute" or any(key in raw for key in COMMANDS)

    def _show(self, content: object, *, begun: bool) -> None:
        """Take content, which replaces what was there; that of a call not begun describes it and is no result."""
        blocks = [mapping(block) for block in items(content)]
        texts = [t for b in blocks if (t := text(mapping(b.get("content")).get("text"), 1 << 24)) is not None]
        if isinstance(content, list):
            self.shown, self.cut = None, False
        if texts and begun:
            self.shown, self.cut = shortened(_same("\n".join(texts)))
        for block in blocks:
            if block.get("type") == "diff":
                self.path = word(block.get("path"), TITLE_CAP) or self.path
                whole = canonical([block.get("oldText"), block.get("newText")], 1 << 25)
                self.diff = digest(whole) if whole is not None else self.diff

    def _put_out(self, raw: object) -> None:
        if raw is None:
            return
        found = mapping(raw)
        texts = (text(found.get(key), 1 << 24) for key in ("output", "content", "text", "message", "error"))
        told = raw if isinstance(raw, str) else next((t for t in texts if t is not None), None)
        self.output = shortened(_same(told))[0] if told is not None else canonical(raw)
        ends = [found, mapping(found.get("metadata")), *map(mapping, items(found.get("contents")))]
        codes = [count(end.get(key)) for end in ends for key in ("exit", "exitCode", "exit_code")]
        self.exit = next((code for code in codes if code is not None), None)

    @property
    def result(self) -> str | None:
        """Return what the model was shown, as far as it was told; None if it was not."""
        return self.shown if self.shown is not None else self.output

    def failed(self, status: str) -> bool | None:
        """Return whether it failed: a command that ended with an error is often "completed"."""
        if status == "failed":
            return True
        if self.kind == "execute":
            return None if self.exit is None else self.exit != 0
        return False


def _same(result: str) -> str:
    """Return a result without numbers that agents add to each command and that differ each time."""
    return SHELL_ID.sub(r"<\1>", PGID.sub("", result))


@dataclass(slots=True)
class Standing:
    """What the reader of a run and its conversation know together.

    calls: by session and id, newest last. refused: calls we said no to, not yet told. queued: texts for the next
    prompt. cutting: this prompt is being cancelled, and the next one follows when it has ended.
    """

    calls: OrderedDict[tuple[str, str], Call] = field(default_factory=OrderedDict)
    refused: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=CALLS_CAP))
    queued: list[str] = field(default_factory=list)
    cutting: bool = False

    @property
    def goes_on(self) -> bool:
        """Return whether another prompt follows the one that is on."""
        return self.cutting and bool(self.queued)

    def call(self, stream: str, update: Mapping[str, object]) -> Call:
        """Return the call an update is about, with what it tells."""
        id_ = word(update.get("toolCallId"))
        found = self.calls.get((stream, id_))
        if found is None:
            found = self.calls[stream, id_] = Call(id_)
            if len(self.calls) > CALLS_CAP:
                self.calls.popitem(last=False)
        if not found.done:
            found.take(update)
        return found

    def open(self) -> Iterator[tuple[str, Call]]:
        """Yield the calls that were told and have not returned, with their streams."""
        for (stream, _), call in list(self.calls.items()):
            if call.told and not call.done:
                yield stream, call
