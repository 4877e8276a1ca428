"""Any program that takes the prompt on stdin: nothing is known of its output, its exit code is all it says."""

from __future__ import annotations

from typing import Literal

from ralph.agents.adapter import Abilities, Ask, Launch
from ralph.agents.fields import clean
from ralph.agents.limits import epoch_in, is_notice
from ralph.facts.event import Event, Said, Trouble, Troubled

TAIL = 16 << 10
"""Bytes of stdout kept as its answer: the last ones, where a promise or a conclusion stands."""


class PlainReader:
    """Keeps the tail of stdout and tells it as one `Said` at the end."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._held = 0

    def line(self, stream: Literal["out", "err"], line: bytes) -> tuple[Event, ...]:
        """Keep a line of stdout; nothing is told before the end."""
        if stream == "out":
            self._lines.append(line[-TAIL:])
            self._held += len(self._lines[-1]) + 1
            if self._held > 4 * TAIL:
                self._trim()
        return ()

    def end(self) -> tuple[Event, ...]:
        """Return the tail of stdout as what the program said, () if it printed nothing but blanks."""
        self._trim()
        tail = clean(b"\n".join(self._lines).decode("utf-8", "replace"))
        if not tail.strip():
            return ()
        last = tail.strip().splitlines()[-1]
        # A script around a known agent hands its notice through (R055).
        return (Said(tail), Troubled(Trouble.QUOTA, last, epoch_in(last))) if is_notice(last) else (Said(tail),)

    def _trim(self) -> None:
        tail = b"\n".join(self._lines)[-TAIL:]
        self._lines = [tail] if tail else []
        self._held = len(tail)


class Plain:
    """The dialect of `-- COMMAND`."""

    name = "plain"
    programs: tuple[str, ...] = ()
    abilities = Abilities(idle_rule=False, note="completes with exit 0 and any output; cost and tokens unknown")

    def launch(self, ask: Ask) -> Launch:
        """Return the program as typed; it has no flags we know of."""
        return Launch((*ask.program, *ask.args))

    def reader(self) -> PlainReader:
        """Return a fresh reader."""
        return PlainReader()

    def diagnose(self, error_tail: bytes) -> tuple[Trouble, str] | None:
        """Return a usage limit if its last words are nothing else; other words of an unknown program say nothing."""
        lines = clean(error_tail.decode("utf-8", "replace")).strip().splitlines()
        return (Trouble.QUOTA, lines[-1]) if lines and is_notice(lines[-1]) else None
