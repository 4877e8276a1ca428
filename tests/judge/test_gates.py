"""Gates: when a run is done, and everything that only looks like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.facts import settings as conf
from ralph.facts.finding import Finding
from ralph.facts.iteration import GateResult
from ralph.facts.reason import Reason
from ralph.facts.run import Stop
from ralph.facts.suite import Suite, Verdict
from ralph.judge.gates import accepted, boxes, claims, expected_gates, gate_results, is_done, resting_green
from ralph.judge.globs import matches

GREEN = Suite("tests", Verdict.GREEN)
RED = Suite("tests", Verdict.RED, failing=frozenset({"a", "b"}))
TEST = conf.Test(command=("pytest",))
PROMISE = conf.PromiseGate()
LIST = conf.ChecklistGate("PLAN.md")
COMMAND = conf.CommandGate("make ok", ("/bin/sh", "-c", "make ok"))


def results(
    settings: conf.Settings,
    *,
    suites: tuple[Suite, ...] = (GREEN,),
    baseline_green: bool = False,
    claimed: bool = False,
    checklist: str | None = None,
    command: Suite | None = None,
    at_start: tuple[int, int] = (0, 0),
) -> tuple[GateResult, ...]:
    return gate_results(
        settings,
        suites=suites,
        baseline_green=baseline_green,
        claimed=claimed,
        checklist={"PLAN.md": checklist},
        commands={"command make ok": command} if command else {},
        boxes_at_start=(("PLAN.md", *at_start),),
    )


@pytest.mark.parametrize(
    "answer",
    [
        "DONE-7",
        "all good\nDONE-7",
        "x\r\n  **DONE-7**  \r\n",
        "x\n`DONE-7`\n\n",
        "x\n```\nDONE-7\n```\n",
        "** `DONE-7` **",
    ],
)
def test_a_token_on_the_last_line_is_a_claim_whatever_wraps_it(answer: str) -> None:
    """R068."""
    assert claims(answer, "DONE-7")


@pytest.mark.parametrize(
    "answer",
    [
        "", "I will print DONE-7 when finished", "DONE-7\nno, one test is left", "not DONE-7", "DONE-77", "done-7",
        "all done with step 1, complete, finished",
    ],
)  # fmt: skip
def test_a_token_anywhere_else_or_prose_is_no_claim(answer: str) -> None:
    """R067."""
    assert not claims(answer, "DONE-7")


@given(st.text(), st.text(alphabet=" `*\r\n\t"))
def test_an_empty_token_matches_nothing(answer: str, token: str) -> None:
    """R064."""
    assert not claims(answer, token)


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("", (0, 0)),
        ("- [ ] a\n* [x] b\n+ [X] c\n1. [ ] d\n  - [x] nested", (2, 3)),
        ("```\n- [ ] in code\n```\n- [x] out", (0, 1)),
        ("~~~~ md\n- [ ] a\n~~~\n- [ ] b\n~~~~\n- [x] c", (0, 1)),
        ("```\n- [ ] the fence never ends", (0, 0)),
        ("[ ] no list\n- [] no box\n- [y] no box\n-[ ] no blank\n- [x](link)", (0, 0)),
    ],
)
def test_only_list_boxes_outside_code_count(text: str, counts: tuple[int, int]) -> None:
    assert boxes(text) == counts


@pytest.mark.parametrize(
    ("text", "holds", "detail"),
    [
        (None, False, "file missing or unreadable"),
        ("no boxes here", False, "no boxes"),
        ("```\n- [x] a\n```", False, "no boxes"),
        ("- [x] a\n- [ ] b", False, "1 of 2 ticked"),
        ("- [x] a\n- [x] b", True, "2 of 2 ticked"),
        ("- [x] a", True, "1 of 1 ticked, 1 gone"),
    ],
)
def test_a_checklist_holds_when_it_has_boxes_and_all_are_ticked(text: str | None, holds: bool, detail: str) -> None:
    found = results(conf.Settings(done=(LIST,)), checklist=text, at_start=(2, 0))
    assert found == (GateResult("checklist PLAN.md", holds, detail),)


@pytest.mark.parametrize(
    ("suite", "detail"),
    [
        (RED, "tests: red, 2 failing"),
        (Suite("tests", Verdict.NONE_RAN), "tests: none-ran"),
        (Suite("tests", Verdict.TIMED_OUT), "tests: timed-out"),
        (Suite("tests", Verdict.FLAKY), "tests: flaky"),
        (None, "tests: not run"),
    ],
)
def test_nothing_but_green_tests_hold(suite: Suite | None, detail: str) -> None:
    """R097."""
    found = results(conf.Settings(test=TEST), suites=(suite,) if suite else ())
    assert found == (GateResult("tests", False, detail),)


def test_a_red_check_counts_like_a_test() -> None:
    settings = conf.Settings(test=TEST, checks=(conf.Check("lint", ("ruff",)),))
    lint = Suite("lint", Verdict.RED, failing=frozenset({"exit 1"}))
    assert results(settings, suites=(GREEN, lint)) == (GateResult("tests", False, "lint: red, 1 failing"),)
    assert results(settings, suites=(GREEN, Suite("lint", Verdict.GREEN)))[0].holds


def test_a_command_gate_holds_on_exit_0() -> None:
    settings = conf.Settings(done=(COMMAND,))
    green = Suite("command make ok", Verdict.GREEN, exit="exit 0")
    assert results(settings, command=green) == (GateResult("command make ok", True, "exit 0"),)
    red = Suite("command make ok", Verdict.RED, exit="exit 2")
    assert results(settings, command=red) == (GateResult("command make ok", False, "exit 2"),)
    assert results(settings) == (GateResult("command make ok", False, "not run"),)


@pytest.mark.parametrize(
    ("settings", "baseline", "names"),
    [
        (conf.Settings(), None, ()),
        (conf.Settings(test=TEST), None, ("tests",)),
        (conf.Settings(test=TEST), RED, ("tests",)),
        (conf.Settings(test=TEST), GREEN, ()),
        (conf.Settings(test=TEST, done=(PROMISE, LIST)), GREEN, ("tests", "promise", "checklist PLAN.md")),
    ],
)
def test_which_gates_can_end_the_run(settings: conf.Settings, baseline: Suite | None, names: tuple[str, ...]) -> None:
    assert expected_gates(settings, baseline) == names


def done(
    settings: conf.Settings, *findings: Finding, baseline_green: bool = False, claimed: bool = True
) -> Stop | None:
    found = results(settings, baseline_green=baseline_green, claimed=claimed)
    return is_done(settings, found, findings=findings, baseline_green=baseline_green)


def test_green_tests_end_a_run_that_began_red() -> None:
    assert done(conf.Settings(test=TEST)) == Stop(Reason.DONE, "every gate holds: tests (green)", verified=True)


def test_tests_that_were_green_all_along_never_end_a_run_alone() -> None:
    """R070."""
    assert done(conf.Settings(test=TEST), baseline_green=True) is None


def test_a_promise_over_tests_green_all_along_is_verified_by_them() -> None:
    stop = done(conf.Settings(test=TEST, done=(PROMISE,)), baseline_green=True)
    assert stop is not None
    assert stop.verified


def test_a_promise_alone_is_claimed_not_verified() -> None:
    """R065."""
    assert done(conf.Settings(done=(PROMISE,))) == Stop(Reason.DONE, "claimed, not verified", verified=False)


def test_a_promise_with_red_tests_is_not_done() -> None:
    """R065."""
    settings = conf.Settings(test=TEST, done=(PROMISE,))
    found = results(settings, suites=(RED,), claimed=True)
    assert is_done(settings, found, findings=(), baseline_green=False) is None


def test_no_gate_is_never_done() -> None:
    assert done(conf.Settings()) is None


VANISHED = Finding("tests-vanished", "x", ("tests/test_a.py::t", "tests.test_b::u"), blocks=True)
PROTECTED = Finding("protected-changed", "x", ("tests/test_a.py",), blocks=True)


def allowing(*patterns: str) -> conf.Settings:
    return conf.Settings(test=conf.Test(command=("pytest",), allow_changes=patterns))


def test_a_finding_blocks_done_until_the_user_clears_it() -> None:
    """E3, R098."""
    assert done(conf.Settings(test=TEST), VANISHED) is None
    assert done(allowing("tests/"), VANISHED) is not None
    assert done(allowing("tests/test_a.py"), VANISHED) is None
    assert done(conf.Settings(test=TEST, run=conf.RunRules(accept_findings=True)), VANISHED, PROTECTED) is not None


def test_allowed_test_changes_do_not_open_protected_files() -> None:
    assert not accepted(allowing("**"), PROTECTED)


def test_a_finding_that_does_not_block_lets_done_through() -> None:
    assert done(conf.Settings(test=TEST), Finding("git-config", "x")) is not None


@pytest.mark.parametrize(("rested", "ends"), [(0, False), (1, False), (2, True), (5, True)])
def test_green_with_changed_tests_ends_as_no_progress_once_the_tree_rests(rested: int, ends: bool) -> None:
    settings = conf.Settings(test=TEST)
    stop = resting_green(settings, results(settings), findings=(VANISHED,), baseline_green=False, rested=rested)
    wanted = Stop(
        Reason.NO_PROGRESS, "green, but tests changed (tests-vanished)", tests=tuple(sorted(VANISHED.subjects))
    )
    assert stop == (wanted if ends else None)


def test_resting_is_no_ending_where_nothing_blocks_or_a_gate_is_open() -> None:
    settings = conf.Settings(test=TEST)
    assert resting_green(settings, results(settings), findings=(), baseline_green=False, rested=9) is None
    red = results(settings, suites=(RED,))
    assert resting_green(settings, red, findings=(VANISHED,), baseline_green=False, rested=9) is None


@pytest.mark.parametrize(
    ("pattern", "path", "found"),
    [
        ("*.py", "a/b.py", True),
        ("/b.py", "a/b.py", False),
        ("tests/", "tests/a/b.py", True),
        ("tests/", "a/tests/b.py", True),
        ("tests/", "tests", False),
        ("a/*.py", "a/b/c.py", False),
        ("a/**/c.py", "a/b/b/c.py", True),
        ("a/**/c.py", "a/c.py", True),
        ("**/c", "c/x", True),
        ("a/**", "a/b/c", True),
        ("a/**", "a", False),
        ("[ab].txt", "b.txt", True),
        ("[!ab].txt", "b.txt", False),
        ("a?c", "a/c", False),
        ("a[.py", "a[.py", True),
    ],
)
def test_patterns_mean_what_gitignore_means(pattern: str, path: str, found: bool) -> None:
    assert matches(path, [pattern]) is found


def test_the_last_pattern_wins() -> None:
    assert not matches("tests/a.py", ["tests/", "!tests/a.py"])
    assert matches("tests/a.py", ["!tests/a.py", "tests/"])


@given(st.text(max_size=20), st.text(max_size=20))
def test_no_pattern_raises(pattern: str, path: str) -> None:
    matches(path, [pattern])
