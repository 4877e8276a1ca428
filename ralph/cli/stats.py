"""`ralph stats`: what became of the runs on record, and alerts for a cron job. Reads the state directory only."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import click

from ralph.cli.pick import places_of
from ralph.cli.sink import show, show_json
from ralph.config.words import WordError, duration
from ralph.errors import UserError
from ralph.facts.finding import Signal
from ralph.facts.iteration import Iteration
from ralph.facts.outcome import Outcome
from ralph.facts.reason import FOUND_SOMETHING
from ralph.facts.run import Opening, Stop
from ralph.journal.codec import from_json
from ralph.journal.decoding import decoder
from ralph.journal.places import Places, RunDir
from ralph.journal.read import Record, selected
from ralph.journal.steps import read_steps
from ralph.judge.signals.again import steps_of
from ralph.report import stats as told
from ralph.report.stats import Told

KINDS = ("run_started", "run_resumed", "iteration_finished", "run_stopped")


@click.command()
@click.option("--since", metavar="WHEN", help="Runs that began in the last 7d, 24h …, or since a day: 2026-11-30.")
@click.option("--alert", metavar="RATE", help="Exit 3 if loops had to be broken in more than this share: 0.2 or 20%.")
@click.option("--alert-rise", metavar="X", help="Exit 3 if that share is over X times that of the period before.")
@click.option("--all", "everywhere", is_flag=True, help="Runs of every work tree in the state directory.")
@click.option("--state-dir", envvar="RALPH_RUN__STATE_DIR", metavar="DIR", help="Where runs are recorded.")
@click.option("-C", "directory", default=".", metavar="DIR", help="As if started in this folder.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def stats(
    since: str | None,
    alert: str | None,
    alert_rise: str | None,
    everywhere: bool,
    state_dir: str | None,
    directory: str,
    as_json: bool,
) -> int:
    """Say how often loops were broken, how long runs are, what they cost, which tools loop, what blocked them."""
    now = datetime.now(UTC)
    begin = None if since is None else moment_of(since, now)
    share, factor = number_of("--alert", alert), number_of("--alert-rise", alert_rise)
    if factor is not None and begin is None:
        raise UserError("a rise needs a period to compare", where="--alert-rise", fix="Add --since 7d.")
    places = places_of(directory, state_dir)
    every = [found for run in runs_of(places, everywhere=everywhere) if (found := told_of(run)) is not None]
    runs = [run for run in every if begin is None or run.started_at >= begin]
    before = [run for run in every if begin is not None and begin - (now - begin) <= run.started_at < begin]
    alerts = list(alerts_of(runs, before, share=share, factor=factor))
    if as_json:
        show_json({**told.summed(runs, before), "since": begin and begin.isoformat(), "alerts": alerts})
    else:
        show(told.text(runs, before), nl=False)
        for line in alerts:
            show(f"alert: {line}", err=True)
    return FOUND_SOMETHING if alerts else 0


def alerts_of(runs: list[Told], before: list[Told], *, share: float | None, factor: float | None) -> Iterator[str]:
    """Yield what a cron job should wake somebody for."""
    moved = told.rise(runs, before)
    if share is not None and moved.now is not None and moved.now > share:
        yield f"loops had to be broken in {moved.now:.1%} of {len(runs)} runs, above {share:.1%}"
    if factor is not None and moved.is_above(factor, sum(run.is_aborted for run in runs)):
        now, was = f"{moved.now or 0:.1%}", f"{moved.before:.1%}"
        yield f"loops had to be broken in {now} of runs, over {factor:g} times the {was} of the period before"


def moment_of(since: str, now: datetime) -> datetime:
    """Return the beginning of the period. Raises: UserError for what is neither a duration nor a day."""
    try:
        return now - timedelta(seconds=duration(since))
    except WordError:
        pass
    try:
        moment = datetime.fromisoformat(since)
    except ValueError:
        raise UserError(f'"{since}" is no time', where="--since", fix="Write 7d, 24h, or a day: 2026-11-30.") from None
    moment = moment.astimezone(UTC)
    if moment > now:
        raise UserError(f'"{since}" lies in the future', where="--since", fix="Give a day that is past.")
    return moment


def number_of(flag: str, typed: str | None) -> float | None:
    """Return a number above zero; RATE may be a percentage. Raises: UserError."""
    if typed is None:
        return None
    percent = typed.endswith("%")
    try:
        value = float(typed.removesuffix("%")) / (100 if percent else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf") or (flag == "--alert" and value > 1):
        raise UserError(f'"{typed}" is no {"share" if flag == "--alert" else "factor"}', where=flag, fix=_FIX[flag])
    return value


_FIX = {"--alert": "Give a share from 0 to 1, or a percentage: 0.2, 20%.", "--alert-rise": "Give a factor like 2."}


def runs_of(places: Places, *, everywhere: bool) -> Iterator[RunDir]:
    """Yield the runs of a tree, or of all trees of its state directory."""
    folders = _folders(places.base) if everywhere else [places.path]
    for folder in folders:
        yield from replace(places, path=folder).runs()


def _folders(base: Path) -> list[Path]:
    try:
        with os.scandir(base) as entries:
            return sorted(Path(e.path) for e in entries if e.is_dir(follow_symlinks=False))
    except OSError:
        return []


def told_of(run: RunDir) -> Told | None:
    """Return what a run's record tells, None where it never began or cannot be understood."""
    try:
        records = list(selected(run.journal, KINDS))
        return _told(run, records) if records and records[0].kind == "run_started" else None
    except (UserError, ValueError, KeyError):
        return None  # one damaged record must not hide all others


