"""`ralph logs`: what the agent and the tests of a run printed, made harmless for a terminal and a CI log.

Secrets of this environment and well-known tokens are taken out; `--raw` gives the bytes as they came.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ralph.cli.pick import RUN_OPTIONS, picked
from ralph.cli.sink import show, viewer
from ralph.encode.redact import LineRedactor
from ralph.encode.terminal import clean
from ralph.encode.workflow import behind_gutter
from ralph.errors import UserError
from ralph.journal.places import RunDir
from ralph.journal.read import Tail
from ralph.watching import Watching

PATIENCE_S = 2.0
"""While following, files are looked at so often even if nothing tells of a change."""
READ_BYTES = 1 << 20
TOLD = ("iteration_started", "iteration_finished", "waiting", "run_stopped")


@click.command()
@RUN_OPTIONS
@click.option("-n", "--iteration", type=int, metavar="N", help="One iteration; default: the newest. 0: the baseline.")
@click.option("-f", "--follow", is_flag=True, help="Go on as the run goes on; ends with it.")
@click.option("--raw", is_flag=True, help="Bytes as they came; for a pipe, never for a terminal.")
def logs(
    run: str | None, directory: str, state_dir: str | None, iteration: int | None, follow: bool, raw: bool
) -> None:
    """Print what the agent and the tests printed."""
    chosen = picked(run, directory, state_dir)
    if raw and sys.stdout.isatty():
        raise UserError("raw bytes could steer this terminal", where="--raw", fix="Send them to a file or a pipe.")
    if follow:
        Follower(chosen).follow()
        return
    number = _newest(chosen) if iteration is None else iteration
    files = _outputs(chosen.iteration(number))
    if not files:
        raise UserError(f"iteration {number} has no output", where=chosen.id)
    for file in files:
        _print(file, raw=raw)


def _newest(run: RunDir) -> int:
    numbers = [int(f.name) for f in (run.path / "iterations").glob("*") if f.name.isdigit()]
    return max(numbers, default=0)


def _outputs(folder: Path) -> list[Path]:
    return sorted(file for file in folder.glob("*") if file.is_file() and file.suffix != ".gz")


def _print(file: Path, *, raw: bool) -> None:
    if raw:
        sys.stdout.buffer.write(file.read_bytes())
        return
    show(f"── {file.parent.name}/{file.name}")
    redactor = viewer().lines()
    with open(file, encoding="utf-8", errors="replace", newline="\n") as lines:
        for line in lines:
            click.echo(foreign(line, redactor))


def foreign(line: str, redactor: LineRedactor) -> str:
    """Return a line of the agent's or the tests' as it is shown: behind the gutter, so that it cannot pose as ours."""
    return behind_gutter(redactor.line(clean(line.rstrip("\r\n"))))


class Follower:
    """Prints a run's output as it comes: each file from where it was left, no iteration passed over."""

    def __init__(self, run: RunDir) -> None:
        self._run = run
        self._tail = Tail(run.journal)
        self._watching = Watching(tell=lambda text: show(f"warning: {text}", err=True))
        self._redactor = viewer()
        self._number = _newest(run)
        self._shown: dict[Path, int] = {}
        self._lines: dict[Path, LineRedactor] = {}

    def follow(self) -> None:
        """Print until the run has stopped. Ctrl-C ends it."""
        while not self._look():
            folder = self._run.iteration(self._number)
            self._watching.wait(*(f for f in (self._run.path, folder) if f.is_dir()), patience_s=PATIENCE_S)

    def _look(self) -> bool:
        """Print what is new; return whether the run has stopped."""
        kinds = [record.kind for record in self._tail.fresh()]
        stopped, newest = "run_stopped" in kinds, _newest(self._run)
        for number in range(self._number, newest + 1):
            for file in _outputs(self._run.iteration(number)):
                self._print_new(file, whole=stopped or number < newest)
        self._number = newest
        for kind in kinds:
            if kind in TOLD:
                click.echo(f"── {kind.replace('_', ' ')}")
        return stopped

    def _print_new(self, file: Path, *, whole: bool) -> None:
        """Print the lines added since the last time. whole: nothing more comes, so the last line is one too."""
        redactor = self._lines.setdefault(file, self._redactor.lines())
        with open(file, "rb") as data:
            data.seek(self._shown.get(file, 0))
            while line := data.readline(READ_BYTES):
                if not line.endswith(b"\n") and len(line) < READ_BYTES and not whole:
                    return  # the rest of it is still to come
                self._shown[file] = data.tell()
                click.echo(foreign(line.decode("utf-8", "replace"), redactor))
