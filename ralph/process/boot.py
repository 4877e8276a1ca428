"""Starts the process of a guardian, before or after its program is known: it waits for "go" and then reads its order.

A guardian that waits has started nothing and holds nothing of the work; it leaves when we close its life-line or die.
"""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from importlib.machinery import SourceFileLoader
from pathlib import Path

from ralph.facts.job import Job, StdinBytes, StdinPipe
from ralph.process.pipes import Inlet

GUARDIAN = Path(__file__).with_name("guardian.py")
GO = b"go\n"


_START = "import marshal,os,sys;exec(marshal.loads(os.read(int(sys.argv[3]),int(sys.argv[4]))))"
"""Runs the code that stands at the beginning of the order's file, and leaves the rest of it to be read."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """What runs guardians. code: compiled, held in memory where nobody changes it (E14); b"": the file is run."""

    python: str = field(default_factory=lambda: sys.executable)
    guardian: Path = GUARDIAN
    code: bytes = b""

    @classmethod
    def loaded(cls) -> Interpreter:
        """Return one that holds the guardian as it is now; each start then costs no compilation either."""
        return cls(code=marshal.dumps(SourceFileLoader("guardian", str(GUARDIAN)).get_code("guardian")))

    def argv(self, life: int, status: int, order: int) -> list[str]:
        """Return how a guardian is started with these descriptors."""
        numbers = [str(fd) for fd in (life, status, order)]
        if not self.code:
            return [self.python, "-I", "-S", str(self.guardian), *numbers]
        return [self.python, "-I", "-S", "-c", _START, *numbers, str(len(self.code))]


@dataclass(frozen=True, slots=True)
class Booted:
    """A guardian waiting for its order, with our ends of its pipes.

    talk: the pipe of a program that is conversed with. feed: the file without a name of one that is fed, its number
    in the guardian is `fed`. order: a file without a name as well. place: the folder it stands in, (device, inode).
    """

    process: subprocess.Popen[bytes]
    life: int
    status: int
    out: int
    err: int
    talk: int
    feed: int
    fed: int
    order: int
    cwd: Path
    place: tuple[int, int]
    env: Mapping[str, str]
    by: Interpreter

    def fits(self, job: Job, *, by: Interpreter) -> bool:
        """Return whether it can take this job as well as one started for it, and is still there."""
        same = (self.cwd, self.env, self.by) == (job.cwd, _environment(job.env), by)
        return same and self.place == _place(job.cwd) and self.process.poll() is None

    def go(self, order: bytes, stdin: StdinBytes | StdinPipe) -> Inlet | None:
        """Hand over the order and the program's input; return what it is conversed through. Raises: OSError."""
        fed = stdin.data if isinstance(stdin, StdinBytes) else b""
        for fd, data in ((self.order, order), (self.feed, fed)):
            with open(fd, "wb") as file:
                file.write(data)
        with suppress(BrokenPipeError):  # it was killed meanwhile, which its status pipe tells
            os.write(self.life, GO)
        if isinstance(stdin, StdinPipe):
            return Inlet(self.talk, stdin.first)
        os.close(self.talk)
        return None

    def opens(self, stdin: StdinBytes | StdinPipe) -> tuple[tuple[int | str, ...], ...]:
        """Return the file actions that give a program its input; the pipe it is conversed through is there already.

        A program without input gets the null device: some look at what kind of file their stdin is.
        """
        done = (os.POSIX_SPAWN_CLOSE, self.fed)
        if isinstance(stdin, StdinPipe):
            return (done,)
        if stdin.data:
            return (os.POSIX_SPAWN_DUP2, self.fed, 0), done
        return (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0), done

    def drop(self) -> None:
        """End it; it has started nothing."""
        self.process.kill()
        self.process.wait()
        for fd in (self.life, self.status, self.out, self.err, self.talk, self.feed, self.order):
            with suppress(OSError):
                os.close(fd)


def boot(job: Job, *, by: Interpreter) -> Booted:
    """Start a guardian for a job like this one. Raises: OSError."""
    env, place = _environment(job.env), _place(job.cwd)
    with ExitStack() as ours, ExitStack() as theirs:

        def pipe(*, reads: ExitStack, writes: ExitStack) -> tuple[int, int]:
            return kept(os.pipe(), reads=reads, writes=writes)

        out, child_out = pipe(reads=ours, writes=theirs)
        err, child_err = pipe(reads=ours, writes=theirs)
        status, child_status = pipe(reads=ours, writes=theirs)
        child_life, life = pipe(reads=theirs, writes=ours)
        child_in, talk = pipe(reads=theirs, writes=ours)
        child_fed, feed = kept(_unlinked(), reads=theirs, writes=ours)
        child_order, order = kept(_unlinked(), reads=theirs, writes=ours)
        os.write(order, by.code)
        process = subprocess.Popen(
            by.argv(child_life, child_status, child_order),
            stdin=child_in,
            stdout=child_out,
            stderr=child_err,
            pass_fds=(child_life, child_status, child_order, child_fed),
            start_new_session=True,
            cwd=job.cwd,
            env=env,
        )
        ours.pop_all()
        return Booted(process, life, status, out, err, talk, feed, child_fed, order, job.cwd, place, env, by)


def kept(ends: tuple[int, int], *, reads: ExitStack, writes: ExitStack) -> tuple[int, int]:
    """Note who closes which of two descriptors, the read end first, and return them."""
    for stack, fd in zip((reads, writes), ends, strict=True):
        stack.callback(os.close, fd)
    return ends


def _place(folder: Path) -> tuple[int, int]:
    """Return which folder this is, (0, 0) where there is none: starting there will say so."""
    try:
        found = folder.stat()
    except OSError:
        return (0, 0)
    return found.st_dev, found.st_ino


def _environment(env: Mapping[str, str]) -> dict[str, str]:
    """Return the mark by which leftovers are found, and where our interpreter's libraries are if not in their place."""
    mark = {"RALPH_RUN": env["RALPH_RUN"]} if "RALPH_RUN" in env else {}
    return mark | {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH") if name in os.environ}


def _unlinked() -> tuple[int, int]:
    """Return a descriptor to read and one to write a file that has no name any more."""
    writer, name = tempfile.mkstemp(prefix="ralph-")
    try:
        return os.open(name, os.O_RDONLY | os.O_CLOEXEC), writer
    except OSError:
        os.close(writer)
        raise
    finally:
        Path(name).unlink()
