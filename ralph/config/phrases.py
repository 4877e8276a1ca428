"""Words with a grammar of their own: gates, checks, patterns, names, reasons; and how values are spelled back."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from ralph.config.words import DURATION_UNITS, SHELL, SIZES, WordError, quoted, text
from ralph.facts.reason import Reason
from ralph.facts.settings import ChecklistGate, CommandGate, Gate, PromiseGate
from ralph.facts.usage import MICRO

CHECK_NAME = r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}"
RESERVED_CHECKS = ("tests", "promise")
GATES_FIX = "A gate is promise, promise=TOKEN, checklist=FILE or command=CMD."
DECORATION = "`* \t\r\n"
"""What is ignored around the token on the agent's last line (design 2.4), so a token may not begin or end with it."""
ACCEPTABLE = tuple(reason.value for reason in Reason if reason not in (Reason.DONE, Reason.BUG, Reason.USAGE))


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return the known word that the user may have meant, "" if none is near."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return near[0] if near else ""


def choice_error(raw: object, options: Iterable[str]) -> WordError:
    """Return the error for a word outside a closed list, with the nearest one."""
    known = tuple(options)
    near = suggestion(raw, known) if isinstance(raw, str) else ""
    listed = f"The words are {', '.join(known)}."
    return WordError(f"{quoted(raw)} is not one of the words", f"Did you mean {near}? {listed}" if near else listed)


def gate(raw: object) -> str:
    """Check one gate and return it as typed; `gate_of` gives its value."""
    typed = text(raw)
    kind, _, rest = typed.partition("=")
    if kind not in ("promise", "checklist", "command"):
        raise WordError(f"{quoted(raw)} is not a gate", _gate_fix(kind))
    if typed != "promise" and not rest.strip():
        raise WordError(f"{quoted(raw)} names nothing after {kind}", GATES_FIX)
    if kind == "promise" and rest:
        _check_token(raw, rest)
    if kind == "checklist":
        _check_inside(raw, rest)
    return typed


def _gate_fix(kind: str) -> str:
    near = suggestion(kind, ("promise", "checklist", "command"))
    return f"Did you mean {near}? {GATES_FIX}" if near else GATES_FIX


def _check_token(raw: object, token: str) -> None:
    if token != token.strip(DECORATION) or not token.isprintable():
        raise WordError(
            f"{quoted(raw)}: the token begins or ends with what is ignored around it",
            "Take a token of printable characters without blanks, backticks or asterisks at its ends.",
        )


def _check_inside(raw: object, path: str) -> None:
    if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
        raise WordError(
            f"{quoted(raw)} lies outside the work tree", "Name a file relative to the top of the work tree."
        )


def gate_of(typed: str) -> Gate:
    """Return the gate of a text that `gate` let pass."""
    kind, _, rest = typed.partition("=")
    if kind == "promise":
        return PromiseGate(rest or None)
    return ChecklistGate(rest) if kind == "checklist" else CommandGate(rest, (*SHELL, rest))


def gate_text(gate: Gate) -> str:
    """Return a gate as the user would type it."""
    match gate:
        case PromiseGate(token=None):
            return "promise"
        case PromiseGate(token=token):
            return f"promise={token}"
        case ChecklistGate(path=path):
            return f"checklist={path}"
        case CommandGate(text=typed):
            return f"command={typed}"


def check_name(raw: str) -> str:
    """Check the NAME of a check: it appears in test ids, file names and an environment variable."""
    if not re.fullmatch(CHECK_NAME, raw, re.ASCII):
        raise WordError(f"{quoted(raw)} is not a name for a check", "Take letters, digits, - and _, at most 64.")
    if raw in RESERVED_CHECKS:
        raise WordError(f"{quoted(raw)} is a name that ralph uses itself", "Choose another name for the check.")
    return raw


def named_check(raw: str) -> tuple[str, str]:
    """Split `NAME=CMD`; the command is checked with all the others."""
    name, equals, command = raw.partition("=")
    if not equals or not command.strip():
        raise WordError(f"{quoted(raw)} is not NAME=CMD", "Write it like lint='ruff check .'.")
    return check_name(name), command


def pattern(raw: object) -> str:
    """Check one gitignore-style pattern: one line, not blank."""
    typed = text(raw)
    if "\n" in typed or "\r" in typed:
        raise WordError(f"{quoted(raw)} holds a line break", "Give one pattern for each line.")
    return typed


def word(raw: object) -> str:
    """Check a name without blanks: an agent, a process, an environment variable."""
    typed = text(raw)
    if typed.split() != [typed]:
        raise WordError(f"{quoted(raw)} holds a blank", "Take the blanks out, or give two values.")
    return typed


def reason(raw: object) -> str:
    """Check the word of an ending that is to exit 0."""
    if raw not in ACCEPTABLE:
        raise choice_error(raw, ACCEPTABLE)
    return str(raw)


def spell_duration(seconds: float) -> str:
    """Return seconds in the words of `words.duration`, exact to a millisecond."""
    rest = round(seconds * 1000)
    parts = []
    for unit, size in zip(DURATION_UNITS[1:], (86_400_000, 3_600_000, 60_000, 1000, 1), strict=True):
        many, rest = divmod(rest, size)
        parts += [f"{many}{unit}"] if many else []
    return "".join(parts) or "0s"


def spell_money(micro: int) -> str:
    """Return micro-dollars as dollars, with two decimals or as many as are needed."""
    whole, part = divmod(micro, MICRO)
    return f"${whole}.{f'{part:06d}'.rstrip('0').ljust(2, '0')}"


def spell_size(found: int) -> str:
    """Return bytes with the largest unit that divides them."""
    unit, size = max(((u, s) for u, s in SIZES.items() if found % s == 0), key=lambda pair: pair[1])
    return f"{found // size}{unit}"
