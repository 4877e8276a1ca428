"""Where a run's files lie: outside the work tree, private, one folder a tree and one a run (design 2.5).

<state>/<name>-<10 hex of sha256 of the top's real path>/runs/<run>/journal.jsonl …
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ralph.errors import UserError
from ralph.facts.reason import Reason
from ralph.journal.effects import storage_error

RUN_ID = re.compile(r"[0-9a-z-]{1,40}\Z")
ELSEWHERE = "Name another place with `--state-dir DIR`."


@dataclass(frozen=True, slots=True)
class RunDir:
    """The folder of one run. Nothing here creates anything but `made`."""

    path: Path

    @property
    def id(self) -> str:
        """Return the run's id, like 20261130-0512-7f3a."""
        return self.path.name

    @property
    def journal(self) -> Path:
        """Return the path of the journal."""
        return self.path / "journal.jsonl"

    @property
    def summary(self) -> Path:
        """Return the path of the summary."""
        return self.path / "summary.json"

    @property
    def suites(self) -> Path:
        """Return the folder of test results by digest."""
        return self.path / "suites"

    def iteration(self, number: int) -> Path:
        """Return the folder of raw output of one iteration; 0 is the baseline."""
        return self.path / "iterations" / f"{number:04d}"

    def made(self, folder: Path) -> Path:
        """Create a folder inside this run, 0700, and return it. Raises: UserError (storage)."""
        part = self.path
        for name in folder.relative_to(self.path).parts:
            part = part / name
            _make(part)
        return folder


@dataclass(frozen=True, slots=True)
class Places:
    """The folder of one work tree inside the state directory. Looking creates nothing; `prepare` and `new_run` do."""

    base: Path
    path: Path

    @classmethod
    def of(cls, top: Path, *, state_dir: str | None, environ: Mapping[str, str]) -> Places:
        """Return the places of a work tree, checked as far as they exist.

        Raises: UserError: no home (usage); inside the work tree, a link, foreign or writable by others (refused).
        """
        real = Path(os.path.realpath(top))
        base = Path(os.path.abspath(state_dir)) if state_dir is not None else _platform(environ)  # noqa: PTH100
        if Path(os.path.realpath(base)).is_relative_to(real):
            raise _refused(base, "the state directory lies inside the work tree, where the agent writes")
        name = re.sub(r"[^A-Za-z0-9._-]", "-", real.name)[:40].lstrip(".-") or "root"
        digest = _digest(real)
        places = cls(base, base / f"{name}-{digest}")
        for folder in (base, places.path, places.path / "runs"):
            _check(folder, missing_ok=True)
        return places

    @property
    def store(self) -> Path:
        """Return the private object store of saved trees."""
        return self.path / "store.git"

    @property
    def accepted(self) -> Path:
        """Return the file with the hashes of every configuration and prompt file obeyed so far."""
        return self.path / "accepted.json"

    @property
    def holder(self) -> Path:
        """Return the file that says who holds the tree; the truth is the lock."""
        return self.path / "holder.json"

    def holder_of(self, top: Path) -> Path:
        """Return the note for one work tree: of a linked tree made for a run, a file of its own."""
        digest = _digest(Path(os.path.realpath(top)))
        return self.holder if self.path.name.endswith(f"-{digest}") else self.path / f"holder-{digest}.json"

    def worktree(self, run: RunDir) -> Path:
        """Return the folder in which the linked work tree of a run is made, away from every record."""
        return self.base / "worktrees" / run.id

    def prepare(self) -> None:
        """Create the folders and see that they can be written.

        Raises: UserError: unsafe (refused), read-only or full (storage), each with the fix.
        """
        if not self.base.exists():
            try:
                self.base.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            except OSError as error:
                raise storage_error(
                    "cannot create the state directory", error, where=self.base, fix=ELSEWHERE
                ) from None
        for folder in (self.base, self.path, self.path / "runs"):
            _make(folder)
            _check(folder, missing_ok=False)

    def new_run(self, now: datetime) -> RunDir:
        """Create the folder of a new run and return it; ids sort by time of creation.

        Raises: UserError (refused, storage).
        """
        self.prepare()
        while True:
            run = RunDir(self.path / "runs" / _run_id(now))
            try:
                run.path.mkdir(mode=0o700)
            except FileExistsError:
                now += timedelta(milliseconds=1)
                continue
            except OSError as error:
                raise storage_error("cannot create a run", error, where=run.path, fix=ELSEWHERE) from None
            return run

    def runs(self) -> tuple[RunDir, ...]:
        """Return the runs of this tree, newest first. Links and names that are no run id are left out."""
        try:
            with os.scandir(self.path / "runs") as entries:
                names = [e.name for e in entries if RUN_ID.match(e.name) and e.is_dir(follow_symlinks=False)]
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except OSError as error:
            raise storage_error("cannot read the state directory", error, where=self.path, fix=ELSEWHERE) from None
        return tuple(RunDir(self.path / "runs" / name) for name in sorted(names, reverse=True))

    def find(self, prefix: str | None) -> RunDir:
        """Return the run whose id begins so, None: the newest. The text never becomes a path (S12).

        Raises: UserError (usage): none or several fit; the candidates are named.
        """
        runs = self.runs()
        if not runs:
            raise UserError("no run is recorded for this tree", where=str(self.path), fix="Start one with `ralph run`.")
        if prefix is None:
            return runs[0]
        found = [run for run in runs if run.id.startswith(prefix)] if RUN_ID.match(prefix) else []
        exact = [run for run in found if run.id == prefix]
        if len(exact or found) == 1:
            return (exact or found)[0]
        listed = ", ".join(run.id for run in (found or runs)[:10])
        what = f"several runs begin with {prefix!r}" if found else f"no run begins with {prefix!r}"
        raise UserError(what, where="--run", fix=f"Runs here, newest first: {listed}.")


