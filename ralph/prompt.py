"""The prompt: frozen bytes of a file, and the one note that may follow them (design 2.4).

Decides nothing about what is worth saying: `note` puts facts it is given into the templates of `prompts/`.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

from ralph.encode.terminal import one_line
from ralph.errors import UserError
from ralph.facts.iteration import Iteration

SIZE_CAP = 8 << 20
NOTE_CAP = 4096
SHOWN_IDS = 20
OPENS = "<!-- ralph: note, not part of the prompt file -->"
CLOSES = "<!-- ralph: end of note -->"


@dataclass(frozen=True, slots=True)
class Frozen:
    """The prompt as it was read once. where: path as the user gave it, "-" for stdin."""

    data: bytes
    where: str

    @property
    def sha256(self) -> str:
        """Return the hex hash of the bytes."""
        return hashlib.sha256(self.data).hexdigest()


def freeze(path: Path, *, follow_links: bool = True) -> Frozen:
    """Read a prompt file once, refusing what is no ordinary, small, non-empty file.

    follow_links: off when an agent may have planted the link since the start (C3).
    Raises: UserError naming the file and the way out.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow_links else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError as e:
        raise UserError(
            "there is no such prompt file", where=str(path), fix="Write the task into it, or name another file."
        ) from e
    except OSError as e:
        raise UserError(f"cannot read the prompt: {e.strerror}", where=str(path)) from e
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UserError("the prompt is not an ordinary file", where=str(path), fix="Name a text file.")
    with open(descriptor, "rb") as file:
        return checked(file.read(SIZE_CAP + 1), str(path))


def checked(data: bytes, where: str) -> Frozen:
    """Return the prompt if it can be sent. Raises: UserError for an empty or over-long one."""
    if len(data) > SIZE_CAP:
        raise UserError(
            f"the prompt is larger than {SIZE_CAP >> 20} MiB",
            where=where,
            fix="Keep the task short and let it name the files to read.",
        )
    if not data.strip():
        raise UserError("the prompt is empty", where=where, fix="Write the task into it.")
    return Frozen(data, where)


def templates() -> Path:
    """Return the folder of shipped prompts: inside the wheel, else beside a source tree."""
    package = Path(__file__).parent
    packed = package / "_prompts"
    return packed if packed.is_dir() else package.parent / "prompts"


def filled(name: str, values: Mapping[str, str]) -> str:
    """Return one shipped template with its values in place."""
    text = (templates() / f"{name}.md").read_text(encoding="utf-8")
    return Template(text).substitute(values).strip()


@dataclass(frozen=True, slots=True)
class NoteFacts:
    """What a note may speak of. promise, blocked: tokens or None; last: the iteration before, None for the first.

    advice: texts of signals, ready to say. returned_to: the iteration whose state the last one fell back to.
    """

    promise: str | None = None
    blocked: str | None = None
    last: Iteration | None = None
    returned_to: int | None = None
    advice: tuple[str, ...] = ()


def note(facts: NoteFacts) -> str:
    """Return the text of the note, "" if there is nothing to say; never longer than 4 KiB in UTF-8."""
    parts = list(facts.advice)
    if facts.promise:
        parts.append(filled("note/promise", {"token": facts.promise}))
    if facts.last is not None:
        parts += _about_last(facts.last, facts.returned_to)
        if facts.blocked:
            parts.append(filled("note/blocked", {"token": facts.blocked, "command": own_command()}))
    return _capped("\n\n".join(parts))


def _about_last(last: Iteration, returned_to: int | None) -> Iterable[str]:
    detail = f": {one_line(last.detail)}" if last.detail else "."
    yield filled("note/ended", {"outcome": last.outcome.value, "detail": detail})
    if returned_to is not None:
        yield filled("note/returned", {"first": str(returned_to)})
    failing = sorted({i for suite in last.suites for i in suite.failing})
    if failing:
        yield filled("note/failing", {"count": str(len(failing)), "ids": _listed(failing)})
    if last.change is not None and last.change.vanished:
        vanished = last.change.vanished
        yield filled("note/vanished", {"count": str(len(vanished)), "ids": _listed(vanished)})


def _listed(ids: Iterable[str]) -> str:
    names = [f"- {one_line(i, 160)}" for i in ids]
    rest = len(names) - SHOWN_IDS
    return "\n".join(names[:SHOWN_IDS] + ([f"- and {rest} more"] if rest > 0 else []))


def _capped(text: str) -> str:
    room = NOTE_CAP - len(OPENS) - len(CLOSES) - 4
    return text.encode("utf-8", "replace")[:room].decode("utf-8", "ignore")


def own_command() -> str:
    """Return how an agent's shell reaches this very ralph, whatever its PATH."""
    beside = Path(sys.executable).parent / "ralph"
    return str(beside) if beside.exists() else "ralph"


def as_sent(prompt: Frozen, text: str) -> bytes:
    """Return the bytes an agent gets: the frozen ones, then one blank line and the note between its markers."""
    if not text:
        return prompt.data
    gap = b"\n" if prompt.data.endswith(b"\n") else b"\n\n"
    return prompt.data + gap + f"{OPENS}\n{text}\n{CLOSES}\n".encode("utf-8", "replace")
