"""What to start and under which limits: the order given to the process room."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class StdinBytes:
    """The child reads these bytes from a file and then end-of-file (a *fed* agent, or b"" for nothing)."""

    data: bytes = b""


@dataclass(frozen=True, slots=True)
class StdinPipe:
    """The child reads a pipe that only we write to (a *conversed* agent). first: sent at once."""

    first: bytes = b""


@dataclass(frozen=True, slots=True)
class TimeRules:
    """Limits of one child; None = none. All but deadline_s are awake (monotonic) seconds.

    total_s: from its start. deadline_s: boot-time clock reading (`Clock.real`) past which it must be gone.
    idle_s: silence after which it counts as hung. linger_s: time it may stay after its terminal event.
    grace_s: between TERM and KILL. drain_s: how long pipes are read after the direct child has left.
    """

    total_s: float | None = None
    deadline_s: float | None = None
    idle_s: float | None = None
    linger_s: float = 10.0
    grace_s: float = 10.0
    drain_s: float = 0.25


@dataclass(frozen=True, slots=True)
class Logs:
    """Where raw output goes. cap_bytes a stream: the first half and the last half are kept, the middle counted."""

    out: Path
    err: Path
    cap_bytes: int = 64 << 20


@dataclass(frozen=True, slots=True)
class Job:
    """One program to run under a guardian. argv[0]: absolute path, or a name looked up in env["PATH"].

    env: the whole environment, from nothing. keep: comm names that the sweep leaves alone and reports.
    line_cap: longest line handed on; longer ones are logged, counted and skipped.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    stdin: StdinBytes | StdinPipe = field(default_factory=StdinBytes)
    time: TimeRules = field(default_factory=TimeRules)
    logs: Logs | None = None
    keep: tuple[str, ...] = ()
    line_cap: int = 16 << 20
