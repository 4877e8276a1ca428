"""Starts the process of a guardian, before or after its program is known: it waits for "go" and then reads its order.

A guardian that waits has started nothing and holds nothing of the work; it leaves when we close its life-line or die.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from ralph.facts.job import Job, StdinPipe

GUARDIAN = Path(__file__).with_name("guardian.py")
GO = b"go\n"


@dataclass(frozen=True, slots=True)
class Interpreter:
    """What runs guardians: outside the work tree if it can be (E14)."""

    python: str = field(default_factory=lambda: sys.executable)
    guardian: Path = GUARDIAN


@dataclass(frozen=True, slots=True)
class Booted:
    """A guardian waiting for its order, with our ends of its pipes.

    stdin: where the program's input is written: a pipe if it is conversed with, else a file without a name.
    order: a file without a name as well. place: the folder it stands in, as (device, inode).
    """

    process: subprocess.Popen[bytes]
    life: int
    status: int
    out: int
    err: int
    stdin: int
    order: int
    conversed: bool
    cwd: Path
    place: tuple[int, int]
    env: Mapping[str, str]
    by: Interpreter

    def fits(self, job: Job, *, by: Interpreter) -> bool:
        """Return whether it can take this job as well as one started for it, and is still there."""
        same = (self.conversed, self.cwd, self.env, self.by) == (_conversed(job), job.cwd, _environment(job.env), by)
        return same and self.place == _place(job.cwd) and self.process.poll() is None

    def go(self, order: bytes, stdin: bytes) -> None:
        """Hand over the order and the input of a program that is not conversed with. Raises: OSError."""
        written = ((self.order, order),) if self.conversed else ((self.order, order), (self.stdin, stdin))
        for fd, data in written:
            with open(fd, "wb") as file:
                file.write(data)
        with suppress(BrokenPipeError):  # it was killed meanwhile, which its status pipe tells
            os.write(self.life, GO)

    def drop(self) -> None:
        """End it; it has started nothing."""
        self.process.kill()
        self.process.wait()
        for fd in (self.life, self.status, self.out, self.err, self.stdin, self.order):
            with suppress(OSError):
                os.close(fd)


def boot(job: Job, *, by: Interpreter) -> Booted:
    """Start a guardian for a job like this one. Raises: OSError."""
    conversed, env, place = _conversed(job), _environment(job.env), _place(job.cwd)
    with ExitStack() as ours, ExitStack() as theirs:

        def pipe(*, reads: ExitStack, writes: ExitStack) -> tuple[int, int]:
            return kept(os.pipe(), reads=reads, writes=writes)

        out, child_out = pipe(reads=ours, writes=theirs)
        err, child_err = pipe(reads=ours, writes=theirs)
        status, child_status = pipe(reads=ours, writes=theirs)
        child_life, life = pipe(reads=theirs, writes=ours)
        child_in, stdin = kept(os.pipe() if conversed else _unlinked(), reads=theirs, writes=ours)
        child_order, order = kept(_unlinked(), reads=theirs, writes=ours)
        passed = (child_life, child_status, child_order)
        process = subprocess.Popen(
            [by.python, "-I", "-S", str(by.guardian), *map(str, passed)],
            stdin=child_in,
            stdout=child_out,
            stderr=child_err,
            pass_fds=passed,
            start_new_session=True,
            cwd=job.cwd,
            env=env,
        )
        ours.pop_all()
        return Booted(process, life, status, out, err, stdin, order, conversed, job.cwd, place, env, by)


def kept(ends: tuple[int, int], *, reads: ExitStack, writes: ExitStack) -> tuple[int, int]:
    """Note who closes which of two descriptors, the read end first, and return them."""
    for stack, fd in zip((reads, writes), ends, strict=True):
        stack.callback(os.close, fd)
    return ends


def _conversed(job: Job) -> bool:
    return isinstance(job.stdin, StdinPipe)


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
