"""macOS, best effort and untested: no sub-reaper and no process descriptors, so daemons that fork twice get away."""

from __future__ import annotations

import psutil


def unsupported() -> str | None:
    """Return why ralph cannot run here at all, None if it can: the weaker promise is said in the README."""
    return None


def adopt_orphans() -> None:
    """Do nothing: orphans go to launchd here."""


def harden() -> None:
    """Do nothing: macOS guards the memory of other processes by itself (task ports)."""


def watch_pid(pid: int) -> int | None:
    """Return None: the guardian's status pipe alone tells of its end."""
    return None


def children(pid: int) -> list[int]:
    """Return the pids of the direct children, [] if the process is gone."""
    try:
        return [child.pid for child in psutil.Process(pid).children()]
    except psutil.Error:
        return []


def parent(pid: int) -> int | None:
    """Return the parent's pid, None if the process is gone."""
    try:
        return psutil.Process(pid).ppid()
    except psutil.Error:
        return None


def started(pid: int) -> int | None:
    """Return when the process started, in milliseconds of wall time."""
    try:
        return int(psutil.Process(pid).create_time() * 1000)
    except psutil.Error:
        return None


def name(pid: int) -> str:
    """Return the process's name, "?" if it is gone or foreign."""
    try:
        return psutil.Process(pid).name()
    except psutil.Error:
        return "?"


def cpu_s(pid: int) -> float:
    """Return user and system seconds of a process alone, 0.0 if it is gone or foreign."""
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)
