"""Limits of the run, and the order in which reasons are named when several hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ralph.facts.finding import Finding
from ralph.facts.iteration import GateResult, Spent
from ralph.facts.outcome import Outcome
from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Stop
from ralph.facts.settings import Limits, RunRules, Settings
from ralph.facts.settings import Test as HowToTest
from ralph.facts.usage import Charge, Source, Tokens
from ralph.judge.stops import RULES, decide
from tests.builders import NOON, ending, history

ONE = 1_000_000


def costing(micro: int | None, source: Source = Source.REPORTED, *, tokens: int | None = None) -> Spent:
    return Spent(Charge(micro, source), None if tokens is None else Tokens(input=tokens))


def limits(**fields: object) -> Settings:
    return Settings(limits=replace(Limits(), **fields))  # type: ignore[arg-type]  # replace checks the names


def test_iterations_are_counted_void_ones_too() -> None:
    number, stop = ending("A B=quota C D", limits(iterations=3))
    assert stop == Stop(Reason.ITERATION_LIMIT, "3 of 3 iterations are used; the last ended as new")
    assert number == 3


def test_without_a_limit_there_is_none() -> None:
    words = "A " + " ".join(f"n{i}" for i in range(60))
    assert ending(words, limits(iterations=None))[1] is None
    assert ending(words)[0] == 50


@pytest.mark.parametrize("moment", [Moment(10.0, 0.0), Moment(10.0, -5.0), Moment(8 * 3600.0, None)])
def test_the_deadline_ends_the_run(moment: Moment) -> None:
    stop = decide(history("A B"), Settings(), moment)
    assert stop is not None
    assert stop.reason is Reason.TIME_LIMIT


def test_until_is_named() -> None:
    stop = decide(history("A"), limits(until="07:00"), Moment(7200.0, 0.0))
    assert stop is not None
    assert stop.detail == "the run has lasted 2 h (until 07:00)"
    assert decide(history("A"), limits(time=None), Moment(1e9, None)) is None


def test_the_cap_is_reached_and_the_overshoot_counts() -> None:
    """R075: four launches of a dollar under a cap of 3.50."""
    number, stop = ending("A B C D E F", limits(cost=3_500_000), spent=costing(ONE))
    assert (number, stop) == (4, Stop(Reason.COST_LIMIT, "spent $4.00 of $3.50"))


def test_exactly_three_launches_under_a_cap_of_three() -> None:
    """R076."""
    assert ending("A B C D E F", limits(cost=3 * ONE), spent=costing(ONE))[0] == 3


def test_an_unknown_cost_ends_a_capped_run() -> None:
    stop = ending("A B C", limits(cost=ONE), spent=costing(250_000, Source.HOLD))[1]
    assert stop is not None
    assert (stop.reason, stop.iterations) == (Reason.COST_LIMIT, (1,))
    assert stop.detail.startswith("cost unknown")


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        ("A A=quick", limits(cost=ONE)),
        ("A B", limits(cost=ONE, cost_per_iteration=1000)),
        ("A B", limits()),
    ],
)
def test_an_unknown_cost_alone_is_no_reason(words: str, settings: Settings) -> None:
    assert ending(words, settings, spent=costing(1000, Source.HOLD))[1] is None


def test_a_killed_iteration_after_known_ones_is_charged_and_no_more() -> None:
    past = history("A B", limits(cost=10 * ONE), spent=costing(ONE))
    past.add(replace(past.iterations[0], number=2, spent=costing(ONE, Source.HOLD)))
    assert decide(past, limits(cost=10 * ONE), NOON) is None


def test_a_lower_bound_says_so() -> None:
    """R071."""
    stop = ending("A B C", limits(cost=ONE), spent=costing(ONE, Source.SEEN_LIVE))[1]
    assert stop == Stop(Reason.COST_LIMIT, "spent at least $1.00 of $1.00")


def test_tokens_are_counted_over_the_run() -> None:
    number, stop = ending("A B C D", limits(tokens=2500), spent=costing(0, tokens=1000))
    assert (number, stop) == (3, Stop(Reason.TOKEN_LIMIT, "used 3,000 of 2,500 tokens"))


def test_tokens_nobody_tells_cannot_be_capped() -> None:
    stop = ending("A B C", limits(tokens=2500))[1]
    assert stop is not None
    assert stop.reason is Reason.TOKEN_LIMIT
    assert stop.detail.startswith("tokens unknown")
    assert ending("A B=failed", limits(tokens=2500))[1] is None


HELD = (GateResult("tests", True, "green"),)
PROMISED = (GateResult("promise", True, "claimed"),)
CHANGED = (Finding("tests-vanished", "2 tests vanished", ("a", "b"), blocks=True),)
TESTED = Settings(test=HowToTest(command=("pytest",)))


def test_done_comes_before_every_other_reason() -> None:
    """R066: also in the last allowed iteration."""
    rules = replace(TESTED, limits=Limits(iterations=3, cost=1))
    number, stop = ending("A!x A!x A!x A!", rules, spent=costing(ONE, Source.REPORTED), gates=())
    assert (number, stop.reason if stop else None) == (1, Reason.COST_LIMIT)
    stop = decide(history("A!x A!x B!x B!", rules, gates=HELD), rules, Moment(9e9, -1.0))
    assert stop is not None
    assert replace(stop, states=()) == Stop(
        Reason.DONE, "every gate holds: tests (green)", iterations=(3,), verified=True
    )
    assert len(stop.states) == 1


def test_a_promise_alone_is_claimed_not_verified() -> None:
    """R065."""
    stop = ending("A B", gates=PROMISED, claimed=True)[1]
    assert stop is not None
    assert (stop.reason, stop.verified, stop.detail) == (Reason.DONE, False, "claimed, not verified")


def test_a_limited_agent_has_not_kept_its_promise() -> None:
    """R063."""
    assert ending("A B=quota", gates=PROMISED, claimed=True)[1] is None


def test_green_all_along_is_a_condition_not_a_goal() -> None:
    number, stop = ending("A! A! A! A!", TESTED, gates=HELD)
    assert (number, stop.reason if stop else None) == (3, Reason.NO_PROGRESS)


def test_green_but_tests_changed_ends_when_the_tree_rests() -> None:
    number, stop = ending("A!x B! B! B! B!", TESTED, gates=HELD, findings=CHANGED)
    assert stop is not None
    assert (number, stop.reason) == (3, Reason.NO_PROGRESS)
    assert stop.detail.startswith("green, but tests changed")
    assert (stop.iterations, stop.tests) == ((2, 3), ("a", "b"))


def test_accepted_findings_let_it_be_done() -> None:
    rules = replace(TESTED, run=RunRules(accept_findings=True))
    assert ending("A!x B!", rules, gates=HELD, findings=CHANGED)[1] is not None


def test_the_table_keeps_the_order_of_the_contract() -> None:
    names = [rule.__name__ for rule in RULES]
    assert names == [
        "done",
        "blocked",
        "agent_missing",
        "agent_setup",
        "agent_quota",
        "agent_failing",
        "agent_hang",
        "cost_limit",
        "token_limit",
        "time_limit",
        "tests_changed",
        "no_progress",
        "claims",
        "side_matter",
        "oscillation",
        "circle_of_tests",
        "file_flip_flop",
        "reverse_hunks",
        "net_zero",
        "tests_stuck",
        "iteration_limit",
    ]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_no_rule_stops_a_run_that_has_not_begun(rule: object) -> None:
    past = history("A!x")
    assert callable(rule)
    assert rule(past, Settings(limits=Limits(cost=1, tokens=1)), NOON) is None


def test_a_run_that_reached_its_limit_by_our_cut_ends_by_it() -> None:
    past = history("A B=limit", limits(cost=ONE), spent=costing(ONE, Source.SEEN_LIVE))
    stop = decide(past, limits(cost=ONE), NOON)
    assert stop is not None
    assert stop.reason is Reason.COST_LIMIT
    assert past.newest is not None
    assert past.newest.outcome is Outcome.LIMIT
