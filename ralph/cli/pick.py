"""Which run a command is about: `-C DIR`, `--state-dir DIR`, `--run PREFIX`. Reads the state directory only."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import click

from ralph.errors import UserError
from ralph.journal.places import Places, RunDir
from ralph.journal.read import check_schema, read
from ralph.journal.story import Story, fold

F = TypeVar("F", bound=Callable[..., Any])


def RUN_OPTIONS(command: F) -> F:  # noqa: N802 - reads as one decorator among click's
    """Add the options that pick a run."""
    for option in (
        click.option("--state-dir", envvar="RALPH_RUN__STATE_DIR", metavar="DIR", help="Where runs are recorded."),
        click.option("-C", "directory", default=".", metavar="DIR", help="As if started in this folder."),
        click.option("--run", metavar="RUN", help="The run; a prefix is enough. Default: the newest here."),
    ):
        command = option(command)
    return command


def places_of(directory: str, state_dir: str | None) -> Places:
    """Return the places of the nearest tree at or above a folder that has runs; else of the folder itself.

    The repository is not asked: an agent may have broken or removed it.
    """
    here = Path(os.path.realpath(directory))
    first = Places.of(here, state_dir=state_dir, environ=os.environ)
    return next((p for p in (first, *_above(here, state_dir)) if p.runs()), first)


def _above(here: Path, state_dir: str | None) -> Iterator[Places]:
    for folder in here.parents:
        with suppress(UserError):  # the state directory itself lies below it: no work tree
            yield Places.of(folder, state_dir=state_dir, environ=os.environ)


def picked(run: str | None, directory: str, state_dir: str | None) -> RunDir:
    """Return the run meant. Raises: UserError naming the runs there are."""
    return places_of(directory, state_dir).find(run)


def story_of(run: RunDir, *, kept: int | None = None) -> Story:
    """Return what a run's journal tells. Raises: UserError where it is damaged or of another major version."""
    reading = read(run.journal)
    check_schema(reading.records, where=run.journal)
    return fold(reading.records, kept=kept)
