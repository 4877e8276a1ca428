"""`ralph logs`: what the agent and the tests of a run printed, made harmless for a terminal."""

from __future__ import annotations

import select
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from ralph.cli.pick import RUN_OPTIONS, picked
from ralph.encode.terminal import clean
from ralph.errors import UserError
from ralph.journal.places import RunDir
from ralph.journal.read import Tail

GUTTER = "│ "
"""Before every foreign line, so that none can pose as one of ours (B9)."""
PAUSE_S = 0.5
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
        _follow(chosen)
        return
    number = _newest(chosen) if iteration is None else iteration
    folder = chosen.iteration(number)
    files = sorted(f for f in folder.glob("*") if f.is_file() and f.suffix != ".gz")
    if not files:
        raise UserError(f"iteration {number} has no output", where=chosen.id)
    for file in files:
        _print(file, raw=raw)


def _newest(run: RunDir) -> int:
    numbers = [int(f.name) for f in (run.path / "iterations").glob("*") if f.name.isdigit()]
    return max(numbers, default=0)


def _print(file: Path, *, raw: bool) -> None:
    if raw:
        sys.stdout.buffer.write(file.read_bytes())
        return
    click.echo(f"── {file.parent.name}/{file.name}")
    with open(file, encoding="utf-8", errors="replace", newline="\n") as lines:
        for line in lines:
            click.echo(GUTTER + clean(line.rstrip("\r\n")))


def _follow(run: RunDir) -> None:
    tail = Tail(run.journal)
    shown: dict[Path, int] = {}
    while True:
        records = tail.fresh()
        for text in _fresh_output(run, shown):
            click.echo(text)
        for record in records:
            if record.kind in TOLD:
                click.echo(f"── {record.kind.replace('_', ' ')}")
        if any(record.kind == "run_stopped" for record in records):
            return
        # Waits for nothing but time: files give no readiness. Ctrl-C ends it at once.
        select.select([], [], [], PAUSE_S)


def _fresh_output(run: RunDir, shown: dict[Path, int]) -> Iterator[str]:
    folder = run.iteration(_newest(run))
    for file in sorted(folder.glob("*")):
        if not file.is_file() or file.suffix == ".gz":
            continue
        with open(file, "rb") as data:
            data.seek(shown.get(file, 0))
            piece = data.read(1 << 20)
        whole = piece[: piece.rfind(b"\n") + 1]
        shown[file] = shown.get(file, 0) + len(whole)
        yield from (GUTTER + clean(line) for line in whole.decode("utf-8", "replace").splitlines())
