"""What a call is: does it poll, does it change files, on what. From its name, its arguments and the user's lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from ralph.judge.signals.arguments import Arguments
from ralph.judge.signals.shell import shell
from ralph.judge.signals.tools import POLLING, READERS, SHELLS, WRITERS

COMMAND_KEYS = ("command", "cmd", "script", "input")
PATH_KEYS = ("file_path", "filepath", "filePath", "path", "absolute_path", "target_file", "notebook_path", "file")
EDITOR_READS = frozenset({"view", "open", "read", "find", "search"})


@dataclass(frozen=True, slots=True)
class Called:
    """A call by its kind. command: text of a shell command, "" for other tools. span: lines read, (first, last)."""

    polls: bool
    changes: bool | None
    target: str | None
    command: str = ""
    span: tuple[int, int] | None = None


def called(tool: str, arguments: Arguments, *, polling: Sequence[str] = ()) -> Called:
    """Return what kind of call this is. polling: more that polls, tools by pattern or commands by first words."""
    name = tool.lower()
    command = _command(arguments) if name in SHELLS else ""
    if command:
        view = shell(command)
        polls = view.polls or _listed(name, command, polling)
        return Called(polls, view.changes, view.program or None, command)
    path = _text(arguments, PATH_KEYS)
    polls = name in POLLING or _listed(name, "", polling)
    if name == "write_stdin":
        polls = not _text(arguments, ("chars", "input", "text", "data")).strip()
    return Called(polls, _changes(name, arguments), path or None, "", _span(arguments) if path else None)


def _changes(name: str, arguments: Arguments) -> bool | None:
    verb = arguments.get("command")
    if name in WRITERS:
        return not (isinstance(verb, str) and verb in EDITOR_READS)
    return False if name in READERS or name in POLLING else None


def _command(arguments: Arguments) -> str:
    for key in COMMAND_KEYS:
        value = arguments.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value:
            # `["bash", "-lc", "text"]` is its text.
            words = [str(word) for word in value]
            return (
                words[-1] if len(words) > 2 and words[1].startswith("-") and words[1].endswith("c") else " ".join(words)
            )
    return ""


def _listed(name: str, command: str, polling: Sequence[str]) -> bool:
    for entry in polling:
        if fnmatchcase(name, entry.lower()):
            return True
        if command and entry and (command.strip() + " ").startswith(entry.strip() + " "):
            return True
    return False


def _text(arguments: Arguments, keys: Sequence[str]) -> str:
    return next((value for key in keys if isinstance(value := arguments.get(key), str)), "")


def _span(arguments: Arguments) -> tuple[int, int] | None:
    """Return the lines a read asks for, None where it asks for all."""
    first, count = _number(arguments, ("offset", "start_line", "line_start")), _number(arguments, ("limit",))
    last = _number(arguments, ("end_line", "line_end"))
    shown = arguments.get("view_range")
    if isinstance(shown, list) and len(shown) == 2 and all(isinstance(n, int) for n in shown):
        first, last = int(shown[0]), int(shown[1])
    if last is None and count is not None:
        last = (first or 0) + count - 1
    if last is None or last < (first or 0):
        return None
    return first or 0, last


def _number(arguments: Arguments, keys: Sequence[str]) -> int | None:
    return next(
        (v for k in keys if isinstance(v := arguments.get(k), int) and not isinstance(v, bool) and 0 <= v < 10**9), None
    )
