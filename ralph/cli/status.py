"""`ralph status`: how a run stands, read from its record alone."""

from __future__ import annotations

from pathlib import Path

import click

from ralph.cli.pick import RUN_OPTIONS, places_of, story_of
from ralph.cli.sink import show, show_json
from ralph.encode.terminal import one_line
from ralph.journal.lock import alive_holder
from ralph.journal.places import Places, RunDir
from ralph.journal.story import Story
from ralph.journal.summary import summary
from ralph.report.lines import iteration_line
from ralph.report.phrases import duration, spent_words


@click.command()
@RUN_OPTIONS
@click.option("--json", "as_json", is_flag=True, help="The summary as JSON, with `alive` added.")
def status(run: str | None, directory: str, state_dir: str | None, as_json: bool) -> None:
    """Say how a run stands: alive or ended, what it did last, what it spent."""
    places = places_of(directory, state_dir)
    chosen = places.find(run)
    story = story_of(chosen, kept=50)
    alive = is_alive(places, chosen, story)
    if as_json:
        data = summary(story, status="running" if story.conclusion is None else "stopped")
        show_json({**data, "alive": alive})
        return
    show("\n".join(_lines(chosen, story, alive=alive)))


def is_alive(places: Places, run: RunDir, story: Story) -> bool:
    """Return whether this run holds its tree right now."""
    top = story.repo.get("top")
    holder = alive_holder(Path(top), note=places.holder_of(Path(top))) if isinstance(top, str) else None
    return holder is not None and holder.run in ("", run.id)


def _lines(run: RunDir, story: Story, *, alive: bool) -> list[str]:
    lines = [f"run {run.id}: {_state(story, alive=alive)}", f"  tree:    {one_line(str(story.repo.get('top')))}"]
    lines.append(f"  agent:   {one_line(story.working or str(story.agent.get('name')))}")
    lines.append(f"  spent:   {spent_words(story.totals)}; up for {duration(story.up_s)}")
    lines += [f"  {iteration_line(i)}" for i in list(story.iterations)[-5:]]
    if story.held is not None:
        lines.append(f"  iteration {story.held.number}: {'running' if alive else 'cut off'}")
    if story.waits and alive and story.held is None:
        lines.append(f"  waiting: {one_line(story.waits[-1].why)}")
    return lines


def _state(story: Story, *, alive: bool) -> str:
    if story.stop is not None:
        return f"ended, {story.stop.reason.value} [{story.exit_code}]: {one_line(story.stop.detail)}"
    return "running" if alive else "cut off without an ending; `ralph resume` goes on"
