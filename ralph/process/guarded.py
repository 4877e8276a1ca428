"""One guardian and its program as the supervisor sees them: start, orders, reports, end."""

from __future__ import annotations

import errno
import marshal
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from ralph.facts.ending import Exited, How, NotStarted, Poisoned, Signalled, Survivor
from ralph.facts.job import Job, Logs, StdinPipe
from ralph.process import system, tree
from ralph.process.pipes import Inlet, Outlet
from ralph.process.program import Missing, find_program
from ralph.process.rawlog import RawLog

GUARDIAN = Path(__file__).with_name("guardian.py")
NEVER = 1e18
_TAIL = 8 << 10


@dataclass(frozen=True, slots=True)
class Interpreter:
    """What runs guardians: outside the work tree if it can be (E14)."""

    python: str = field(default_factory=lambda: sys.executable)
    guardian: Path = GUARDIAN


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


def start(job: Job, *, hard_at: float, by: Interpreter, others: frozenset[int]) -> Started | NotStarted:
    """Start a program under a guardian of its own.

    hard_at: monotonic second at which the guardian ends it unasked. others: pids of guardians already running.
    NotStarted here: the program is not there, or the guardian itself could not be started. A program that the kernel
    refuses is reported by the guardian, see `Guarded.how`.
    """
    path = _resolve(job)
    if isinstance(path, NotStarted):
        return path
    order = (path, [os.fsencode(arg) for arg in job.argv], {os.fsencode(k): os.fsencode(v) for k, v in job.env.items()})
    rules = {"keep": tuple(map(os.fsencode, job.keep)), "grace_s": job.time.grace_s, "hard_at": hard_at}
    try:
        return _start(job, marshal.dumps((order, rules)), by=by, foreign=others | {*system.children(os.getpid())})
    except OSError as error:
        where = f": {os.fsdecode(error.filename)}" if error.filename else ""
        return NotStarted(error.errno or errno.EIO, f"{error.strerror}{where}")


def _start(job: Job, order: bytes, *, by: Interpreter, foreign: frozenset[int]) -> Started:
    with ExitStack() as ours, ExitStack() as theirs:

        def pipe(*, reads: ExitStack, writes: ExitStack) -> tuple[int, int]:
            read, write = os.pipe()
            reads.callback(os.close, read)
            writes.callback(os.close, write)
            return read, write

        out, child_out = pipe(reads=ours, writes=theirs)
        err, child_err = pipe(reads=ours, writes=theirs)
        status, child_status = pipe(reads=ours, writes=theirs)
        child_life, life = pipe(reads=theirs, writes=ours)
        if isinstance(job.stdin, StdinPipe):
            child_in, stdin = pipe(reads=theirs, writes=ours)
            inlet = Inlet(stdin, job.stdin.first)
        else:
            child_in, inlet = _unlinked_file(job.stdin.data), None
            theirs.callback(os.close, child_in)
        order_fd = _unlinked_file(order)
        theirs.callback(os.close, order_fd)
        passed = (child_life, child_status, order_fd)
        process = subprocess.Popen(
            [by.python, "-I", "-S", str(by.guardian), *map(str, passed)],
            stdin=child_in,
            stdout=child_out,
            stderr=child_err,
            pass_fds=passed,
            start_new_session=True,
            cwd=job.cwd,
            env=_guardian_environment(job.env),
        )
        ours.pop_all()
        logs = _raw_logs(job.logs)
        return Started(
            Guarded(process, title=job.argv[0], life=life, status=status, foreign=foreign),
            Outlet(out, log=logs[0], line_cap=job.line_cap),
            Outlet(err, log=logs[1], line_cap=job.line_cap, tail_bytes=_TAIL),
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


def _guardian_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Return the mark by which leftovers are found, and where our interpreter's libraries are if not in their place."""
    mark = {"RALPH_RUN": env["RALPH_RUN"]} if "RALPH_RUN" in env else {}
    return mark | {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH") if name in os.environ}


def _unlinked_file(data: bytes) -> int:
    """Return a descriptor to read these bytes from, of a file that has no name any more."""
    if not data:
        return os.open(os.devnull, os.O_RDONLY)
    writer, name = tempfile.mkstemp(prefix="ralph-")
    try:
        with open(writer, "wb") as file:
            file.write(data)
        return os.open(name, os.O_RDONLY | os.O_CLOEXEC)
    finally:
        Path(name).unlink()


def _name(hexadecimal: str) -> str:
    return bytes.fromhex(hexadecimal).decode(errors="replace")
