"""How a child process ended, as the process room reports it: facts only, no judgement."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class Exited:
    """The direct child left by itself with this exit code."""

    code: int

    def __str__(self) -> str:
        return f"exit {self.code}"


@dataclass(frozen=True, slots=True)
class Signalled:
    """The direct child was killed by this signal number, ours or not (see `Ended.cut`)."""

    number: int

    def __str__(self) -> str:
        return f"killed by signal {self.number}"


@dataclass(frozen=True, slots=True)
class NotStarted:
    """The program could not be started at all; error: errno, message: what the system said."""

    error: int
    message: str

    def __str__(self) -> str:
        return f"not started: {self.message}"


@dataclass(frozen=True, slots=True)
class Poisoned:
    """The guardian vanished, so how the child ended is unknown; its tree was swept all the same."""

    def __str__(self) -> str:
        return "guardian gone"


How = Exited | Signalled | NotStarted | Poisoned


class Why(Enum):
    """What made us end a child that was still running."""

    ITERATION_TIME = "iteration-time"
    DEADLINE = "deadline"
    IDLE = "idle"
    LINGER = "linger"
    COST = "cost"
    TOKENS = "tokens"
    TURNS = "turns"
    LOOPING = "looping"
    BLOCKED = "blocked"
    SIGNAL = "signal"
    STOP_NOW = "stop-now"
    WAKE = "wake"
    """Ends a wait, never a child."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Our decision to end the child: why, and one line for people. at_once: no grace is given."""

    why: Why
    detail: str = ""
    at_once: bool = False


@dataclass(frozen=True, slots=True)
class Survivor:
    """A descendant that outlived the direct child and was ended by the sweep; name: its comm, sanitised by sinks.

    kept: it was left alone, as `Job.keep` names it, and is ended with the run.
    """

    pid: int
    name: str
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """All that is known once a child and its whole tree are gone.

    elapsed_s: awake seconds from start to the end of the sweep. leaky: a survivor held a pipe after the
    child left. bytes_out, bytes_err: everything it printed, logged or not. lines_skipped: longer than the
    line cap. cpu_s: user + system time of the reaped tree, None where unknown.
    last_output_s: seconds after the start at which the last byte came, None if there was none.
    error_tail: the last 8 KiB of stderr, raw bytes. log_trouble: why a raw log is incomplete (a full disk), "" if not.
    """

    how: How
    cut: Cut | None = None
    elapsed_s: float = 0.0
    survivors: tuple[Survivor, ...] = ()
    leaky: bool = False
    bytes_out: int = 0
    bytes_err: int = 0
    lines_skipped: int = 0
    cpu_s: float | None = None
    last_output_s: float | None = None
    error_tail: bytes = b""
    log_trouble: str = ""
