"""`ralph diff [A] [B]`: what changed between two saved states; nothing in the repository is run."""

from __future__ import annotations

import os
import stat
import sys

import click

from ralph.cli.pick import RUN_OPTIONS
from ralph.cli.saved import saved_of
from ralph.cli.sink import show
from ralph.encode.terminal import clean, one_line
from ralph.encode.workflow import harmless
from ralph.repo import diff as states


@click.command()
@click.argument("a", default="start")
@click.argument("b", default="now")
@RUN_OPTIONS
@click.option("--patch", is_flag=True, help="The unified diff itself.")
def diff(a: str, b: str, run: str | None, directory: str, state_dir: str | None, patch: bool) -> None:
    """Show what changed from state A to state B: start, N, N.tests, best, now."""
    saved = saved_of(run, directory, state_dir)
    old, new = saved.label(a), saved.label(b)
    if patch:
        text = states.patch(saved.store, saved.paper.id, old, new)
        _print(text)
        return
    changes = states.diff(saved.store, saved.paper.id, old, new)
    if changes:
        show("\n".join(map(_line, changes)))
    click.echo(f"{len(changes)} files differ between {a} and {b}", err=True)


def _line(change: states.FileChange) -> str:
    lines = f"+{change.added} -{change.removed}" if change.added is not None else "binary"
    return f"{change.status:8} {one_line(change.path)}  {lines}"


def _print(patch: bytes) -> None:
    """Print a patch: exact bytes to a file or another program, harmless where a person or a CI job reads it."""
    read_by_job = "GITHUB_ACTIONS" in os.environ and not stat.S_ISREG(os.fstat(1).st_mode)
    if sys.stdout.isatty() or read_by_job:
        click.echo(harmless(clean(patch.decode("utf-8", "replace"))), nl=False)
    else:
        sys.stdout.buffer.write(patch)
