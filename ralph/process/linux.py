"""What only Linux has: adopting orphans, hiding memory, listing children by parent, process descriptors.

Source: prctl(2), proc(5) (`/proc/PID/task/TID/children`, `/proc/PID/stat`), pidfd_open(2).
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from pathlib import Path

_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_KERNEL = (5, 3)
_TICKS_S = os.sysconf("SC_CLK_TCK")
_PPID, _UTIME, _CSTIME, _STARTED = 1, 11, 14, 19
"""Places in /proc/PID/stat counted from behind the name, so that names with blanks and brackets do no harm."""


def unsupported() -> str | None:
    """Return why ralph cannot keep its promises on this machine, None if it can."""
    release = os.uname().release
    numbers = [int(part) for part in release.split("-")[0].split(".")[:2] if part.isdigit()]
    if tuple(numbers) < _KERNEL:
        return f"kernel {release} is older than {_KERNEL[0]}.{_KERNEL[1]}"
    if not Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").exists():
        return "/proc is not mounted, or the kernel lists no children there (CONFIG_PROC_CHILDREN)"
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError as error:
        return f"pidfd_open does not work: {error.strerror}"
    return None


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent leaves (sub-reaper).

    Raises: OSError where the kernel refuses.
    """
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def harden() -> None:
    """Keep our memory, environment and descriptors from other processes of this user; also turns core dumps off.

    Raises: OSError where the kernel refuses.
    """
    _prctl(_PR_SET_DUMPABLE, 0)


def watch_pid(pid: int) -> int | None:
    """Return a descriptor that turns readable when this child of ours ends, None where there is no such thing."""
    return os.pidfd_open(pid)


def children(pid: int) -> list[int]:
    """Return the pids of the direct children, [] if the process is gone."""
    found: list[int] = []
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                found += map(int, Path(thread, "children").read_bytes().split())
    return found


def parent(pid: int) -> int | None:
    """Return the parent's pid, None if the process is gone."""
    fields = _stat(pid)
    return int(fields[_PPID]) if fields else None


def started(pid: int) -> int | None:
    """Return when the process started, in clock ticks since boot: with the pid it names one process for good."""
    fields = _stat(pid)
    return int(fields[_STARTED]) if fields else None


def name(pid: int) -> str:
    """Return the process's comm, "?" if it is gone. Hostile text."""
    try:
        return Path(f"/proc/{pid}/comm").read_bytes().strip().decode(errors="replace")
    except OSError:
        return "?"


def cpu_s(pid: int) -> float:
    """Return user and system seconds of a process and of its children already collected, 0.0 if it is gone."""
    fields = _stat(pid)
    return sum(map(int, fields[_UTIME : _CSTIME + 1])) / _TICKS_S if fields else 0.0


def _stat(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2].split()
    except OSError:
        return []


def _prctl(option: int, value: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
