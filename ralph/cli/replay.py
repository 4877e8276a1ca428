"""`ralph replay`: a recorded run decided again under other thresholds, from its journal and steps alone."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import cast

import click

from ralph.cli.pick import RUN_OPTIONS, picked
from ralph.cli.sink import show, show_json
from ralph.config.overlay import overlaid
from ralph.errors import UserError
from ralph.facts.iteration import Iteration
from ralph.facts.reason import Reason
from ralph.facts.replay import Inside
from ralph.facts.run import Opening, Stop
from ralph.facts.settings import Settings
from ralph.facts.suite import Suite
from ralph.journal import suites
from ralph.journal.codec import from_json
from ralph.journal.decoding import decoder
from ralph.journal.places import RunDir
from ralph.journal.read import Record, selected
from ralph.journal.steps import read_steps
from ralph.judge.replay import Replay, inside_limits, inside_loops
from ralph.report.replay import document, text

FRAME = ("run_started", "run_resumed", "run_stopped")
TOLD = ("iteration_finished", "run_resumed", "reloaded")


@click.command()
@RUN_OPTIONS
@click.option("--set", "sets", metavar="KEY=VALUE", multiple=True, help="A threshold: stop.*, limits.* or detect.*.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def replay(run: str | None, directory: str, state_dir: str | None, sets: tuple[str, ...], as_json: bool) -> None:
    """Say where a recorded run would have stopped under other thresholds, and what that would have saved."""
    chosen = picked(run, directory, state_dir)
    gc.disable()  # ten thousand iterations are many objects and no cycle: a third of the time went into looking for one
    frame = list(selected(chosen.journal, FRAME))
    if not frame or frame[0].kind != "run_started":
        raise UserError("this run never began", where=chosen.id, fix="Choose another with --run.")
    settings, recorded = told(frame), ended(frame)
    replayed = Again(chosen, settings, overlaid(settings, sets)).played(frame[0], selected(chosen.journal, TOLD))
    if as_json:
        show_json(document(chosen.id, replayed.result(), recorded, sets=sets))
        return
    show(text(chosen.id, replayed.result(), recorded, sets=sets), nl=False)


def told(frame: Sequence[Record]) -> Settings:
    """Return the configuration the run obeyed last. Raises: UserError (storage) where it makes no sense."""
    data = next((r.fields["settings"] for r in reversed(frame) if r.fields.get("settings")), None)
    try:
        return from_json(Settings, data)
    except ValueError as e:
        raise UserError(f"the recorded configuration makes no sense: {e}", reason=Reason.STORAGE) from e


def ended(frame: Sequence[Record]) -> Stop | None:
    """Return how the run ended, None where it was cut off or goes on."""
    try:
        return from_json(Stop, frame[-1].fields.get("stop")) if frame[-1].kind == "run_stopped" else None
    except ValueError:
        return None


class Again:
    """One replay: what to read of each record, and what not."""

    def __init__(self, run: RunDir, had: Settings, wanted: Settings) -> None:
        self._run = run
        self._wanted = wanted
        self._limits = (had.limits.turns, had.limits.iteration_time) != (
            wanted.limits.turns,
            wanted.limits.iteration_time,
        )
        self._loops = had.detect != wanted.detect
        self._suites: dict[str, Suite] = {}
        self._keeps_suites = run.suites.is_dir()

    def played(self, begun: Record, records: Iterable[Record]) -> Replay:
        """Return the whole record folded. Raises: UserError (storage) where it makes no sense."""
        fields = begun.fields
        try:
            opening = from_json(Opening, fields["opening"])
        except (ValueError, KeyError) as e:
            raise UserError(f"the record of the start makes no sense: {e}", reason=Reason.STORAGE) from e
        opening = replace(opening, baseline=tuple(map(self._whole, opening.baseline)))
        replay = Replay(opening, self._wanted, agents=_agents(fields))
        iteration_of = decoder(Iteration)
        for record in records:
            if record.kind == "iteration_finished":
                self._iteration(replay, _read(iteration_of, record), record.up_s)
            elif record.kind == "run_resumed":
                replay.resumed()
            elif record.kind == "reloaded":
                replay.reloaded()
        return replay

    def _iteration(self, replay: Replay, iteration: Iteration, up_s: float) -> None:
        if self._keeps_suites and iteration.suites:
            iteration = replace(iteration, suites=tuple(map(self._whole, iteration.suites)))
        if replay.goes_on:
            replay.ends_inside(self._inside(iteration))
        replay.add(iteration, up_s=up_s)

    def _inside(self, iteration: Iteration) -> tuple[Inside, ...]:
        found: tuple[Inside, ...] = inside_limits(iteration, self._wanted) if self._limits else ()
        if self._loops:
            rows = read_steps(self._run.iteration(iteration.number))
            found += inside_loops(iteration.number, rows, self._wanted.detect)
        return found

    def _whole(self, suite: Suite) -> Suite:
        """Return a test result with all its ids, each read once."""
        known = self._suites.get(suite.digest)
        if known is None:
            known = self._suites[suite.digest] = suites.whole(self._run.suites, suite)
        return known


def _read(iteration_of: Callable[[object], Iteration], record: Record) -> Iteration:
    try:
        return iteration_of(record.fields.get("iteration"))
    except ValueError as e:
        raise UserError(f"record {record.n} makes no sense: {e}", reason=Reason.STORAGE) from e


def _agents(fields: Mapping[str, object]) -> tuple[str, ...]:
    agent = fields.get("agent")
    names = cast(Mapping[str, object], agent).get("names") if isinstance(agent, dict) else None
    return tuple(map(str, names)) if isinstance(names, list) else ()
