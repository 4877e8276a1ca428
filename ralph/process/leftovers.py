"""Processes of a run that is no longer: found by the mark in their environment, ended by exact identity only (S11).

A process that emptied its environment is not found; while its run lived, the guardian's sweep saw it all the same.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

import psutil

from ralph.process import system, tree

MARK = "RALPH_RUN"


@dataclass(frozen=True, slots=True)
class Leftover:
    """One process. started: `system.started`; only pid and start together name it. name: hostile text."""

    pid: int
    started: int
    name: str


def leftovers(run: str) -> tuple[Leftover, ...]:
    """Return this user's processes that carry the mark of a run, in order of pid; never ourselves."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            mine = process.pid != os.getpid() and process.uids().real == os.getuid()
            if mine and process.environ().get(MARK) == run:
                started = system.started(process.pid)
                if started is not None:
                    found.append(Leftover(process.pid, started, system.name(process.pid)))
    return tuple(sorted(found, key=lambda one: one.pid))


def end_leftovers(found: Iterable[Leftover]) -> tuple[Leftover, ...]:
    """Kill the processes that are still exactly these, with all below them; return those that were there."""
    ended = []
    for one in found:
        if system.started(one.pid) != one.started:
            continue
        tree.send(signal.SIGKILL, one.pid)
        with suppress(OSError):
            os.kill(one.pid, signal.SIGKILL)
            ended.append(one)
    return tuple(ended)
