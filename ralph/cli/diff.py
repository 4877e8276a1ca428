"""`ralph diff [A] [B]`: what changed between two saved states; nothing in the repository is run."""

from __future__ import annotations

import sys

import click

from ralph.cli.pick import RUN_OPTIONS
from ralph.cli.saved import saved_of
from ralph.encode.terminal import clean, one_line
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
        if sys.stdout.isatty():
            click.echo(clean(text.decode("utf-8", "replace")), nl=False)
        else:
            sys.stdout.buffer.write(text)
        return
    changes = states.diff(saved.store, saved.paper.id, old, new)
    for change in changes:
        lines = f"+{change.added} -{change.removed}" if change.added is not None else "binary"
        click.echo(f"{change.status:8} {one_line(change.path)}  {lines}")
    click.echo(f"{len(changes)} files differ between {a} and {b}", err=True)
