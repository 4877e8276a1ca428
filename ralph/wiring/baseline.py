"""The tests and checks as they stand before iteration 1: run once, or taken over from a run on this very tree."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from ralph.errors import UserError
from ralph.facts.ending import Why
from ralph.facts.reason import Reason
from ralph.facts.settings import Settings
from ralph.facts.suite import Suite, Verdict
from ralph.facts.tree import Tree
from ralph.journal.codec import from_json, to_json
from ralph.journal.effects import replace_file
from ralph.judge.interruption import SIGNALS
from ralph.judge.suites import TESTS, CachedSuite, usable
from ralph.loop.testing import TestStep
from ralph.testrun import Interrupted

FAULTS = {
    Verdict.TIMED_OUT: ("did not end in time", "Raise test.timeout, or give a faster command."),
    Verdict.BROKEN: ("could not be run", "Mend the command; it runs in the top folder of the work tree."),
    Verdict.NONE_RAN: ("ran no test", "Mend the command so that it finds the tests."),
}
SKIP = "`--set test.baseline=skip` goes on without a baseline."


def baseline(
    settings: Settings,
    step: TestStep,
    *,
    tree: Tree,
    logs: Path,
    kept: Path,
    now: datetime,
    signal_number: Callable[[], int | None],
) -> tuple[Suite, ...]:
    """Return the suites before iteration 1; () where the baseline is skipped or nothing is configured.

    kept: file of baselines of earlier runs. signal_number: what we were told to end by.
    Raises: UserError: a baseline that says nothing (usage); ended from outside (interrupted and its like, time-limit).
    """
    if settings.test.baseline == "skip" or not (settings.test.command or settings.checks):
        return ()
    found = _kept(kept, settings, tree, now=now) or _fresh(step, tree, logs, signal_number)
    for suite in found:
        _check(suite)
    _keep(kept, settings, tree=tree, suites=found, now=now)
    return found


def _fresh(step: TestStep, tree: Tree, logs: Path, signal_number: Callable[[], int | None]) -> tuple[Suite, ...]:
    suites = step.suites(tree, logs)
    if isinstance(suites, Interrupted):
        over = suites.cut.why is Why.DEADLINE
        reason = Reason.TIME_LIMIT if over else SIGNALS.get(signal_number() or 0, Reason.INTERRUPTED)
        fix = "Give the run more time." if over else "No agent was started; start again."
        raise UserError("ended while the tests ran before the first iteration", fix=fix, reason=reason)
    return suites


def _check(suite: Suite) -> None:
    fault = FAULTS.get(suite.verdict)
    if fault is None or (suite.name != TESTS and suite.verdict is Verdict.NONE_RAN):
        return
    words, fix = fault
    raise UserError(
        f"{suite.name} {words} before the first iteration: {suite.detail or suite.exit}",
        where="test.command" if suite.name == TESTS else f"check.{suite.name}",
        fix=f"{fix}\n{SKIP}\n{suite.tail[-400:]}",
    )


def _commands(settings: Settings) -> dict[str, tuple[str, ...]]:
    tests = {TESTS: (*settings.test.command, settings.test.report)} if settings.test.command else {}
    return {**tests, **{check.name: check.command for check in settings.checks}}


def _kept(file: Path, settings: Settings, tree: Tree, *, now: datetime) -> tuple[Suite, ...]:
    """Return what an earlier run found on this tree with all of these commands, () where anything differs."""
    commands = _commands(settings)
    try:
        rows = {name: from_json(CachedSuite, row) for name, row in json.loads(file.read_bytes()).items()}
    except (OSError, ValueError, AttributeError):
        return ()
    fits = [rows[n].suite for n, c in commands.items() if n in rows and usable(rows[n], tree.id, command=c, now=now)]
    return tuple(fits) if len(fits) == len(commands) else ()


def _keep(file: Path, settings: Settings, *, tree: Tree, suites: tuple[Suite, ...], now: datetime) -> None:
    commands = _commands(settings)
    rows = {suite.name: to_json(CachedSuite(tree.id, commands[suite.name], now, suite)) for suite in suites}
    replace_file(file, json.dumps(rows).encode("ascii"))
