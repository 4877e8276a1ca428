"""Rules that read the tests, claims and paths; and that none of them fires on healthy work (detection 2.6)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ralph.facts.finding import Finding
from ralph.facts.iteration import GateResult, Iteration
from ralph.facts.reason import Reason
from ralph.facts.run import Stop
from ralph.facts.settings import ChecklistGate, Limits, PromiseGate, Settings, StopRules
from ralph.facts.settings import Test as HowToTest
from ralph.facts.suite import SuiteChange, Verdict
from ralph.facts.tree import Changes
from ralph.judge.history import History
from ralph.judge.sideshow import side
from ralph.judge.stops import decide
from tests.builders import NOON, ending, opening, suite, walk

GOAL = Settings(test=HowToTest(command=("pytest",)), limits=Limits(iterations=None))
"""Getting green is the goal, if the start is red."""
PLAN = replace(GOAL, done=(ChecklistGate("PLAN.md"),))


def fresh(sets: str, *, start: str = "a") -> str:
    """Return a walk in which every iteration has a new tree, with these failing sets."""
    return f"S!{start} " + " ".join(f"n{i}!{names}" for i, names in enumerate(sets.split("|")))


def run(iterations: tuple[Iteration, ...], settings: Settings = GOAL, *, start: str = "S!a") -> tuple[int, Stop | None]:
    past = History(opening(start), settings)
    for one in iterations:
        past.add(one)
        if (stop := decide(past, settings, NOON)) is not None:
            return one.number, stop
    return past.count, None


@pytest.mark.parametrize(
    ("sets", "settings", "last", "reason"),
    [
        pytest.param("a|a|a|a", GOAL, 4, None, id="four times the same failures"),
        pytest.param("a|a|a|a|a", GOAL, 5, Reason.TESTS_STUCK, id="R050 R035 five"),
        pytest.param("a|a|a|a|a|a|a|a|a|a", PLAN, 10, None, id="an old red test beside a plan"),
        pytest.param("a,b|a,b|a|a|a|a", GOAL, 6, None, id="repaired one in between"),
        pytest.param("a|b|a|b", GOAL, 4, Reason.OSCILLATION, id="fix one, break one"),
        pytest.param("a|b|a|b", PLAN, 4, Reason.OSCILLATION, id="fix one, break one, beside a plan"),
        pytest.param("a|b|c|a|b|c", PLAN, 6, Reason.OSCILLATION, id="period three"),
        pytest.param("a|b|c|d|a|b|c|d", PLAN, 8, Reason.OSCILLATION, id="period four"),
        pytest.param("o|o,f|o|o,f|o|o,f", PLAN, 6, None, id="a flaky test beside a plan and an old red one"),
        pytest.param("a|b|c|d|e|f|g|h", GOAL, 8, None, id="moving on"),
    ],
)
def test_failing_sets_end_a_run_where_they_should(
    sets: str, settings: Settings, last: int, reason: Reason | None
) -> None:
    number, stop = ending(fresh(sets), settings)
    assert (number, stop.reason if stop else None) == (last, reason)


def test_the_evidence_of_tests_stuck_is_named() -> None:
    stop = ending(fresh("a,b|a,b|a,b|a,b|a,b", start="a,b"), GOAL)[1]
    assert stop == Stop(
        Reason.TESTS_STUCK,
        "iterations 1-5 repaired no test; still failing: a, b",
        iterations=(1, 2, 3, 4, 5),
        tests=("a", "b"),
    )


def test_tests_stuck_obeys_a_number_and_off() -> None:
    assert ending(fresh("a|a|a"), replace(GOAL, stop=StopRules(tests_stuck=3)))[0] == 3
    assert ending(fresh("a|a|a"), replace(PLAN, stop=StopRules(tests_stuck=3)))[1] is not None
    assert ending(fresh("|".join("a" * 20)), replace(GOAL, stop=StopRules(tests_stuck=None)))[1] is None


def test_green_at_the_start_is_no_goal() -> None:
    assert ending(fresh("a|a|a|a|a|a", start=""), GOAL)[1] is None


def test_without_a_baseline_the_first_suite_tells_whether_green_is_the_goal() -> None:
    words = fresh("a|a|a|a|a|a|a").replace("S!a", "S")
    assert ending(words, GOAL)[0] == 6


def all_red(count: int, *, form: str = "junit") -> tuple[Iteration, ...]:
    red = (suite(["a"], passing=(), form=form),)
    return tuple(replace(one, suites=red) for one in walk("S " + " ".join(f"n{i}" for i in range(count))))


def test_must_not_fire_on_a_refactor_that_keeps_everything_red() -> None:
    assert run(all_red(7))[1] is None
    assert run(all_red(20))[0] == 8


def test_must_not_fire_on_an_exit_code_alone() -> None:
    """Weak evidence doubles the count."""
    assert run(all_red(9, form="exit"))[1] is None
    assert run(all_red(20, form="exit"))[0] == 10


def test_must_not_fire_on_tests_that_cannot_run_at_all() -> None:
    for verdict in (Verdict.BROKEN, Verdict.TIMED_OUT, Verdict.NONE_RAN):
        broken = (suite(verdict=verdict, passing=()),)
        assert run(tuple(replace(one, suites=broken) for one in all_red(20)))[1] is None


def test_must_not_fire_on_flaky_suites() -> None:
    """Neither named as flaky, nor in green runs with a plan where it comes and goes."""
    shaky = (suite(["f"], verdict=Verdict.FLAKY),)
    assert run(tuple(replace(one, suites=shaky) for one in all_red(20)))[1] is None
    assert ending(fresh("|f" * 20, start=""), PLAN)[1] is None


def test_must_not_fire_on_new_tests() -> None:
    grown = SuiteChange(fresh=("t",))
    rows = tuple(replace(one, change=grown) for one in walk(fresh("a|b|a|b|a|b|a|b")))
    assert run(rows, PLAN)[1] is None
    assert run(tuple(replace(one, change=grown) for one in walk(fresh("|".join("a" * 20)))))[1] is None


def test_must_not_fire_on_a_long_research_iteration() -> None:
    assert ending("A A* A* A* B")[1] is None


def test_must_not_fire_on_waiting_for_a_limit_or_an_outage() -> None:
    assert ending("A A=quota A=quota A=quota A=outage A=outage B")[1] is None


def test_must_not_fire_on_the_first_iteration() -> None:
    assert ending("A A")[1] is None


def test_must_not_fire_on_a_single_deliberate_revert() -> None:
    assert ending("A B C A D E F")[1] is None


def test_must_not_fire_on_review_only_where_the_gates_hold() -> None:
    rules = Settings(done=(PromiseGate(),), test=HowToTest(command=("pytest",)))
    gates = (GateResult("tests", True), GateResult("promise", True))
    stop = ending("A! A!", rules, gates=gates, claimed=True)[1]
    assert stop is not None
    assert stop.reason is Reason.DONE


def test_must_not_fire_on_a_rebase() -> None:
    """Trees are compared, commits are information."""
    assert ending("A B C D A2 E")[1] is None


def touching(paths: tuple[str, ...], count: int) -> tuple[Iteration, ...]:
    rows = walk("S " + " ".join(f"n{i}" for i in range(count)))
    return tuple(replace(one, changes=Changes(len(paths), 1, 1, paths)) for one in rows)


@pytest.mark.parametrize(
    ("paths", "last", "reason"),
    [
        pytest.param(("PLAN.md",), 5, Reason.NO_PROGRESS, id="the plan only"),
        pytest.param(("work/STEPS.txt",), 5, Reason.NO_PROGRESS, id="the file of the checklist gate only"),
        pytest.param(("build/app.log", "a/__pycache__/b.pyc"), 5, Reason.NO_PROGRESS, id="noise only"),
        pytest.param(("uv.lock",), 12, None, id="must not fire on lock files only"),
        pytest.param(("uv.lock", "pyproject.toml"), 12, None, id="must not fire on dependency updates"),
        pytest.param(("docs/guide.md", "README.md"), 12, None, id="must not fire on docs-only work"),
        pytest.param(("STATUS.md",), 12, None, id="R035 a heartbeat file is content, unless ignored"),
        pytest.param(("PLAN.md", "a.py"), 12, None, id="plan and code"),
        pytest.param((), 12, None, id="nothing known of the paths"),
    ],
)
def test_side_matter_ends_a_run_where_it_should(paths: tuple[str, ...], last: int, reason: Reason | None) -> None:
    rules = Settings(done=(ChecklistGate("work/STEPS.txt"),))
    number, stop = run(touching(paths, 12), rules, start="S")
    assert (number, stop.reason if stop else None) == (last, reason)
    assert run(touching(paths, 12), replace(rules, stop=StopRules(no_progress=None)), start="S")[1] is None


def test_must_not_fire_on_a_plan_writing_iteration() -> None:
    rows = (*touching(("PLAN.md",), 4), *walk("n3 m1 m2 m3 m4"))
    assert run(tuple(replace(one, number=n) for n, one in enumerate(rows, 1)), start="S")[1] is None


def test_the_sides_of_a_path_are_told_apart() -> None:
    assert side("sub/TODO.md", plans=frozenset()) == "plan"
    assert side("Cargo.lock", plans=frozenset()) is None
    assert side("x/node_modules/y.js", plans=frozenset()) == "noise"
    assert side("src/plan.py", plans=frozenset()) is None


RED = (GateResult("tests", False, "tests: red, 1 failing"),)


def test_done_claimed_three_times_over_red_gates_ends_the_run() -> None:
    number, stop = ending(fresh("a|a|a|a"), PLAN, gates=RED, claimed=True)
    assert stop is not None
    assert (number, stop.reason, stop.tests) == (3, Reason.NO_PROGRESS, ("a",))
    assert stop.detail == "iterations 1-3 claimed to be done, but ralph's check says no: tests"


def test_claims_that_get_nearer_are_no_loop() -> None:
    """R065, R067: a claim alone neither ends nor stops a run that moves."""
    assert ending(fresh("a,b,c|a,b|a|a|a", start="a,b,c,d"), PLAN, gates=RED, claimed=True)[1] is not None
    assert ending(fresh("a,b,c|a,b|a", start="a,b,c,d"), PLAN, gates=RED, claimed=True)[1] is None
    boxes = [(GateResult("checklist PLAN.md", False, f"{n} of 9 ticked"),) for n in range(6)]
    told = zip(walk("S a b c d e f"), boxes, strict=True)
    rows = tuple(replace(one, gates=gates, claimed=True) for one, gates in told)
    assert run(rows, PLAN)[1] is None


def test_a_claim_left_out_breaks_the_row() -> None:
    rows = walk("S a b c d e", gates=RED)
    assert run(tuple(replace(one, claimed=one.number != 3) for one in rows), PLAN)[1] is None


def test_no_progress_off_takes_claims_along() -> None:
    off = replace(PLAN, stop=StopRules(no_progress=None))
    assert ending(fresh("a|a|a|a"), off, gates=RED, claimed=True)[1] is None


def test_the_same_test_breaking_again_and_again_ends_the_run() -> None:
    number, stop = ending(fresh("o|o,t|o|o,t|o|o,t", start="o"), replace(GOAL, stop=StopRules(tests_stuck=None)))
    assert stop is not None
    assert stop.reason is Reason.OSCILLATION
    assert number == 4  # the sets o, (o, t) have gone round twice
    sets = "o,t|o|o|o|o|o,t|o|o|o|o|o,t"
    number, stop = ending(fresh(sets, start="o"), replace(GOAL, stop=StopRules(tests_stuck=None)))
    assert stop is not None
    assert (number, stop.tests, stop.iterations) == (11, ("t",), (1, 6, 11))
    assert ending(fresh(sets, start="o"), PLAN)[1] is None  # beside a plan it may be a flaky test


def test_beside_a_plan_a_test_breaks_again_where_another_is_repaired_for_it() -> None:
    number, stop = ending(fresh("b|a|x,b|a|a,b|b|a|a,b", start="a"), PLAN)
    assert stop is not None
    assert (number, stop.tests, stop.iterations) == (7, ("a",), (2, 4, 7))


def test_oscillation_off_takes_the_circles_along() -> None:
    off = replace(PLAN, stop=StopRules(oscillation=None))
    assert ending(fresh("a|b|a|b|a|b|a|b|a|b|a|b"), off)[1] is None


def test_fewer_failing_because_tests_went_away_is_no_progress() -> None:
    gone = Finding("tests-vanished", "b vanished", ("b",), blocks=True)
    rows = tuple(
        replace(one, findings=(gone,), change=SuiteChange(vanished=("b",)))
        for one in walk(fresh("a|a|a|a|a", start="a,b"))
    )
    assert run(rows, start="S!a,b")[0] == 5


def test_an_iteration_with_findings_counts() -> None:
    note = Finding("git-config", "core.hooksPath changed")
    assert ending("A A A A", findings=(note,))[0] == 3
