"""The stretches of design 3.1 as walks: one word an iteration, the first is the start."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.facts.finding import Signal
from ralph.facts.outcome import Outcome
from ralph.facts.reason import Reason
from ralph.facts.run import Stop
from ralph.facts.settings import CommandGate, Settings, StopRules
from ralph.facts.suite import Verdict
from ralph.judge.history import History
from ralph.judge.step import Kind
from tests.builders import ending, history, iteration, opening, suite, tree, walk

NP, OSC, LIMIT = Reason.NO_PROGRESS, Reason.OSCILLATION, Reason.ITERATION_LIMIT


@pytest.mark.parametrize(
    ("words", "last", "reason"),
    [
        pytest.param("A A A", 2, None, id="two idle iterations are allowed"),
        pytest.param("A A A A", 3, NP, id="R034 three are not"),
        pytest.param("A B B B B", 4, NP, id="new, then three idle"),
        pytest.param("A B C D E F G", 6, None, id="R030 R031 news every time"),
        pytest.param("A A A B A A A", 6, NP, id="back and two idle: three in one known state"),
        pytest.param("A A A B C C", 5, None, id="R041 news ends the stretch"),
        pytest.param("A B A", 2, None, id="one return never stops"),
        pytest.param("A B A B A", 4, OSC, id="R046 to and fro, by the fifth iteration"),
        pytest.param("A B C A C B", 5, OSC, id="wandering among known states"),
        pytest.param("A B A C A D", 5, None, id="each step back is followed by news"),
        pytest.param("A B A C A D A", 6, OSC, id="R047 three returns of five moves, the last is one"),
        pytest.param("A B n1 A B n2 A B", 6, OSC, id="R047 A B n1 A B n2, start counted"),
        pytest.param("S A B n1 A B n2 A B n3", 7, OSC, id="R047 by the seventh"),
        pytest.param("A B A A A", 4, NP, id="went back and stayed: one known state"),
        pytest.param("A B A B B", 4, OSC, id="three in known states, two of them visited"),
        pytest.param("A B/A B/A B/A B/A", 4, OSC, id="R051 the test step moves it back every time"),
        pytest.param("A B/A C/A B/A C/A B/A", 5, OSC, id="a formatter against two spellings"),
        pytest.param("A A A=quota A=outage A A=quick A", 6, NP, id="void is not counted, and does not end a stretch"),
        pytest.param("A A=outage A=outage A=outage B", 4, None, id="R052 outages lengthen no stretch"),
        pytest.param("A A=failed A=failed A=failed", 3, NP, id="failed iterations count"),
        pytest.param("A A=failed A=failed B=failed A=failed", 4, None, id="a new state ends it, failed or not"),
        pytest.param("A A A B=timed-out B B", 5, None, id="timed out with news ends the stretch"),
        pytest.param("A A A=timed-out A A=idle A", 5, NP, id="timed out or idle without news is void"),
        pytest.param("A A=looping A=looping A=looping", 3, NP, id="looping counts"),
        pytest.param("A A* A* A* A* A* A* A*", 7, None, id="seven soft iterations"),
        pytest.param("A A* A* A* A* A* A* A* A*", 8, NP, id="R042 eight are too many"),
        pytest.param("A A A* A* A A* A* A* A", 8, NP, id="soft neither lengthens nor ends a stretch"),
        pytest.param("A A* A* A* B B* B* B* B* B* B*", 10, None, id="news between soft ones"),
        pytest.param("A A=failed* A=failed* A=failed*", 3, NP, id="soft only after a normal end"),
        pytest.param("A!x A!x A!x A!x", 3, NP, id="idle with tests"),
        pytest.param("A!x B!x C!x B!y D!x", 4, None, id="a known tree with other failures is news"),
        pytest.param("A A!x A!x A!x", 3, NP, id="the first suite of a tree makes no news of it"),
        pytest.param("A!x A!x A!x A!y A!y", 4, None, id="idle, but the failing set is new: ends the stretch"),
    ],
)
def test_a_walk_ends_where_it_should(words: str, last: int, reason: Reason | None) -> None:
    number, stop = ending(words)
    assert (number, stop.reason if stop else None) == (last, reason)


def test_a_stop_names_its_evidence() -> None:
    assert ending("A B A B A")[1] == Stop(
        OSC,
        "iterations 2-4 went back to states the run had before (A, B); files: file.py",
        iterations=(2, 3, 4),
        states=("A", "B"),
    )
    assert ending("A A A A")[1] == Stop(
        NP,
        "iterations 1-3 ended where the run had been before (state A)",
        iterations=(1, 2, 3),
        states=("A",),
    )


def test_the_step_that_undid_the_change_is_named() -> None:
    """R051."""
    stop = ending("A B/A B/A B/A B/A")[1]
    assert stop is not None
    assert stop.detail.endswith("the test step took the change back in iterations 2-4")


def test_a_new_file_each_time_is_never_stopped() -> None:
    words = "A " + " ".join(f"n{i}" for i in range(200))
    assert ending(words, Settings(limits=replace(Settings().limits, iterations=None))) == (200, None)


def test_all_green_is_said() -> None:
    """R070."""
    stop = ending("A! A! A! A!")[1]
    assert stop is not None
    assert stop.detail.endswith("; the tests were green all along")


def test_denied_tools_are_named_with_the_way_out() -> None:
    """R022; R021: a denial alone is no reason to stop."""
    assert ending("A B C D", denied=("Write",))[1] is None
    stop = ending("A A A A", denied=("Write", "Edit"))[1]
    assert stop is not None
    assert "tools were denied (Edit, Write)" in stop.detail
    assert "agent.permissions" in stop.detail


def test_loops_inside_are_named() -> None:
    stop = ending("A A A A", signals=(Signal("identical-call", "end"),))[1]
    assert stop is not None
    assert stop.detail.endswith("; loops were seen inside (identical-call)")


@pytest.mark.parametrize("k", [1, 2, 5])
def test_k_is_what_was_asked_for(k: int) -> None:
    rules = Settings(stop=StopRules(no_progress=k, oscillation=None))
    assert ending("A " * 20, rules)[0] == k


def test_off_is_off() -> None:
    off = Settings(stop=StopRules(no_progress=None, oscillation=None))
    assert ending("A " * 20, off)[1] is None
    assert ending("A B " * 10, off)[1] is None


def test_one_return_never_stops_even_if_asked_for() -> None:
    assert ending("A B A", Settings(stop=StopRules(oscillation=1)))[1] is None


def test_more_patience_for_idling_is_more_patience_for_reading() -> None:
    patient = Settings(stop=StopRules(no_progress=20))
    assert ending("A " * 30, patient)[0] == 20
    assert ending("A " + "A* " * 30, patient)[0] == 20


def test_a_prompt_reload_begins_the_stretch_anew() -> None:
    past = history("A A A")
    past.restart_stretch()
    for one in walk("A A A"):
        past.add(one)
    assert len(past.stretch.resting) == 2


def test_a_state_stays_known_over_a_reload() -> None:
    past = history("A B")
    past.restart_stretch()
    assert past.add(iteration(2, before="B", agent="A")).kind is Kind.RETURN


def test_an_outside_change_is_credited_to_nobody() -> None:
    past = History(opening("A"), Settings())
    for number, place in enumerate("ABC", 1):
        past.outside(tree(place))
        assert past.add(iteration(number, before=place, agent=place)).kind is Kind.IDLE
    assert len(past.stretch.resting) == 3
    assert past.add(iteration(4, before="C", agent="B")).kind is Kind.RETURN


def test_a_partial_tree_equals_no_other() -> None:
    torn = tree("T", partial=("inner: unreadable",))
    past = History(opening("A"), Settings())
    kinds = [past.add(iteration(n, before=torn, agent=torn)).kind for n in (1, 2, 3)]
    assert kinds == [Kind.NEW] * 3


def test_a_fresh_flaky_suite_neither_lengthens_nor_ends_a_stretch() -> None:
    shaky = (suite(["x"], verdict=Verdict.FLAKY),)
    past = history("A!x A!x A!x")
    assert past.add(replace(iteration(3, before="A", agent="A"), suites=shaky)).kind is Kind.SOFT
    assert len(past.stretch.resting) == 2
    assert past.add(walk("A A!x")[0]).kind is Kind.IDLE
    assert len(past.stretch.resting) == 3


def test_a_reused_flaky_verdict_does_not_keep_an_idle_agent_running() -> None:
    """Nothing ran, so only the tree speaks."""
    shaky = (suite(["x"], verdict=Verdict.FLAKY, reused=True),)
    assert ending("A!x A A A", suites=shaky)[0] == 3


def test_a_new_tree_is_news_however_flaky_its_tests() -> None:
    shaky = (suite(["x"], verdict=Verdict.FLAKY),)
    assert history("A!x").add(replace(iteration(1), suites=shaky)).kind is Kind.NEW


def test_gate_commands_are_no_part_of_the_state() -> None:
    rules = Settings(done=(CommandGate("make ok", ("make", "ok")),))
    past = History(opening("A!x"), rules)
    gate = suite(["exit 1"], name="command make ok")
    assert past.add(replace(walk("A!x A!x")[0], suites=(suite(["x"]), gate))).known


def test_a_failing_check_is_part_of_the_state() -> None:
    past = History(opening("A!"), Settings())
    lint = suite(["exit 1"], name="lint")
    assert not past.add(replace(walk("A! A!")[0], suites=(suite(), lint))).known


def test_a_suite_that_names_no_test_is_not_the_same_as_green() -> None:
    past = History(opening("A!"), Settings())
    assert not past.add(replace(walk("A! A!")[0], suites=(suite(verdict=Verdict.TIMED_OUT),))).known


# Oracle: the words of design 3.1, computed anew from the whole walk at every step.
WORDS = st.lists(
    st.tuples(
        st.sampled_from(["A", "B", "C", "fresh"]),
        st.sampled_from([None, None, None, "A", "B"]),
        st.sampled_from(["completed", "completed", "completed", "failed", "quota", "timed-out"]),
        st.booleans(),
    ),
    max_size=24,
)


def _written(drawn: list[tuple[str, str | None, str, bool]]) -> str:
    words = ["A"]
    for i, (place, after, outcome, soft) in enumerate(drawn):
        name = f"n{i}" if place == "fresh" else place
        words.append(f"{name}{'/' + after if after else ''}={outcome}{'*' if soft else ''}")
    return " ".join(words)


def _oracle(words: str, k: int = 3) -> tuple[int, Reason | None]:
    seen = {"A"}
    rows: list[tuple[str, bool, bool, str, frozenset[str]]] = []  # kind, known, moved, end, visited
    for one in walk(words):
        end, after, before = one.trees.agent.state, one.trees.tests.state, one.trees.before.state
        known = end in seen
        seen |= {end, after}
        void = one.outcome is Outcome.QUOTA or (one.outcome is Outcome.TIMED_OUT and known)
        soft = known and one.outcome is Outcome.COMPLETED and one.new_results >= 8
        kind = "void" if void else "soft" if soft else "known" if known else "new"
        rows.append((kind, known, before != end, end, frozenset({end, after})))
        counted = [row for row in rows if row[0] != "void"]
        if not void and (reason := _judged(counted, k)):
            return one.number, reason
    return len(rows), None


def _judged(counted: list[tuple[str, bool, bool, str, frozenset[str]]], k: int) -> Reason | None:
    hard = [row for row in counted if row[0] != "soft"]
    last = counted[-1]
    tail = hard[-k:]
    all_known = len(tail) == k and all(row[0] == "known" for row in tail)
    if last[0] == "known" and all_known:
        idle = [not row[2] for row in tail]
        one_place = all(
            rest or (len(row[4]) == 1 and (i == 0 or tail[i - 1][3] == row[3]))
            for i, (row, rest) in enumerate(zip(tail, idle, strict=True))
        )
        if one_place:
            return NP
    if len(counted) >= 8 and all(row[0] in {"soft", "known"} for row in counted[-8:]):
        return NP
    if last[0] != "known":
        return None
    if all_known and any(row[2] for row in tail) and len(frozenset[str]().union(*(r[4] for r in tail))) >= 2:
        return OSC
    moving = [row for row in hard if row[2]][-(2 * k - 1) :]
    if last[2] and sum(row[0] == "known" for row in moving) >= k:
        return OSC
    return None


@given(WORDS)
def test_the_rules_agree_with_a_reading_of_the_whole_walk(drawn: list[tuple[str, str | None, str, bool]]) -> None:
    words = _written(drawn)
    number, stop = ending(words)
    if stop is not None and stop.reason is Reason.AGENT_HANG:
        return  # the breaker of another rule came first
    assert (number, stop.reason if stop else None) == _oracle(words)