def _told(run: RunDir, records: list[Record]) -> Told:
    opening = from_json(Opening, records[0].fields["opening"])
    read = decoder(Iteration)
    iterations: list[Iteration] = [read(r.fields["iteration"]) for r in records if r.kind == "iteration_finished"]
    last = records[-1]
    stop = from_json(Stop, last.fields["stop"]) if last.kind == "run_stopped" else None
    turns = [i.spent.turns for i in iterations if i.spent.turns is not None]
    costs = [i.spent.charge.micro for i in iterations if i.spent.charge.micro is not None]
    calls, signals, origins = _tools(run, iterations)
    return Told(
        run.id,
        opening.started_at,
        stop.reason if stop else None,
        len(iterations),
        _cap(records),
        sum(turns) if turns else None,
        sum(i.outcome is Outcome.OWN_LIMIT for i in iterations),
        sum(costs) if costs else None,
        sum(i.outcome is Outcome.LOOPING for i in iterations),
        calls,
        signals,
        origins,
        tuple(i.blocked.needed for i in iterations if i.blocked is not None),
    )


def _cap(records: Iterable[Record]) -> int | None:
    """Return the cap of iterations that held last."""
    cap: object = None
    for record in records:
        settings = record.fields.get("settings")
        if isinstance(settings, dict):
            limits = cast(Mapping[str, object], settings).get("limits")
            cap = limits.get("iterations") if isinstance(limits, dict) else None
    return cap if isinstance(cap, int) else None


def _tools(run: RunDir, iterations: list[Iteration]) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Return calls and loops by tool, and the kinds of results after which loops began."""
    calls, signals, origins = Counter[str](), Counter[str](), Counter[str]()
    for iteration in iterations:
        steps = list(steps_of(read_steps(run.iteration(iteration.number))))
        calls.update(step.tool for step in steps)
        for signal in _loops(iteration.signals):
            if signal.steps[0] >= 0 and signal.steps[-1] < len(steps):
                signals[steps[signal.steps[-1]].tool] += 1
                origins[steps[signal.steps[0]].origin] += 1
    return calls, signals, origins


def _loops(signals: Iterable[Signal]) -> Iterable[Signal]:
    """Return one signal a loop, whatever levels it reached."""
    return {(one.detector, one.steps[0]): one for one in signals if one.steps}.values()
