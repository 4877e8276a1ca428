"""Our own way to start git: argv, an environment from nothing, own group, time-out, output cap, a table of commands.

Nothing an agent plants in a repository may run through us. `status`, `add`, `diff` and their like run the filters and
monitors that a repository's configuration names, so `policy` leaves them out or allows them only on git directories
that ralph made itself (`Git.adopt`), whose configuration is ours.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ralph.errors import UserError
from ralph.facts.reason import Reason
from ralph.repo.policy import ENVIRONMENT, SETTINGS, check

OLDEST = (2, 32)
"""The oldest git that knows GIT_CONFIG_GLOBAL, without which the user's own configuration could not be shut out."""

OUTPUT_CAP = 1 << 30
DRAIN_S = 0.25

Cutoff = Literal["", "timed-out", "too-much", "not-started"]


@dataclass(frozen=True, slots=True)
class GitResult:
    """What one git command gave. code: exit code, negative for a signal. cut: why we ended it, "" if we did not."""

    code: int
    out: bytes
    err: bytes
    cut: Cutoff = ""

    @property
    def ok(self) -> bool:
        """Return whether it ran to its end and exited 0."""
        return self.code == 0 and not self.cut

    @property
    def complaint(self) -> str:
        """Return one line on what went wrong; foreign text, to be sanitised by whoever shows it."""
        told = self.err.decode("utf-8", "replace").strip().splitlines()
        return self.cut or (told[0] if told else f"exit {self.code}")


class Running:
    """A started git command. pid: None where it could not be started; see: waits for its end."""

    def __init__(self, pid: int | None, pipes: tuple[int, ...], see: Callable[[], GitResult]) -> None:
        self._pid = pid
        self._pipes = pipes
        self._see = see

    def finish(self) -> GitResult:
        """Wait for its end and return what it gave."""
        try:
            return self._see()
        finally:
            self._close()

    def drop(self) -> None:
        """End it: nobody wants to know any more."""
        if self._pid is not None:
            _kill_group(self._pid)
            os.waitpid(self._pid, 0)
        self._close()

    def _close(self) -> None:
        for pipe in self._pipes:
            os.close(pipe)


