"""`ralph report` and the summary behind it: from the journal alone, so it works after a SIGKILL as well."""

from __future__ import annotations

import json

import click

from ralph.cli.pick import RUN_OPTIONS, picked, story_of
from ralph.journal.summary import summary
from ralph.report import account


@click.command()
@RUN_OPTIONS
@click.option("--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True)
def report(run: str | None, directory: str, state_dir: str | None, form: str) -> None:
    """Print the account of a run; JSON has all of its iterations."""
    story = story_of(picked(run, directory, state_dir))
    data = summary(
        story, status="stopped" if story.conclusion else "running", newest=None if form == "json" else account.NEWEST
    )
    if form == "json":
        click.echo(json.dumps(data, indent=1))
    else:
        click.echo(account.markdown(data) if form == "markdown" else account.text(data), nl=False)