def _digest(real: Path) -> str:
    return hashlib.sha256(os.fsencode(real)).hexdigest()[:10]


def _run_id(now: datetime) -> str:
    """Return date, minute, and the place inside the minute as four hex digits (about a millisecond each)."""
    now = now.astimezone(UTC)
    inside = (now.second * 1_000_000 + now.microsecond) * 0xFFFF // 60_000_000
    return f"{now:%Y%m%d-%H%M}-{inside:04x}"


def _platform(environ: Mapping[str, str]) -> Path:
    """Return the platform's state directory for ralph; a relative XDG_STATE_HOME counts as unset, as its spec says."""
    given, home = environ.get("XDG_STATE_HOME", ""), environ.get("HOME", "")
    if given.startswith("/"):
        return Path(given) / "ralph"
    if not home.startswith("/"):
        raise UserError("HOME is not set, so there is no place for the state of a run", fix=ELSEWHERE)
    if sys.platform == "linux":
        # What platformdirs answers, without its import, and from the environment handed in.
        return Path(home) / ".local" / "state" / "ralph"
    import platformdirs

    return Path(platformdirs.user_state_path("ralph", appauthor=False))


def _refused(folder: Path, what: str) -> UserError:
    return UserError(what, where=str(folder), fix=ELSEWHERE, reason=Reason.REFUSED)


def _check(folder: Path, *, missing_ok: bool) -> None:
    """See that a folder is a real one, ours, and writable by nobody else (S6, E13). Raises: UserError (refused)."""
    try:
        info = folder.lstat()
    except FileNotFoundError:
        if missing_ok:
            return
        raise storage_error("the state directory vanished", where=folder, fix=ELSEWHERE) from None
    except OSError as error:
        raise storage_error("cannot read the state directory", error, where=folder, fix=ELSEWHERE) from None
    if not stat.S_ISDIR(info.st_mode):
        raise _refused(folder, "the state directory is a link or a file, not a folder")
    if info.st_uid != os.geteuid():
        raise _refused(folder, f"the state directory belongs to user {info.st_uid}, not to us")
    if info.st_mode & 0o022:
        raise _refused(folder, f"others can write to the state directory (mode {info.st_mode & 0o7777:04o})")


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise storage_error("cannot write to the state directory", error, where=folder, fix=ELSEWHERE) from None
    if not os.access(folder, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
        raise storage_error("cannot write to the state directory", where=folder, fix=ELSEWHERE)
