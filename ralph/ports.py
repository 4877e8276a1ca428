"""The doors between the loop and the world: one real implementation each, built in `wiring`, stand-ins in tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol

from ralph.facts.ending import Cut, Ended
from ralph.facts.finding import Finding
from ralph.facts.job import Job
from ralph.facts.tree import Changes, Tree

Stream = Literal["out", "err"]


class Clock(Protocol):
    """Three clocks, three uses (design 4.1); nothing decides on the wall clock."""

    def real(self) -> float:
        """Return seconds on a clock that runs through suspension (CLOCK_BOOTTIME): deadlines of the run."""
        ...

    def awake(self) -> float:
        """Return seconds on CLOCK_MONOTONIC: iteration and idle limits."""
        ...

    def now(self) -> datetime:
        """Return aware UTC wall time: time stamps only."""
        ...


class Watcher(Protocol):
    """Told what a running child does; may ask for its end by returning a `Cut`. Never raises, never blocks."""

    def line(self, stream: Stream, line: bytes) -> Cut | None:
        """Take one line without its newline (the last may be unterminated)."""
        ...

    def finished(self) -> bool:
        """Return whether the terminal event was seen: the linger limit runs from then."""
        ...

    def excused(self) -> bool:
        """Return whether silence is expected: a tool call is open or a wait was announced."""
        ...

    def replies(self) -> bytes:
        """Return what to write to a conversed child now (b"" for nothing), and forget it."""
        ...

    def closes_stdin(self) -> bool:
        """Return whether a conversed child's stdin is to be closed once all replies are written."""
        ...


class Side(Protocol):
    """One more thing the selector listens to while a child runs (the control socket)."""

    def fileno(self) -> int:
        """Return the descriptor to watch for reading; it stays the same for the whole child."""
        ...

    def ready(self) -> Cut | None:
        """Take what is there without blocking; a `Cut` ends the child."""
        ...


class Processes(Protocol):
    """Starts programs under a guardian and sees them, and all they started, to the end."""

    def run(self, job: Job, watcher: Watcher, *, sides: tuple[Side, ...] = ()) -> Ended:
        """Run one child to its end, and sweep what it left.

        Never raises for what the child does: a program that cannot start is `NotStarted`. The first pending
        INT/TERM/HUP cuts the child with `Why.SIGNAL`; the second ends it at once.
        """
        ...

    def wait(self, seconds: float, *, sides: tuple[Side, ...] = ()) -> Cut | None:
        """Wait in real time without a child; return early with the `Cut` of a signal or of a side."""
        ...

    def interruption(self) -> int | None:
        """Return the number of the first INT, TERM or HUP received so far, None if there was none."""
        ...


class Repo(Protocol):
    """The work tree of the run, seen without running anything that lies in it."""

    @property
    def top(self) -> Path:
        """Return the top directory, real path."""
        ...

    def look(self, *, test_owned: frozenset[str] = frozenset()) -> Tree:
        """Return the exact fingerprint now. Raises: nothing about content; a vanished tree shows in `damage`."""
        ...

    def begin_look(self) -> None:
        """Begin the next look now: it may count as taken from here on, if nothing of ours runs until then."""
        ...

    def forget_look(self) -> None:
        """Drop a look that was begun: something runs, or time passes, before the next one."""
        ...

    def save(self, tree: Tree, label: str) -> None:
        """Keep the content last looked at under a label ("start", "7", "7.tests") in the private store."""
        ...

    def changes(self, before: Tree, after: Tree, *, closely: bool = False) -> Changes:
        """Return what differs between two saved trees. closely: file by file as well."""
        ...

    def contents(self, tree: Tree, paths: Iterable[str]) -> Mapping[str, bytes | None]:
        """Return the bytes of files in a saved tree; None for what is not there, no plain file, or over 1 MiB."""
        ...

    def damage(self) -> str | None:
        """Return why this is no longer the repository the run began in, None if it is."""
        ...

    def vanished(self, start: Tree, tree: Tree) -> tuple[Finding, ...]:
        """Return which files of a saved start are gone from a saved tree, each told once."""
        ...

    def findings(self) -> tuple[Finding, ...]:
        """Return git configuration, HEAD, merge and lock observations new since the last call."""
        ...


class Journal(Protocol):
    """The append-only record of a run."""

    def append(self, kind: str, fields: Mapping[str, object]) -> None:
        """Write one record and sync it to disk before returning; one that announces no effect, by the next one's sync.

        Raises: UserError (storage) when it cannot be written or was tampered with.
        """
        ...


class Console(Protocol):
    """Told what happens, for people (stderr) or machines (`--json`); never asked, never fatal."""

    def say(self, text: str) -> None:
        """Print one line about the run; text may hold foreign bytes and is sanitised here."""
        ...

    def event(self, kind: str, fields: Mapping[str, object]) -> None:
        """Show one journal event or live `turn`."""
        ...


Notify = Callable[[str, Mapping[str, object]], None]
"""A notifier: told (event, fields); whatever it raises becomes a warning."""
