"""The file a test command is to leave its report in: a fresh place before the run, a suspicious look after it (E3)."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ralph.facts.settings import Command
from ralph.testreports.junit import SIZE

PLACEHOLDER = "{report}"
_NAME = "report"
_SHELLS = ("sh", "bash", "dash", "zsh", "ksh")


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A path that does not exist yet, in a folder made for this run alone; made_ns: by that file system's clock."""

    path: Path
    made_ns: int


def fresh(scratch: Path) -> ReportFile:
    """Return a new place for one report.

    Raises: OSError where scratch cannot be written.
    """
    folder = Path(tempfile.mkdtemp(dir=scratch, prefix="report-"))
    return ReportFile(folder / _NAME, folder.stat().st_mtime_ns)


def is_shell_text(command: Command) -> bool:
    """Return whether the command is one string given to a shell."""
    return len(command) >= 3 and Path(command[0]).name in _SHELLS and command[1] == "-c"


def wants_report(command: Command) -> bool:
    """Return whether the command says where its report goes."""
    return any(PLACEHOLDER in word for word in command)


def with_path(command: Command, path: Path) -> Command:
    """Return the command with the path in place of each {report}, quoted where a shell will read it."""
    quoted = shlex.quote(str(path))
    text = 2 if is_shell_text(command) else -1
    return tuple(word.replace(PLACEHOLDER, quoted if at == text else str(path)) for at, word in enumerate(command))


def taken(report: ReportFile) -> tuple[bytes | None, str | None]:
    """Return (bytes, None), or (None, why not) where no honest report lies there; never raises.

    Honest: a regular file of one name, not a link, at most 20 MiB, not older than the run.
    """
    try:
        descriptor = os.open(report.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None, "no report was written"
    except OSError as error:
        return None, f"report cannot be opened: {error.strerror}"
    try:
        if why := _objection(os.fstat(descriptor), report.made_ns):
            return None, why
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(SIZE + 1)
    except OSError as error:
        return None, f"report cannot be read: {error.strerror}"
    finally:
        os.close(descriptor)
    return (data, None) if len(data) <= SIZE else (None, f"report is larger than {SIZE >> 20} MiB")


def _objection(status: os.stat_result, made_ns: int) -> str | None:
    if not stat.S_ISREG(status.st_mode):
        return "report is not a regular file"
    if status.st_nlink != 1:
        return "report is a second name of another file"
    if status.st_size > SIZE:
        return f"report is larger than {SIZE >> 20} MiB"
    # Whole seconds are as fine as some file systems and archive tools go.
    if status.st_mtime_ns // 10**9 < made_ns // 10**9:
        return "report is older than the run"
    return None


def removed(report: ReportFile) -> None:
    """Remove the folder and what the command left there; what resists stays for the caller's own clean-up."""
    shutil.rmtree(report.path.parent, ignore_errors=True)
