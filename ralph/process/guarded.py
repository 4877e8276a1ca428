"""One guardian and its program as the supervisor sees them: start, orders, reports, end."""

from __future__ import annotations

import errno
import marshal
import os
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass

from ralph.facts.ending import Exited, How, NotStarted, Poisoned, Signalled, Survivor
from ralph.facts.job import Job, Logs
from ralph.process import system, tree
from ralph.process.boot import Booted, Interpreter, boot
from ralph.process.pipes import Inlet, Outlet
from ralph.process.program import Missing, find_program
from ralph.process.rawlog import RawLog

NEVER = 1e18
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_TAIL = 8 << 10


class Guarded:
    """A started guardian. Descriptors: status and pidfd turn readable when there is news; `hear` takes it.

    title: the program, for messages. foreign: children of ours that are not its tree. how: None while the program
    runs. over: it and its tree are gone, but for those kept. survivors: in the order they were found.
    """

    def __init__(
        self, process: subprocess.Popen[bytes], *, title: str, life: int, status: int, foreign: frozenset[int]
    ) -> None:
        self._process = process
        self._title = title
        self._life = life
        self._foreign = foreign
        self._buffer = b""
        self.reporting = True
        self._said_over = False
        os.set_blocking(status, False)
        self.status = status
        self.pidfd = system.watch_pid(process.pid)
        self.how: How | None = None
        self.over = False
        self.program: int | None = None
        self.survivors: list[Survivor] = []
        self.keeps = False
        self.cpu_s: float | None = None

    @property
    def pid(self) -> int:
        """Return the guardian's pid."""
        return self._process.pid

    def order(self, what: str, *, in_s: float = 0.0) -> None:
        """Tell the guardian that something is to happen so many seconds from now; a dead one hears nothing."""
        with suppress(OSError):
            os.write(self._life, f"{what} {in_s}\n".encode())
            # The agent may have stopped it. A dead one, whose pid may be another's by now, failed the write.
            os.kill(self.pid, signal.SIGCONT)

    def hear(self) -> None:
        """Take the reports that are there, and notice the guardian's end."""
        ended = self._read()
        gone = self._process.poll() is not None
        if gone:
            self._read()
        if self._said_over and self.keeps:
            self.over = True
        elif gone or (ended and self.pidfd is None):
            self._process.wait()
            self._conclude()

    def kill(self) -> None:
        """Kill the guardian, which has stopped obeying; its orphans come to us and `hear` ends them."""
        self._process.kill()

    def abandon(self) -> None:
        """End everything now, whatever state it is in; return when nothing is left (a bug of ours is on its way)."""
        self.order("kill")
        self.order("end")
        self.order("sweep")
        with suppress(OSError):
            os.close(self._life)
        self._life = -1
        try:
            self._process.wait(timeout=3.0)
        except subprocess.TimeoutExpired:
            self.kill()
            self._process.wait()
        self._conclude()

    def release(self) -> None:
        """Close our ends; a guardian that keeps somebody ends it now, and is waited for."""
        if self._life >= 0:
            with suppress(OSError):
                os.close(self._life)
            self._life = -1
        if self.pidfd is not None:
            os.close(self.pidfd)
            self.pidfd = None
        if self.status >= 0:
            os.close(self.status)
            self.status = -1
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5.0)
        if self._process.returncode is None:
            self._process.kill()
            self._process.wait()
            tree.end_orphans(self._foreign)

    def _read(self) -> bool:
        """Take report lines; return whether the pipe has ended."""
        try:
            while chunk := os.read(self.status, 65536):
                self._buffer += chunk
                *lines, self._buffer = self._buffer.split(b"\n")
                for line in lines:
                    self._report(line.decode(errors="replace").split(" "))
        except BlockingIOError:
            return False
        self.reporting = False
        return True

    def _report(self, words: list[str]) -> None:
        match words:
            case ["started", pid, *_]:
                self.program = int(pid)
            case ["failed", number]:
                self.how = NotStarted(int(number), f'{os.strerror(int(number))}: "{self._title}"')
                self._said_over = True
            case ["exit", code]:
                self.how = Signalled(-int(code)) if int(code) < 0 else Exited(int(code))
            case ["left", pid, name]:
                self.survivors.append(Survivor(int(pid), _name(name)))
            case ["over", cpu_s, *kept]:
                self.cpu_s = float(cpu_s)
                self.keeps = bool(kept)
                for one in kept:
                    pid, _, name = one.partition(":")
                    self.survivors.append(Survivor(int(pid), _name(name), kept=True))
                self._said_over = True
            case _:
                raise AssertionError(f"guardian said {words!r}")

    def _conclude(self) -> None:
        if not self._said_over:
            self.survivors += tree.end_orphans(self._foreign)
            self.how = Poisoned()
        self.over = True


