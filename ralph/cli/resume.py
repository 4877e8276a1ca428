"""`ralph resume`: goes on with a run that ended, on its own prompt and configuration."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import click

from ralph.cli.pick import RUN_OPTIONS, places_of, story_of
from ralph.cli.run import finished, full_disk_told, ready_process, refuse_nested
from ralph.config.raising import raised
from ralph.config.sources import Loaded
from ralph.console.lines import Lines
from ralph.encode.redact import Redactor
from ralph.errors import UserError
from ralph.journal.places import Places, RunDir
from ralph.process.signals import Signals
from ralph.repo.find import locate
from ralph.repo.git import find_git
from ralph.wiring.order import Order
from ralph.wiring.resume import brought, resumed_run, settings_told, story_told

LIMITS = {
    "iterations": ("-n", "--max-iterations"),
    "time": ("--max-time",),
    "cost": ("--max-cost",),
    "tokens": ("--max-tokens",),
    "until": ("--until",),
}


def limit_options(command: click.decorators.FC) -> click.decorators.FC:
    """Add the limits a resume may raise: a new total, or +MORE."""
    for name, flags in reversed(LIMITS.items()):
        command = click.option(*flags, name, metavar="TOTAL|+MORE", help=f"Raise limits.{name}.")(command)
    return command


@click.command()
@RUN_OPTIONS
@limit_options
@click.option("--reload", "take_prompt", is_flag=True, help="Take the prompt file as it is now.")
@click.option("--from", "source", metavar="DIR", help="The folder of a run recorded elsewhere (a CI artifact).")
@click.option("--accept-config", is_flag=True, help="Obey configuration that changed while ralph was at work.")
@click.option("--json", "as_json", is_flag=True, help="Events as JSON lines on stdout.")
@click.option("-q", "--quiet", is_flag=True, help="Print the verdict only.")
def resume(
    run: str | None,
    directory: str,
    state_dir: str | None,
    take_prompt: bool,
    source: str | None,
    accept_config: bool,
    as_json: bool,
    quiet: bool,
    **limits: str | None,
) -> int:
    """Go on with a run that ended; a limit that was reached must be raised, e.g. -n +20."""
    refuse_nested()
    ready_process()
    console = Lines(quiet=quiet, as_json=as_json, redactor=Redactor.of(os.environ))
    places, paper = chosen_run(run, directory, state_dir, source=source)
    story = story_told(paper)
    typed = {f"limits.{name}": text for name, text in limits.items() if text is not None}
    git = find_git()
    settings = raised(settings_told(story), typed)
    order = Order(
        Loaded(settings, {}),
        git,
        locate(Path(directory) if source else top_of(paper), git, no_git=settings.run.no_git),
        dict(os.environ),
        console,
        accept_config=accept_config,
        raised=typed,
        reload=take_prompt,
    )
    with full_disk_told(), ExitStack() as stack:
        signals = stack.enter_context(Signals(then_deaf=True))
        return finished(resumed_run(order, story, places=places, paper=paper, signals=signals, stack=stack), console)


def chosen_run(run: str | None, directory: str, state_dir: str | None, *, source: str | None) -> tuple[Places, RunDir]:
    """Return the run meant, brought here first where it was recorded elsewhere."""
    places = places_of(directory, state_dir)
    return (places, brought(Path(source), places)) if source else (places, places.find(run))


def top_of(paper: RunDir) -> Path:
    """Return the work tree a run works in, as recorded. Raises: UserError where it is gone."""
    top = story_of(paper, kept=1).repo.get("top")
    if not isinstance(top, str) or not Path(top).is_dir():
        raise UserError(
            "the work tree of this run is gone",
            where=str(top),
            fix=f"ralph restore start --git --run {paper.id} -C {top}",
        )
    return Path(top)
