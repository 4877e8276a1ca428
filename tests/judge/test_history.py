"""The fold over a run: sums, the best, what is known, and that iteration 10,000 costs what iteration 10 did."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from ralph.facts.finding import Finding
from ralph.facts.iteration import Spent
from ralph.facts.run import Best, Totals
from ralph.facts.settings import Limits, Settings, StopRules
from ralph.facts.suite import Verdict
from ralph.facts.tree import Tree
from ralph.facts.usage import Charge, Source, Tokens
from ralph.judge import trail
from ralph.judge.history import WINDOW, History
from ralph.judge.step import Kind
from ralph.judge.stops import decide
from tests.builders import NOON, history, iteration, opening, suite, tree, walk

ENDLESS = Settings(limits=Limits(iterations=None))


def test_the_kinds_of_steps() -> None:
    past = History(opening("A"), Settings())
    kinds = [past.add(one).kind for one in walk("A A B A A* A=quota C=failed")]
    assert kinds == [Kind.IDLE, Kind.NEW, Kind.RETURN, Kind.SOFT, Kind.VOID, Kind.NEW]


def test_a_step_names_who_was_there_first() -> None:
    past = history("A B C")
    step = past.add(iteration(3, before="C", agent="B"))
    assert (step.first, step.known, step.moved, step.undone, step.state) == (1, True, True, False, "B")


def test_is_new_asks_without_telling() -> None:
    past = history("A!x B!y")
    assert not past.is_new(tree("A"))
    assert past.is_new(tree("A"), (suite(["y"]),))
    assert not past.is_new(tree("A"), (suite(["x"]),))
    assert past.is_new(tree("C"))
    assert past.is_new(tree("C"))
    assert past.is_new(Tree("A", "A", partial=("inner",)))


def test_what_the_tests_left_behind_is_known() -> None:
    past = history("A B/T")
    assert past.add(iteration(2, before="T", agent="T")).kind is Kind.IDLE
    assert not past.is_new(tree("T"))


def test_the_window_holds_the_newest_and_the_count_all() -> None:
    past = history("A " + " ".join(f"n{i}" for i in range(WINDOW + 5)))
    assert (past.count, len(past.iterations), past.iterations[-1].number) == (WINDOW + 5, WINDOW, WINDOW + 5)
    assert past.newest is past.iterations[-1]


def test_tests_are_followed() -> None:
    past = history("A!x B!x,y C! D")
    assert past.tests_last is not None
    assert past.tests_last.verdict is Verdict.GREEN
    assert past.ever_red
    assert past.known_tests == {"x", "y", "test_always_green"}
    assert not past.baseline_green
    assert history("A! B").baseline_green
    empty = history("A B")
    assert (empty.tests_last, empty.ever_red, empty.known_tests, empty.green_is_goal) == (
        None,
        False,
        frozenset(),
        False,
    )


def test_rested_counts_still_iterations_void_ones_aside() -> None:
    assert history("A B B B=quota B*").rested == (2, 4)
    assert history("A B").rested == ()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("A B", None),
        ("A!x B", Best(0, "1 failing, 1 passing")),
        ("A!x,y B!x C!x,y", Best(1, "1 failing, 2 passing")),
        ("A!x B!x C!x", Best(2, "1 failing, 1 passing")),
    ],
)
def test_the_best_has_the_fewest_failing_then_the_most_passing_then_is_the_latest(
    words: str, expected: Best | None
) -> None:
    assert history(words).best == expected


def test_more_passing_is_better_among_equals() -> None:
    past = history("A!x")
    past.add(replace(iteration(1), suites=(suite(["x"], ["a", "b"]),)))
    past.add(replace(iteration(2), suites=(suite(["x"], ["a"]),)))
    assert past.best == Best(1, "1 failing, 2 passing")


def test_one_that_tampered_is_never_the_best() -> None:
    gone = Finding("tests-vanished", "x vanished", ("x",), blocks=True)
    assert history("A!x B!", findings=(gone,)).best == Best(0, "1 failing, 1 passing")
    assert history("A!x B!", findings=(replace(gone, blocks=False),)).best == Best(1, "0 failing, 2 passing")


@pytest.mark.parametrize("verdict", [Verdict.FLAKY, Verdict.BROKEN, Verdict.TIMED_OUT, Verdict.NONE_RAN])
def test_a_suite_without_a_verdict_is_no_best(verdict: Verdict) -> None:
    past = History(opening("A"), Settings())
    past.add(replace(iteration(1), suites=(suite(verdict=verdict),)))
    assert past.best is None


def test_an_exit_code_is_shown_as_a_verdict() -> None:
    past = History(opening("A"), Settings())
    past.add(replace(iteration(1), suites=(suite(["exit 1"], (), form="exit"),)))
    assert past.best == Best(1, "red")


def spent(micro: int | None, source: Source, tokens: int | None = None) -> Spent:
    return Spent(Charge(micro, source), None if tokens is None else Tokens(tokens, 0, 99))


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], Totals()),
        ([spent(None, Source.UNKNOWN)], Totals(cost_source="unknown", at_least=True, tokens_at_least=True)),
        ([spent(5, Source.REPORTED, 3)] * 2, Totals(tokens=6, cost_micro=10, cost_source="reported")),
        (
            [spent(5, Source.REPORTED, 3), spent(None, Source.UNKNOWN)],
            Totals(tokens=3, cost_micro=5, cost_source="reported", at_least=True, tokens_at_least=True),
        ),
        ([spent(5, Source.PRICED, 3), spent(1, Source.HOLD, 0)], Totals(tokens=3, cost_micro=6, cost_source="mixed")),
        ([spent(5, Source.SEEN_LIVE, 1)], Totals(tokens=1, cost_micro=5, cost_source="seen-live", at_least=True)),
        ([spent(0, Source.FREE)], Totals(cost_micro=0, cost_source="free")),
    ],
)
def test_a_sum_with_a_hole_says_at_least(rows: list[Spent], expected: Totals) -> None:
    past = History(opening("A"), Settings())
    for number, row in enumerate(rows, 1):
        past.add(replace(iteration(number, before="A", agent="A"), spent=row))
    assert past.totals == replace(expected, iterations=len(rows), elapsed_s=60.0 * len(rows))


def calls_of(past: History, number: int) -> int:
    """Return how many Python calls it takes to add one more iteration and to decide."""
    count = 0

    def counted(_frame: object, event: str, _arg: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    one = replace(
        walk("A!x B!x")[0], number=number, trees=iteration(number, before=f"n{number - 1}", agent=f"n{number}").trees
    )
    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        past.add(one)
        assert decide(past, ENDLESS, NOON) is None
    finally:
        sys.setprofile(before)
    return count


def test_iteration_10_000_costs_what_iteration_20_did() -> None:
    """Counted, not timed."""
    past = History(opening("n0!x"), ENDLESS)
    costs = [calls_of(past, number) for number in range(1, 101)]
    for number in range(101, 10_000):
        past.add(iteration(number, before=f"n{number - 1}", agent=f"n{number}"))
    assert calls_of(past, 10_000) <= 1.1 * costs[50]
    assert past.count == 10_000
    assert len(past.seen) == 10_000 + 1


def test_a_full_window_costs_no_more_while_nothing_moves() -> None:
    off = replace(ENDLESS, stop=replace(ENDLESS.stop, no_progress=None, oscillation=None))
    past = History(opening("A!x"), off)
    one = walk("A!x A!x")[0]
    for number in range(1, 3000):
        past.add(replace(one, number=number))
    assert len(past.seen) == 1
    assert len(past.stretch.wandering) <= 8
    assert len(past.trail.stuck) <= 10


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("A B", ""),
        ("A A", "1/3 without progress"),
        ("A B A B", "1/3 without progress, 2/3 in known states"),
        ("A A A=quota A", "2/3 without progress"),
    ],
)
def test_how_near_a_stop_is_can_be_shown(words: str, expected: str) -> None:
    """R041: printed in every iteration's line."""
    assert history(words).stretch.words() == expected


def test_a_rule_that_is_off_is_not_shown() -> None:
    off = Settings(stop=StopRules(no_progress=None, oscillation=None))
    assert history("A A B A B", off).stretch.words() == ""


def test_known_tests_are_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trail, "IDS_KEPT", 2)
    past = history("A!x B!x")
    past.add(replace(iteration(2, before="B", agent="C"), suites=(suite(["new"]),)))
    assert past.known_tests == {"x", "test_always_green"}


def test_breaks_are_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trail, "BREAKS_KEPT", 1)
    assert len(history("A!o B!o,x,y").trail.breaks) == 1
