"""`ralph stats`: many runs in a few numbers, and exit 3 for a cron job."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ralph.errors import UserError
from ralph.facts.finding import Blocked, Signal
from ralph.facts.iteration import Spent
from ralph.facts.outcome import Outcome
from ralph.facts.reason import Reason
from ralph.facts.settings import Limits, Settings
from ralph.facts.usage import Charge, Source
from ralph.judge.signals.step import Step, row_of
from tests.builders import START, walk
from tests.cli.recorded import Ground, stopped

DIME = Spent(Charge(100_000, Source.REPORTED), turns=7, tools=3)
FIVE = Settings(limits=Limits(iterations=5))
NOW_DAYS = (datetime.now(UTC) - START).total_seconds() / 86400
"""Days from the day of the builders to today: runs are recorded so long before or after it."""


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


def days_ago(days: float) -> float:
    return days - NOW_DAYS


def rows(tool: str, count: int, *, rlen: int = 200, failed: bool = False) -> list[list[object]]:
    return [
        row_of(Step(tool, "a" * 12, "b" * 12, is_error=failed, changed=False, turn=n, rlen=rlen)) for n in range(count)
    ]


def test_nothing_on_record_is_said(ground: Ground) -> None:
    found = ground.command("stats", "--alert", "0")
    assert (found.output, found.return_value) == ("0 runs: none\n", 0)


def test_lengths_costs_and_the_bump_at_the_cap(ground: Ground) -> None:
    for words, reason in (("A B C", Reason.DONE), *[("A B C D E F", Reason.ITERATION_LIMIT)] * 3):
        ground.run(walk(words, spent=DIME), stop=stopped(reason), settings=FIVE)
    ground.run(walk("A B", spent=Spent()))  # cut off, cost unknown
    data = ground.data("stats")
    assert data["reasons"] == {"iteration-limit": 3, "done": 1, "none": 1}
    assert data["iterations"] == {"known": 5, "unknown": 0, "min": 1, "median": 5, "p90": 5, "max": 5, "at_cap": 3}
    assert (data["turns"]["median"], data["turns"]["unknown"]) == (35, 1)
    assert (data["cost_usd"]["min"], data["cost_usd"]["max"], data["cost_usd"]["unknown"]) == (0.2, 0.5, 1)
    words = ground.command("stats").output
    assert "3 at their cap (the cap ends these runs, not the work)" in words
    assert "$0.20 to $0.50 a run" in words


def test_loops_by_tool_and_what_they_began_after(ground: Ground) -> None:
    (one,) = walk("A B")
    loop = tuple(Signal("identical", level, (2, 3, 4)) for level in ("nudge", "deny"))
    looping = replace(one, outcome=Outcome.LOOPING, signals=(*loop, Signal("text-loop", "nudge")))
    steps = [*rows("Read", 2), *rows("Grep", 3, rlen=0), *rows("Read", 95)]
    ground.run((looping,), stop=stopped(Reason.DONE), steps={1: steps})
    data = ground.data("stats")
    assert data["loop_abort"]["rate"] == 1.0
    assert data["loop_abort"]["iterations_ended"] == 1
    assert data["tools"] == [
        {"tool": "Grep", "calls": 3, "signals": 1, "per_100": 33.333},  # one loop, however far it went
        {"tool": "Read", "calls": 97, "signals": 0, "per_100": 0.0},
    ]
    assert data["loops_began_after"] == {"empty": 1}
    words = ground.command("stats").output
    assert "33.3 signals per 100 calls (1 of 3)" in words
    assert "loops began after a result that was: empty 1" in words


def test_what_blocked_runs_needed(ground: Ground) -> None:
    (one,) = walk("A B")
    for needed in ("a key \x1b[31m", "a key \x1b[31m", "a decision"):
        ground.run((replace(one, blocked=Blocked(("all",), needed)),), stop=stopped(Reason.BLOCKED))
    assert ground.data("stats")["blocked"][0] == {"needed": "a key \x1b[31m", "runs": 2}
    words = ground.command("stats").output
    assert "blocked, needed: a decision" in words
    assert "\x1b" not in words


def test_an_alert_exits_with_3(ground: Ground) -> None:
    ground.run(walk("A B"), stop=stopped(Reason.DONE))
    ground.run(walk("A B B B"), stop=stopped(Reason.NO_PROGRESS))
    assert ground.command("stats", "--alert", "50%").return_value == 0
    assert ground.command("stats", "--alert", "0.49").return_value == 3
    assert ground.data("stats", "--alert", "0.4")["alerts"] == [
        "loops had to be broken in 50.0% of 2 runs, above 40.0%"
    ]


def test_a_rise_is_told_against_the_period_before(ground: Ground) -> None:
    for days, reason in [(10, Reason.DONE)] * 3 + [(9, Reason.OSCILLATION)] + [(1, Reason.TESTS_STUCK)] * 2:
        ground.run(walk("A B"), stop=stopped(reason), days_ago=days_ago(days))
    ground.run(walk("A B"), stop=stopped(Reason.NO_PROGRESS), days_ago=days_ago(40))  # before both periods
    data = ground.data("stats", "--since", "7d", "--alert-rise", "3")
    assert data["runs"] == 2
    assert data["loop_abort"]["before"] == {"runs": 4, "rate": 0.25}
    assert len(data["alerts"]) == 1
    assert ground.command("stats", "--since", "7d", "--alert-rise", "4").return_value == 0
    assert ground.command("stats", "--since", "2020-01-01").return_value == 0


def test_one_broken_loop_is_no_rise(ground: Ground) -> None:
    ground.run(walk("A B"), stop=stopped(Reason.DONE), days_ago=days_ago(10))
    ground.run(walk("A B"), stop=stopped(Reason.NO_PROGRESS), days_ago=days_ago(1))
    assert ground.command("stats", "--since", "7d", "--alert-rise", "2").return_value == 0


@pytest.mark.parametrize(
    "words",
    [
        ("--alert", "2"),
        ("--alert", "nan"),
        ("--alert", "many"),
        ("--alert-rise", "-1", "--since", "7d"),
        ("--alert-rise", "2"),
        ("--since", "soon"),
        ("--since", "2999-01-01"),
    ],
)
def test_mistakes_are_named(ground: Ground, words: tuple[str, ...]) -> None:
    with pytest.raises(UserError) as caught:
        ground.command("stats", *words)
    assert caught.value.where in words
    assert caught.value.fix


def test_a_damaged_record_hides_no_other(ground: Ground) -> None:
    ground.run(walk("A B"), stop=stopped(Reason.DONE))
    ground.run(walk("A B"), stop=stopped(Reason.DONE)).journal.write_bytes(b"\x00\xff")
    assert ground.data("stats")["runs"] == 1


def test_all_trees_are_counted_when_asked(ground: Ground, tmp_path: Path) -> None:
    ground.run(walk("A B"), stop=stopped(Reason.DONE))
    (tmp_path / "other").mkdir()
    other = Ground(tmp_path / "other")
    other.state = ground.state
    other.places = type(other.places).of(other.top, state_dir=str(ground.state), environ={})
    other.run(walk("A B"), stop=stopped(Reason.DONE))
    assert ground.data("stats")["runs"] == 1
    assert ground.data("stats", "--all")["runs"] == 2