@dataclass(frozen=True, slots=True)
class Started:
    """A guarded program with our ends of its pipes; inlet: None unless it is conversed with."""

    guarded: Guarded
    out: Outlet
    err: Outlet
    inlet: Inlet | None

    def close(self) -> None:
        """Close our ends of the pipes, and the logs. Calling it again does nothing."""
        self.out.end()
        self.err.end()
        if self.inlet is not None:
            self.inlet.close()


def start(
    job: Job, *, hard_at: float, by: Interpreter, others: frozenset[int], ahead: Booted | None = None
) -> Started | NotStarted:
    """Start a program under a guardian of its own.

    hard_at: monotonic second at which the guardian ends it unasked. others: pids of guardians already running.
    ahead: a guardian that waits and fits; it is used up, whatever happens.
    NotStarted here: the program is not there, or the guardian itself could not be started. A program that the kernel
    refuses is reported by the guardian, see `Guarded.how`. Raises: OSError where the disk is full.
    """
    path = _resolve(job)
    if isinstance(path, NotStarted):
        if ahead is not None:
            ahead.drop()
        return path
    foreign = others | {*system.children(os.getpid())}
    try:
        booted = ahead or boot(job, by=by)
        order = _order(job, path, opens=booted.opens(job.stdin), hard_at=hard_at)
        return _begun(job, booted, order, foreign=foreign - {booted.process.pid})
    except OSError as error:
        if error.errno in _FULL:
            raise  # no fault of the program: nothing that ralph must write would find room
        where = f": {os.fsdecode(error.filename)}" if error.filename else ""
        return NotStarted(error.errno or errno.EIO, f"{error.strerror}{where}")


def _order(job: Job, path: bytes, *, opens: tuple[tuple[int | str, ...], ...], hard_at: float) -> bytes:
    env = {os.fsencode(k): os.fsencode(v) for k, v in job.env.items()}
    rules = {"keep": tuple(map(os.fsencode, job.keep)), "grace_s": job.time.grace_s, "hard_at": hard_at}
    return marshal.dumps(((path, [os.fsencode(arg) for arg in job.argv], env, opens), rules))


def _begun(job: Job, booted: Booted, order: bytes, *, foreign: frozenset[int]) -> Started:
    try:
        logs = _raw_logs(job.logs)
        inlet = booted.go(order, job.stdin)
    except OSError:
        booted.drop()
        raise
    guarded = Guarded(booted.process, title=job.argv[0], life=booted.life, status=booted.status, foreign=foreign)
    return Started(
        guarded,
        Outlet(booted.out, log=logs[0], line_cap=job.line_cap),
        Outlet(booted.err, log=logs[1], line_cap=job.line_cap, tail_bytes=_TAIL),
        inlet,
    )


def _raw_logs(logs: Logs | None) -> tuple[RawLog | None, RawLog | None]:
    if logs is None:
        return None, None
    return RawLog(logs.out, cap_bytes=logs.cap_bytes), RawLog(logs.err, cap_bytes=logs.cap_bytes)


def _resolve(job: Job) -> bytes | NotStarted:
    """Return what to execute: a bare name is looked up in the child's own PATH, a path is for the kernel to judge."""
    name = job.argv[0]
    if "/" in name:
        return os.fsencode(name)
    found = find_program(name, path=job.env.get("PATH", os.defpath), cwd=job.cwd, outside=None)
    if isinstance(found, Missing):
        return NotStarted(errno.ENOENT, str(found))
    return os.fsencode(found)


def _name(hexadecimal: str) -> str:
    return bytes.fromhex(hexadecimal).decode(errors="replace")
