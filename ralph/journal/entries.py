"""The records of a journal: one function a type, each pure, returning (type, fields) for `Journal.append`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import cast

from ralph.facts.finding import Finding, Signal
from ralph.facts.iteration import Iteration, Spent
from ralph.facts.run import Conclusion, Opening, Pause
from ralph.facts.settings import Settings
from ralph.facts.suite import Suite
from ralph.journal.codec import iso, to_json
from ralph.journal.read import SCHEMA
from ralph.journal.suites import tally

Entry = tuple[str, dict[str, object]]
NOTE_CAP = 4 << 10
PATHS_CAP = 1000


def _object(value: object) -> dict[str, object]:
    return cast(dict[str, object], to_json(value))


def iteration_fields(iteration: Iteration) -> dict[str, object]:
    """Return a whole iteration as records carry it: suites as tallies."""
    data = _object(replace(iteration, suites=()))
    data["suites"] = [tally(suite) for suite in iteration.suites]
    return data


def run_started(
    opening: Opening,
    *,
    settings: Settings,
    origins: Mapping[str, str],
    prompt_hash: str,
    agent: Mapping[str, object],
    repo: Mapping[str, object],
    isolation: str = "none",
    holder: Mapping[str, object] | None = None,
) -> Entry:
    """Return the first record. agent: name, argv, version. repo: top, git_dir, head.

    origins: key of the configuration to where it was set. holder: pid, ticks and boot of this process (S11).
    """
    start = _object(replace(opening, baseline=()))
    start["baseline"] = [tally(suite) for suite in opening.baseline]
    return "run_started", {
        "schema": SCHEMA,
        "run": opening.run,
        "prompt_hash": prompt_hash,
        "settings": to_json(settings),
        "origins": dict(sorted(origins.items())),
        "agent": dict(agent),
        "repo": dict(repo),
        "isolation": isolation,
        "holder": dict(holder or {}),
        "opening": start,
    }


def iteration_started(number: int, *, hold_micro: int | None, prompt_hash: str, note: str, agent: str = "") -> Entry:
    """Return the record that must be on disk before the agent starts. hold_micro: None without a cost limit."""
    return "iteration_started", {
        "iteration": number,
        "hold_micro": hold_micro,
        "prompt_hash": prompt_hash,
        "note": note[:NOTE_CAP],
        "agent": agent,
    }


def agent_ended(number: int, *, outcome: str, exit: str, elapsed_s: float, spent: Spent) -> Entry:  # noqa: A002
    """Return the record of the agent's end; outcome and exit as they will stand in the iteration."""
    return "agent_ended", {
        "iteration": number,
        "outcome": outcome,
        "exit": exit,
        "elapsed_s": elapsed_s,
        "spent": to_json(spent),
    }


def tests_ended(number: int, *, suites: Sequence[Suite]) -> Entry:
    """Return the record of the test step; number 0: the baseline."""
    return "tests_ended", {"iteration": number, "suites": [tally(suite) for suite in suites]}


def iteration_finished(iteration: Iteration) -> Entry:
    """Return the record that settles an iteration. Its suites must have been kept (`suites.keep`) before."""
    return "iteration_finished", {"iteration": iteration_fields(iteration)}


def signal_raised(number: int, *, signal: Signal) -> Entry:
    """Return the record of a loop noticed inside an iteration."""
    return "signal", {"iteration": number, **_object(signal)}


def agent_changed(number: int, *, agent: str, relieved: str, why: str, back_at: datetime | None) -> Entry:
    """Return the record of a handover; number: the iteration from which on the agent works. back_at: None = not out."""
    fields = {"iteration": number, "agent": agent, "relieved": relieved, "why": why}
    return "agent_changed", {**fields, "back_at": iso(back_at) if back_at else None}


def waiting(pause: Pause) -> Entry:
    """Return the record of a wait that begins."""
    return "waiting", _object(pause)


def changed_outside(number: int, *, paths: Sequence[str]) -> Entry:
    """Return the record of a change between two iterations; number: the iteration it came before."""
    return "changed_outside", {"iteration": number, "files": len(paths), "paths": sorted(paths)[:PATHS_CAP]}


def reloaded(old: str, new: str) -> Entry:
    """Return the record of a prompt taken anew; both hashes."""
    return "reloaded", {"old": old, "new": new}


def finding_made(number: int, *, finding: Finding) -> Entry:
    """Return the record of an observation; number: the iteration in which it was made, 0: at the start."""
    return "finding", {"iteration": number, **_object(finding)}


def run_resumed(
    *,
    settings: Settings,
    origins: Mapping[str, str],
    raised: Mapping[str, object] | None = None,
    prompt_hash: str = "",
    holder: Mapping[str, object] | None = None,
) -> Entry:
    """Return the first record of a further session. raised: keys given anew on the line, with their values."""
    return "run_resumed", {
        "settings": to_json(settings),
        "origins": dict(sorted(origins.items())),
        "raised": dict(raised or {}),
        "prompt_hash": prompt_hash,
        "holder": dict(holder or {}),
    }


def run_stopped(conclusion: Conclusion, *, exit_code: int) -> Entry:
    """Return the last record. exit_code: as ralph leaves, `--accept` counted in."""
    return "run_stopped", {"exit_code": exit_code, **_object(conclusion)}
