"""`summary.json`: what people, CI jobs and other programs read of a run. Keys are public (design 2.5)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Literal

from ralph.facts.finding import Finding
from ralph.facts.iteration import Iteration
from ralph.facts.run import Best, Conclusion, Stop, Totals
from ralph.facts.suite import Suite
from ralph.facts.usage import MICRO
from ralph.journal.codec import dumps, iso, to_json
from ralph.journal.effects import DISK, Effects, replace_file, storage_error
from ralph.journal.read import SCHEMA
from ralph.journal.story import Story
from ralph.journal.suites import IDS_IN_RECORD, Counts, counts_of

NEWEST = 50
Status = Literal["running", "stopped"]


def dollars(micro: int | None) -> float | None:
    """Return dollars as a number, None where the cost is unknown."""
    return None if micro is None else micro / MICRO


def finding_view(finding: Finding) -> dict[str, object]:
    """Return a finding as the summary shows it."""
    view = to_json(finding)
    assert isinstance(view, dict)
    return view


def suite_view(suite: Suite | None, counts: Mapping[str, Counts] | None = None) -> dict[str, object] | None:
    """Return a test result in short. counts: by digest, for suites whose ids were cut by the journal."""
    if suite is None:
        return None
    told = (counts or {}).get(suite.digest) or counts_of(suite)
    return {
        "verdict": suite.verdict.value,
        "passing": told.passing,
        "failing": told.failing,
        "skipped": told.skipped,
        "failing_ids": sorted(suite.failing)[:IDS_IN_RECORD],
        "elapsed_s": suite.elapsed_s,
        "reused": suite.reused,
        "digest": suite.digest,
    }


def iteration_view(iteration: Iteration, counts: Mapping[str, Counts] | None = None) -> dict[str, object]:
    """Return one iteration as the summary, `--json` and the report show it. counts: see `suite_view`."""
    trees, changes, spent = iteration.trees, iteration.changes, iteration.spent
    others = {s.name: suite_view(s, counts) for s in iteration.suites if s.name != "tests"}
    return {
        "n": iteration.number,
        "agent": iteration.agent,
        "started_at": iso(iteration.started_at),
        "elapsed_s": iteration.elapsed_s,
        "outcome": iteration.outcome.value,
        "exit": iteration.exit,
        "detail": iteration.detail,
        "until": iso(iteration.until) if iteration.until else None,
        "trees": {"before": trees.before.id, "agent": trees.agent.id, "tests": trees.tests.id},
        "head": {"before": trees.before.head, "after": trees.tests.head},
        "diff": {"files": changes.files, "added": changes.added, "removed": changes.removed},
        "tests": suite_view(iteration.tests, counts),
        "checks": others,
        "gates": [{"name": g.name, "holds": g.holds, "detail": g.detail} for g in iteration.gates],
        "tokens": spent.tokens.counted if spent.tokens else None,
        "cost": {"value": dollars(spent.charge.micro), "source": spent.charge.source.value},
        "turns": spent.turns,
        "signals": [to_json(signal) for signal in iteration.signals],
        "swept": list(iteration.swept),
        "answer": iteration.answer,
        "findings": [finding_view(finding) for finding in iteration.findings],
    }


def totals_view(totals: Totals, *, cumulative: bool) -> dict[str, object]:
    """Return totals. cumulative: the figures include earlier sessions of a resumed run."""
    return {
        "iterations": totals.iterations,
        "elapsed_s": round(totals.elapsed_s, 3),
        "tokens": totals.tokens,
        "cost_usd": {
            "value": dollars(totals.cost_micro),
            "source": totals.cost_source,
            "at_least": totals.at_least,
            "cumulative": cumulative,
        },
    }


def _best_view(best: Best | None) -> dict[str, object] | None:
    return {"n": best.number, "detail": best.detail} if best else None


def _best_suite(story: Story, best: Best | None) -> Suite | None:
    """Return the tests of the best iteration, None where it is no longer held."""
    if best is None or (story.best and best.number == story.best.number):
        return story.best_tests
    return next((i.tests for i in reversed(story.iterations) if i.number == best.number), None)


def _ending(stop: Stop | None, exit_code: int | None) -> dict[str, object]:
    code = None if stop is None else stop.reason.exit_code if exit_code is None else exit_code
    evidence = {
        "iterations": list(stop.iterations) if stop else [],
        "states": list(stop.states) if stop else [],
        "tests": list(stop.tests) if stop else [],
    }
    return {
        "reason": stop.reason.value if stop else None,
        "exit_code": code,
        "detail": stop.detail if stop else None,
        "verified": stop.verified if stop else None,
        "evidence": evidence,
    }


def summary(
    story: Story,
    *,
    status: Status,
    conclusion: Conclusion | None = None,
    exit_code: int | None = None,
    newest: int | None = NEWEST,
) -> dict[str, object]:
    """Return the summary of a run. conclusion: None while it runs, or to take the one the story knows.

    exit_code: what ralph leaves with, where `--accept` changed it. newest: iterations listed, None: all held.
    """
    told = conclusion or (story.conclusion if status == "stopped" else None)
    code = story.exit_code if exit_code is None else exit_code
    best = told.best if told and told.best else story.best
    seen = dict.fromkeys((*story.findings, *(told.findings if told else ())))
    skipped = 0 if newest is None else max(0, len(story.iterations) - newest)
    opening = story.opening
    totals = told.totals if told and told.totals.iterations else story.totals
    return {
        "schema": SCHEMA,
        "run": story.run,
        "status": status,
        **_ending(told.stop if told else None, code),
        "totals": totals_view(totals, cumulative=story.sessions > 1),
        "tests": {
            "baseline": suite_view(opening.tests if opening else None, story.counts),
            "best": suite_view(_best_suite(story, best), story.counts),
            "last": suite_view(story.last, story.counts),
        },
        "best": _best_view(best),
        "findings": [finding_view(finding) for finding in seen],
        "isolation": story.isolation,
        "iterations_total": story.totals.iterations,
        "iterations": [iteration_view(i, story.counts) for i in islice(story.iterations, skipped, None)],
    }


def write_summary(path: Path, data: Mapping[str, object], *, effects: Effects = DISK, mode: int = 0o600) -> None:
    """Replace a summary atomically and durably. A link in its place is replaced, never followed.

    mode: 0600 for the state directory; the file of `--summary` is the user's, give 0644.
    Raises: UserError (storage).
    """
    try:
        # As root, a rename would replace /dev/stdout itself.
        if path.exists() and not path.is_file():
            raise storage_error("the summary's place is taken by something that is not a file", where=path)
        replace_file(path, dumps(data).encode("ascii") + b"\n", effects=effects, mode=mode)
    except OSError as error:
        raise storage_error("cannot write the summary", error, where=path) from None