class Git:
    """Starts git. program: absolute path of the binary, found once and kept."""

    def __init__(
        self, program: Path, *, clock: Callable[[], float] = time.monotonic, output_cap: int = OUTPUT_CAP
    ) -> None:
        self.program = program
        self._clock = clock
        self._cap = output_cap
        self._ours: list[str] = []
        settings = [part for key, value in SETTINGS.items() for part in ("-c", f"{key}={value}")]
        self._start = [str(program), "--no-pager", *settings]

    def adopt(self, directory: Path) -> None:
        """Declare that a git directory, and all below it, was made by us: `OURS_ONLY` commands may use it."""
        self._ours.append(f"{directory}{os.sep}")

    def run(
        self,
        args: Sequence[str],
        *,
        git_dir: Path | None = None,
        work_tree: Path | None = None,
        index: Path | None = None,
        stdin: bytes = b"",
        timeout_s: float = 60.0,
        extra_env: Mapping[str, str] | None = None,
    ) -> GitResult:
        """Run one command of the table to its end. Never raises for what git does; see `GitResult.cut`.

        git_dir: explicit always, so that git neither searches nor judges who owns it; None only for `version`.
        """
        return self.begin(
            args,
            git_dir=git_dir,
            work_tree=work_tree,
            index=index,
            stdin=stdin,
            timeout_s=timeout_s,
            extra_env=extra_env,
        ).finish()

    def begin(
        self,
        args: Sequence[str],
        *,
        git_dir: Path | None = None,
        work_tree: Path | None = None,
        index: Path | None = None,
        stdin: bytes = b"",
        timeout_s: float = 60.0,
        extra_env: Mapping[str, str] | None = None,
    ) -> Running:
        """Start a command as `run` does, to be finished or dropped later, in any case."""
        ours = git_dir is not None and f"{git_dir}{os.sep}".startswith(tuple(self._ours))
        check(args, ours=ours, placed=git_dir is not None)
        env = dict(ENVIRONMENT, **(extra_env or {}))
        for name, value in (("GIT_DIR", git_dir), ("GIT_WORK_TREE", work_tree), ("GIT_INDEX_FILE", index)):
            if value is not None:
                env[name] = str(value)
        place = str(work_tree or git_dir or "/")
        return self._started([*self._start, "-C", place, *args], env, stdin, self._clock() + timeout_s)

    def version(self) -> tuple[int, ...]:
        """Return its version. Raises: UserError (refused) when it does not run or is older than `OLDEST`."""
        told = self.run(["version"])
        found = re.search(rb"(\d+)\.(\d+)(?:\.(\d+))?", told.out)
        if not told.ok or not found:
            raise UserError(f"{self.program} does not run: {told.complaint}", reason=Reason.REFUSED)
        version = tuple(int(part or 0) for part in found.groups())
        if version[:2] < OLDEST:
            wanted = ".".join(map(str, OLDEST))
            raise UserError(
                f"git {'.'.join(map(str, version))} is too old",
                where=str(self.program),
                fix=f"Install git {wanted} or newer.",
                reason=Reason.REFUSED,
            )
        return version

    def _started(self, argv: list[str], env: dict[str, str], stdin: bytes, deadline: float) -> Running:
        feed = _as_file(stdin) if stdin else os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        out_r, out_w = os.pipe()
        err_r, err_w = os.pipe()
        try:
            moves = [(os.POSIX_SPAWN_DUP2, here, there) for here, there in ((feed, 0), (out_w, 1), (err_w, 2))]
            pid = os.posix_spawn(
                argv[0], argv, env, file_actions=moves, setpgroup=0, setsigmask=(), setsigdef=_DEFAULTS
            )
        except OSError as error:
            os.close(out_r)
            os.close(err_r)
            failed = GitResult(127, b"", str(error).encode(), "not-started")
            return Running(None, (), lambda: failed)
        finally:
            os.close(out_w)
            os.close(err_w)
            os.close(feed)
        return Running(pid, (out_r, err_r), lambda: self._seen_to_its_end(pid, out_r, err_r, deadline))

    def _seen_to_its_end(self, pid: int, out_r: int, err_r: int, deadline: float) -> GitResult:
        told: dict[int, list[bytes]] = {out_r: [], err_r: []}
        cut = self._drained(pid, told, deadline)
        if cut or sys.platform == "linux":  # it has left: only stragglers hear this, and its pid is not free yet
            _kill_group(pid)
        _, status = os.waitpid(pid, 0)
        return GitResult(os.waitstatus_to_exitcode(status), b"".join(told[out_r]), b"".join(told[err_r]), cut)

    def _drained(self, pid: int, told: dict[int, list[bytes]], deadline: float) -> Cutoff:
        """Read both pipes until they end, or until the child has left and `DRAIN_S` more have passed."""
        poll = select.poll()
        for pipe in told:
            poll.register(pipe, select.POLLIN)
        leaving = _exit_descriptor(pid)
        if leaving >= 0:
            poll.register(leaving, select.POLLIN)
        still_open, size, left = len(told), 0, False
        try:
            while still_open:
                wait_s = deadline - self._clock()
                ready = poll.poll(max(0.0, wait_s) * 1000)
                if not ready:
                    return "" if left else "timed-out"
                for pipe, _ in ready:
                    if pipe == leaving:
                        poll.unregister(leaving)
                        left, deadline = True, min(deadline, self._clock() + DRAIN_S)
                        continue
                    chunk = os.read(pipe, 1 << 18)
                    if not chunk:
                        poll.unregister(pipe)
                        still_open -= 1
                    told[pipe].append(chunk)
                    size += len(chunk)
                if size > self._cap:
                    return "too-much"
        finally:
            if leaving >= 0:
                os.close(leaving)
        return "" if left else self._left(pid, deadline)

    def _left(self, pid: int, deadline: float) -> Cutoff:
        """Wait for a child that closed its pipes; one that stays all the same is cut at the deadline."""
        leaving = _exit_descriptor(pid)
        if leaving < 0:
            return ""
        try:
            poll = select.poll()
            poll.register(leaving, select.POLLIN)
            ready = poll.poll(max(0.0, deadline - self._clock()) * 1000)
        finally:
            os.close(leaving)
        return "" if ready else "timed-out"


def find_git(search: str | None = None) -> Git:
    """Return the git on PATH (search: another PATH), its version checked. Raises: UserError (refused)."""
    program = shutil.which("git", path=search)
    if program is None:
        raise UserError(
            "no git on PATH", fix=f"Install git {'.'.join(map(str, OLDEST))} or newer.", reason=Reason.REFUSED
        )
    git = Git(Path(os.path.realpath(program)))
    git.version()
    return git


_DEFAULTS = (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _as_file(data: bytes) -> int:
    """Return a descriptor to read the bytes from: a file, not a pipe, so that neither side can wait for the other."""
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        return os.dup(file.fileno())


def _exit_descriptor(pid: int) -> int:
    """Return a descriptor that gets readable when the child leaves, -1 where the system has none."""
    if sys.platform != "linux":
        return -1
    try:
        return os.pidfd_open(pid)
    except OSError:
        return -1


def _kill_group(pid: int) -> None:
    """End what is left of the group; called before the child is reaped, so that its number cannot be another's."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
