"""What moved between runs, and which run counts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.facts.suite import Suite, SuiteChange, Verdict
from ralph.judge.suites import (
    CachedSuite,
    change,
    failing_ids,
    flaky,
    is_synthetic,
    known_ids,
    needs_rerun,
    reusable,
    settled,
    usable,
)
from ralph.testreports.parsed import UNNAMED


def made(passing: str = "", failing: str = "", skipped: str = "", **fields: object) -> Suite:
    """Return a suite of blank-separated ids; red where one fails, else green."""
    verdict = Verdict.RED if failing else Verdict.GREEN
    sets = (frozenset(text.split()) for text in (passing, failing, skipped))
    known = {"name": "tests", "verdict": verdict, "format": "junit", "passed": len(passing.split())} | fields
    names = ("passing", "failing", "skipped")
    return Suite(**(known | dict(zip(names, sets, strict=True))))  # type: ignore[arg-type]


def test_the_first_run_is_all_fresh() -> None:
    assert change(None, made("a", "b"), frozenset()) == SuiteChange(fresh=("a", "b"))


def test_every_kind_of_move_is_named() -> None:
    before = made("keeps breaks gone skips", "fixed stays", "")
    after = made("keeps fixed new", "breaks stays", "skips")
    assert change(before, after, known_ids([before])) == SuiteChange(
        newly_passing=("fixed",),
        newly_failing=("breaks",),
        fresh=("new",),
        vanished=("gone",),
        newly_skipped=("skips",),
    )


def test_a_failing_test_that_was_deleted_or_skipped_is_not_newly_passing() -> None:
    moved = change(made("a", "x y"), made("a", "", "y"), frozenset())
    assert (moved.newly_passing, moved.vanished, moved.newly_skipped) == ((), ("x",), ("y",))


def test_a_test_known_only_from_long_ago_vanishes_too() -> None:
    assert change(made("a"), made("a"), frozenset({"a", "old"})).vanished == ("old",)


def test_without_passing_ids_a_failure_that_left_passed_and_nothing_vanishes() -> None:
    """pytest -q tells failing ids and counts only."""
    before, after = made("", "x y", passed=3, total=5), made("", "y", passed=4, total=5)
    assert change(before, after, known_ids([before])) == SuiteChange(newly_passing=("x",))


def test_a_run_that_stopped_early_says_nothing_of_the_rest() -> None:
    moved = change(made("a b", "c"), made("a", "d", partial=True), frozenset())
    assert (moved.vanished, moved.newly_passing) == ((), ())


@pytest.mark.parametrize("verdict", [Verdict.TIMED_OUT, Verdict.BROKEN])
def test_a_run_without_a_result_says_nothing(verdict: Verdict) -> None:
    assert change(made("a", "b"), made(verdict=verdict), frozenset({"a", "b"})) == SuiteChange()


def test_a_run_of_no_tests_lost_them_all() -> None:
    none = made(verdict=Verdict.NONE_RAN, passed=0, total=0)
    assert change(made("a", "b"), none, frozenset()).vanished == ("a", "b")


@pytest.mark.parametrize(
    ("container", "inside"),
    [("test_a.py", "test_a.py::t"), ("test_a", "test_a.C::t"), ("m.B.setUpClass", "m.B.test_n"), ("p/q", "p/q::TestX")],
)
def test_a_module_that_imports_again_is_newly_passing(container: str, inside: str) -> None:
    broken, whole = made("z", container), made(f"z {inside}")
    assert change(broken, whole, known_ids([whole])) == SuiteChange(newly_passing=(container,))
    hidden = change(whole, broken, known_ids([whole]))
    assert (hidden.newly_failing, hidden.vanished) == ((container,), ())


def test_an_exit_code_that_changes_is_no_progress_until_green() -> None:
    one, two, green = (made("", one, passed=None) for one in ("", "", ""))
    one, two = (Suite("tests", Verdict.RED, failing=frozenset({text})) for text in ("exit 1", "exit 2"))
    assert change(one, two, frozenset()) == SuiteChange(newly_failing=("exit 2",))
    assert change(two, green, frozenset()) == SuiteChange(newly_passing=("exit 2",))


def test_ids_that_stand_for_no_test_are_known() -> None:
    assert all(map(is_synthetic, ("exit 1", "killed by signal 11", "plan of 3 tests", "bail out: x", UNNAMED)))
    assert not is_synthetic("test_exit 1")


IDS = st.frozensets(st.sampled_from("abcdef"))


@given(IDS, IDS, IDS, IDS)
def test_no_id_is_both_newly_passing_and_vanished(
    p1: frozenset[str], f1: frozenset[str], p2: frozenset[str], f2: frozenset[str]
) -> None:
    before, after = made(" ".join(p1 - f1), " ".join(f1)), made(" ".join(p2 - f2), " ".join(f2))
    moved = change(before, after, known_ids([before]))
    assert not set(moved.newly_passing) & (set(moved.vanished) | after.failing)
    assert not set(moved.vanished) & (after.passing | after.failing | after.skipped)


def test_ids_of_checks_carry_their_name_and_broken_is_not_green() -> None:
    suites = (
        made("", "a"),
        Suite("lint", Verdict.RED, failing=frozenset({"exit 1"})),
        made(name="types", verdict=Verdict.TIMED_OUT),
    )
    assert failing_ids(suites) == {"a", "lint/exit 1", "types/(timed-out)"}


def test_two_runs_that_disagree_are_flaky_and_the_difference_is_neutral() -> None:
    both = flaky(made("a b", "x y"), made("a x", "b y"))
    assert both is not None
    assert (both.verdict, both.flaky) == (Verdict.FLAKY, frozenset({"b", "x"}))
    assert (both.passing, both.failing) == (frozenset({"a"}), frozenset({"y"}))
    assert both.digest != ""


def test_two_runs_that_agree_are_not_flaky() -> None:
    assert flaky(made("a", "b"), made("a", "b")) is None


def test_flaky_without_ids_names_both_verdicts() -> None:
    both = flaky(Suite("tests", Verdict.RED, failing=frozenset({"exit 1"})), made(passed=None))
    assert both is not None
    assert both.detail == "same tree, two verdicts: red, then green"
    assert both.failing == frozenset()


GREEN, RED, OTHER = made("a"), made("", "a"), made("a", "b")


@pytest.mark.parametrize(
    ("runs", "reuse", "again", "counts"),
    [
        ([GREEN], Verdict.GREEN, False, Verdict.GREEN),
        ([RED], None, False, Verdict.RED),
        ([RED, RED], Verdict.RED, False, Verdict.RED),
        ([RED, OTHER], Verdict.FLAKY, False, Verdict.FLAKY),
        ([RED, GREEN], None, True, Verdict.FLAKY),
        ([RED, GREEN, GREEN], Verdict.GREEN, False, Verdict.GREEN),
        ([RED, GREEN, RED], Verdict.FLAKY, False, Verdict.FLAKY),
        ([GREEN, RED], Verdict.FLAKY, False, Verdict.FLAKY),
    ],
)
def test_what_counts_on_one_tree(runs: list[Suite], reuse: Verdict | None, again: bool, counts: Verdict) -> None:
    """R102: green is reused, red runs again once, green after red is confirmed before it counts."""
    found = reusable(runs)
    assert (found.verdict if found else None) is reuse
    assert found is None or found.reused
    assert needs_rerun(runs) is again
    assert settled(runs).verdict is counts


def test_a_tree_never_run_is_not_reused() -> None:
    assert reusable([]) is None


NOW = datetime(2026, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("age_days", "tree", "command", "verdict", "stands"),
    [
        (0, "t", ("x",), Verdict.GREEN, True),
        (7, "t", ("x",), Verdict.RED, True),
        (7.01, "t", ("x",), Verdict.GREEN, False),
        (-1, "t", ("x",), Verdict.GREEN, False),
        (1, "u", ("x",), Verdict.GREEN, False),
        (1, "t", ("y",), Verdict.GREEN, False),
        (1, "t", ("x",), Verdict.TIMED_OUT, False),
        (1, "t", ("x",), Verdict.FLAKY, False),
    ],
)
def test_a_baseline_is_kept_for_a_week(
    age_days: float, tree: str, command: tuple[str, ...], verdict: Verdict, stands: bool
) -> None:
    cached = CachedSuite("t", ("x",), NOW - timedelta(days=age_days), made("a", verdict=verdict))
    assert usable(cached, tree, command=command, now=NOW) is stands
