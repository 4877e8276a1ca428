"""`ralph report` and the summary behind it: from the journal alone, so it works after a SIGKILL as well."""

from __future__ import annotations

import click

from ralph.cli.pick import RUN_OPTIONS, picked, story_of
from ralph.cli.sink import redacted, show, show_json
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
        show_json(data, indent=1)
        return
    told = redacted(data)  # before anything is escaped or cut
    show(account.markdown(told) if form == "markdown" else account.text(told), nl=False)
