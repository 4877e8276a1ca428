"""The processes below one of them: who they are, how much they work, and their end by pid when nobody guards them."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable
from contextlib import suppress

from ralph.facts.ending import Survivor
from ralph.process import system

_ROUNDS = 2000
_NAMED = 200
_DEPTH = 4096


def descendants(pid: int) -> list[int]:
    """Return the pids of everything below a process, parents before children, without it."""
    found: list[int] = []
    todo = [pid]
    while todo:
        below = system.children(todo.pop())
        found += below
        todo += below
    return found


def is_below(pid: int, ancestor: int) -> bool:
    """Return whether a process is a descendant of another (not the same one)."""
    current: int | None = pid
    for _ in range(_DEPTH):
        current = system.parent(current) if current else None
        if current == ancestor:
            return True
        if not current:
            return False
    return False


def cpu_of_tree(pid: int) -> float:
    """Return the processor seconds used so far by a process and all below it, those already collected included."""
    return sum(system.cpu_s(member) for member in (pid, *descendants(pid)))


def send(number: int, pid: int) -> None:
    """Signal everything below a process, without it."""
    for member in descendants(pid):
        with suppress(OSError):
            os.kill(member, number)


def orphans(foreign: frozenset[int]) -> list[int]:
    """Return our children that came to us from a dead guardian.

    foreign: children of ours known before, or by other means. A guardian's descendants always live in another session
    than we do, for a session cannot be joined: that tells them from children which some other part of ralph started.
    """
    ours = os.getsid(0)
    return [child for child in system.children(os.getpid()) if child not in foreign and _session(child) != ours]


def end_orphans(foreign: frozenset[int]) -> tuple[Survivor, ...]:
    """Kill what a dead guardian left to us, and collect it pid by pid, never anybody else's child (A12, A15)."""
    return _end(lambda: orphans(foreign))


def _end(listed: Callable[[], list[int]]) -> tuple[Survivor, ...]:
    named: dict[int, Survivor] = {}
    for _ in range(_ROUNDS):
        roots = listed()
        if not roots:
            break
        for pid in [member for root in roots for member in (root, *descendants(root))]:
            if len(named) < _NAMED:
                named.setdefault(pid, Survivor(pid, system.name(pid)))
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        for root in roots:
            _collect(root)
    return tuple(named.values())


def _collect(pid: int) -> None:
    """Wait shortly for one killed child and take its status."""
    with suppress(OSError):
        watched = system.watch_pid(pid)
        if watched is not None:
            try:
                poll = select.poll()
                poll.register(watched, select.POLLIN)
                poll.poll(50)
            finally:
                os.close(watched)
    with suppress(OSError):
        os.waitpid(pid, os.WNOHANG)


def _session(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except OSError:
        return None
