"""What every measurement shares: a figure with its target, rounds taken in turns, and medians of the rounds' ratios.

A ratio of two things done in turn in one run survives a busy machine; absolute times do not.
"""

from __future__ import annotations

import os
import resource
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

Deed = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure. target: None where it is only told; floor: the target is the least, not the most.

    yardstick: what it was measured against, with that side's own figure. value: None where it could not be measured,
    detail says why.
    """

    what: str
    value: float | None
    unit: str
    target: float | None
    yardstick: str
    floor: bool = False
    detail: str = ""

    @property
    def met(self) -> bool | None:
        """Return whether the target is reached; None without a target or a value."""
        if self.value is None or self.target is None:
            return None
        return self.value >= self.target if self.floor else self.value <= self.target


@dataclass(frozen=True, slots=True)
class Taken:
    """What one deed took. wall_s, cpu_s: seconds; cpu_s counts children that were waited for."""

    wall_s: float
    cpu_s: float


def take(deed: Deed) -> Taken:
    """Do it once."""
    busy, began = cpu_s(), time.perf_counter()
    deed()
    return Taken(time.perf_counter() - began, cpu_s() - busy)


def cpu_s() -> float:
    """Return processor seconds of this process and of its collected children."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def in_turns(deeds: Mapping[str, Deed], *, rounds: int, warm_up: int = 1) -> dict[str, list[Taken]]:
    """Do each deed once a round, in turns, after rounds that do not count."""
    taken: dict[str, list[Taken]] = {name: [] for name in deeds}
    for n in range(rounds + warm_up):
        for name, deed in deeds.items():
            one = take(deed)
            if n >= warm_up:
                taken[name].append(one)
    return taken


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Return the median of the rounds' ratios."""
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))


def walls(taken: Sequence[Taken]) -> list[float]:
    """Return the wall seconds of each."""
    return [one.wall_s for one in taken]


def cpus(taken: Sequence[Taken]) -> list[float]:
    """Return the processor seconds of each."""
    return [one.cpu_s for one in taken]


def ms(seconds: Sequence[float]) -> str:
    """Return the median in words."""
    return f"{1e3 * statistics.median(seconds):.1f} ms"


def status_mb(pid: int, field: str) -> float:
    """Return a size of a process, as `VmRSS` or `VmHWM` in MB; 0 when it has gone. Source: proc_pid_status(5)."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0.0
    found = next((line.split()[1] for line in text.splitlines() if line.startswith(f"{field}:")), "0")
    return int(found) / 1024


def process_cpu_s(pid: int) -> float:
    """Return the processor seconds of one living process of one thread, without its children.

    `schedstat` counts nanoseconds; `stat`, where a kernel lacks it, steps of 10 ms. Source: proc_pid_stat(5).
    """
    folder = Path(f"/proc/{pid}")
    with suppress(OSError):
        return int((folder / "schedstat").read_text(encoding="ascii").split()[0]) / 1e9
    words = (folder / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def wait_for(claim: Callable[[], bool], *, within_s: float = 30.0) -> bool:
    """Wait until it holds; return whether it came to hold in time."""
    until = time.monotonic() + within_s
    while not claim():
        if time.monotonic() > until:
            return False
        time.sleep(0.002)
    return True
