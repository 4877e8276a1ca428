"""How an iteration ended: the table of design 3.3 and the traps that real agents set."""

from __future__ import annotations

import errno
from dataclasses import replace
from datetime import timedelta

import pytest

from ralph.facts.ending import Cut, Ended, Exited, How, NotStarted, Poisoned, Signalled, Why
from ralph.facts.event import Finish, Finished, Trouble, Troubled
from ralph.facts.outcome import Outcome
from ralph.judge.outcome import Ruling, classify
from ralph.judge.stream import StreamFacts
from tests.builders import START

OK = StreamFacts(finish=Finished(Finish.OK, "all done"))
NOTHING = StreamFacts()


def told(how: Finish, text: str = "") -> StreamFacts:
    return StreamFacts(finish=Finished(how, text=text))


def troubled(kind: Trouble, text: str = "words", **fields: object) -> StreamFacts:
    return replace(StreamFacts(trouble=Troubled(kind, text)), **fields)  # type: ignore[arg-type]  # replace checks


def ended(how: How | None = None, *, why: Why | None = None, elapsed_s: float = 60.0, out: int = 100) -> Ended:
    cut = Cut(why, "our reason") if why else None
    return Ended(how or Exited(0), cut=cut, elapsed_s=elapsed_s, bytes_out=out)


def outcome(end: Ended, facts: StreamFacts = NOTHING, *, news: bool = True, plain: bool = False) -> Outcome:
    return classify(end, facts, new_state=news, plain=plain).outcome


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        (Poisoned(), Outcome.POISONED),
        (NotStarted(errno.ENOENT, "no such file"), Outcome.MISSING),
        (NotStarted(errno.EACCES, "not executable"), Outcome.MISSING),
        (NotStarted(errno.ENOEXEC, "format"), Outcome.MISSING),
        (NotStarted(errno.EAGAIN, "try again"), Outcome.NOT_STARTED),
        (NotStarted(errno.E2BIG, "too long"), Outcome.NOT_STARTED),
        (NotStarted(errno.ENOMEM, "memory"), Outcome.NOT_STARTED),
    ],
)
def test_what_did_not_run_is_told_first(how: How, expected: Outcome) -> None:
    """A16, R019."""
    assert outcome(ended(how), OK) is expected


@pytest.mark.parametrize(
    ("finish", "expected"),
    [
        (Finish.OK, Outcome.COMPLETED),
        (Finish.FAILED, Outcome.FAILED),
        (Finish.REFUSED, Outcome.REFUSED),
        (Finish.TRUNCATED, Outcome.TRUNCATED),
        (Finish.OWN_LIMIT, Outcome.OWN_LIMIT),
        (Finish.INTERRUPTED, Outcome.FAILED),
    ],
)
@pytest.mark.parametrize("code", [0, 1, 173])
def test_the_terminal_event_rules_and_the_exit_code_does_not(finish: Finish, expected: Outcome, code: int) -> None:
    """R014: exit 0 is not success; R013: exit 1 is not failure."""
    assert outcome(ended(Exited(code)), told(finish)) is expected


def test_exit_1_after_a_success_is_completed_with_a_warning() -> None:
    """R013."""
    ruling = classify(ended(Exited(1)), OK, new_state=True)
    assert ruling == Ruling(Outcome.COMPLETED, "warning: exit 1 after a result that says success")
    assert classify(ended(), OK, new_state=True) == Ruling(Outcome.COMPLETED)


def test_two_results_that_contradict_each_other_are_noted() -> None:
    """R016."""
    ruling = classify(ended(), replace(OK, conflicting=True), new_state=True)
    assert ruling == Ruling(Outcome.COMPLETED, "warning: two results that contradict each other")


@pytest.mark.parametrize(
    ("why", "expected"),
    [
        (Why.ITERATION_TIME, Outcome.TIMED_OUT),
        (Why.IDLE, Outcome.IDLE),
        (Why.DEADLINE, Outcome.LIMIT),
        (Why.COST, Outcome.LIMIT),
        (Why.TOKENS, Outcome.LIMIT),
        (Why.TURNS, Outcome.OWN_LIMIT),
        (Why.LOOPING, Outcome.LOOPING),
        (Why.BLOCKED, Outcome.COMPLETED),
        (Why.SIGNAL, Outcome.INTERRUPTED),
        (Why.STOP_NOW, Outcome.INTERRUPTED),
    ],
)
def test_our_own_end_has_our_own_name(why: Why, expected: Outcome) -> None:
    ruling = classify(ended(Signalled(15), why=why), NOTHING, new_state=False)
    assert ruling == Ruling(expected, "ended by ralph: our reason")


@pytest.mark.parametrize("why", [Why.LINGER, Why.ITERATION_TIME, Why.IDLE, Why.DEADLINE, Why.COST])
def test_an_agent_that_had_told_its_result_keeps_it(why: Why) -> None:
    """A4, R002."""
    ruling = classify(ended(Signalled(9), why=why), OK, new_state=True)
    assert ruling.outcome is Outcome.COMPLETED
    assert ruling.detail == f"warning: it did not leave after its result ({why.value})"


def test_a_linger_without_any_result_is_still_our_end() -> None:
    assert outcome(ended(Signalled(15), why=Why.LINGER)) is Outcome.COMPLETED


def test_an_interruption_is_one_even_after_a_result() -> None:
    assert outcome(ended(Signalled(2), why=Why.SIGNAL), OK) is Outcome.INTERRUPTED


@pytest.mark.parametrize("facts", [NOTHING, OK, told(Finish.FAILED)])
@pytest.mark.parametrize("code", [0, 1])
def test_a_usage_limit_is_believed_whatever_else_is_told(facts: StreamFacts, code: int) -> None:
    """R055, R057, R063."""
    until = START + timedelta(hours=3)
    limit = replace(facts, trouble=Troubled(Trouble.QUOTA, "weekly limit", until))
    assert classify(ended(Exited(code)), limit, new_state=True) == Ruling(Outcome.QUOTA, '"weekly limit"', until)


def test_an_agent_that_waits_out_its_limit_until_we_end_it_hit_a_limit() -> None:
    assert outcome(ended(Signalled(15), why=Why.ITERATION_TIME), troubled(Trouble.QUOTA)) is Outcome.QUOTA
    assert classify(ended(), troubled(Trouble.QUOTA, ""), new_state=False).detail == "usage limit"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (Trouble.OUTAGE, Outcome.OUTAGE),
        (Trouble.AUTH, Outcome.AUTH),
        (Trouble.MISCONFIGURED, Outcome.MISCONFIGURED),
        (Trouble.CONTEXT, Outcome.FAILED),
    ],
)
@pytest.mark.parametrize("finish", [None, Finished(Finish.FAILED)])
@pytest.mark.parametrize("code", [0, 1])
def test_a_trouble_explains_a_failure(kind: Trouble, expected: Outcome, finish: Finished | None, code: int) -> None:
    """Aider leaves with 0 on every API error; claude calls it a success with is_error."""
    assert outcome(ended(Exited(code)), troubled(kind, finish=finish)) is expected


@pytest.mark.parametrize("kind", [Trouble.OUTAGE, Trouble.AUTH, Trouble.MISCONFIGURED, Trouble.CONTEXT])
def test_a_success_explains_a_trouble_away(kind: Trouble) -> None:
    assert outcome(ended(), replace(OK, trouble=Troubled(kind, "words"))) is Outcome.COMPLETED


def test_a_context_overflow_is_a_failure_whose_detail_says_so() -> None:
    assert classify(ended(Exited(1)), troubled(Trouble.CONTEXT), new_state=True).detail == 'context overflow: "words"'
    assert classify(ended(Exited(1)), troubled(Trouble.CONTEXT, ""), new_state=True).detail == "context overflow"


def test_no_words_of_an_agent_stand_at_the_front_of_a_detail() -> None:
    lie = "context overflow: really"
    stderr = replace(ended(Exited(1)), error_tail=lie.encode())
    for facts in (told(Finish.FAILED, lie), told(Finish.REFUSED, lie), NOTHING):
        assert not classify(stderr, facts, new_state=True).detail.startswith("context overflow")


def test_what_stderr_says_of_the_set_up_counts_after_all_else() -> None:
    diagnosis = (Trouble.AUTH, "Not logged in")
    assert classify(ended(Exited(1)), NOTHING, diagnosis=diagnosis, new_state=False) == Ruling(
        Outcome.AUTH, '"Not logged in"'
    )
    assert classify(ended(), OK, diagnosis=diagnosis, new_state=True).outcome is Outcome.COMPLETED
    assert classify(ended(), troubled(Trouble.OUTAGE), diagnosis=diagnosis, new_state=True).outcome is Outcome.OUTAGE
    silent = classify(ended(Exited(1)), troubled(Trouble.AUTH, ""), new_state=True)
    assert silent == Ruling(Outcome.AUTH, "exit 1")


@pytest.mark.parametrize(
    ("how", "news", "elapsed_s", "expected"),
    [
        pytest.param(Exited(1), False, 0.2, Outcome.QUICK, id="R018 R058"),
        pytest.param(Exited(1), False, 10.0, Outcome.FAILED, id="lived long enough"),
        pytest.param(Exited(17), True, 0.2, Outcome.FAILED, id="R025 R015 left something new"),
        pytest.param(Signalled(9), True, 0.2, Outcome.FAILED, id="R020"),
        pytest.param(Signalled(9), False, 0.2, Outcome.QUICK, id="R020 nothing new"),
    ],
)
@pytest.mark.parametrize("plain", [True, False])
def test_without_a_result_the_exit_code_and_the_life_time_tell(
    how: How, news: bool, elapsed_s: float, expected: Outcome, plain: bool
) -> None:
    assert outcome(ended(how, elapsed_s=elapsed_s), news=news, plain=plain) is expected


def test_a_structured_failure_within_seconds_is_quick_too() -> None:
    """R014."""
    assert outcome(ended(elapsed_s=0.1), told(Finish.FAILED), news=False) is Outcome.QUICK


def test_signal_9_has_one_spelling_and_stderr_is_quoted() -> None:
    """R020, R018."""
    dead = replace(ended(Signalled(9)), error_tail=b"out of\n memory\xff")
    assert classify(dead, NOTHING, new_state=True).detail == 'killed by signal 9; "out of memory\ufffd"'


def test_an_agent_with_a_terminal_event_that_tells_none_has_failed() -> None:
    """R015: half a result line and exit 0."""
    ruling = classify(ended(), NOTHING, new_state=True)
    assert ruling == Ruling(Outcome.FAILED, "exit 0, but the agent told no result")


@pytest.mark.parametrize("plain", [True, False])
def test_exit_0_without_a_byte_and_without_a_change_is_quick_however_long_it_took(plain: bool) -> None:
    """R012."""
    ruling = classify(ended(out=0, elapsed_s=900.0), NOTHING, new_state=False, plain=plain)
    assert ruling == Ruling(Outcome.QUICK, "exit 0, printed nothing and changed nothing")


def test_a_silent_program_that_moves_the_tree_has_worked() -> None:
    """R046 with a stub that prints nothing: going to and fro must be seen by the stretches."""
    end = ended(out=0)
    assert classify(end, NOTHING, new_state=False, moved=True, plain=True).outcome is Outcome.COMPLETED
    assert classify(end, NOTHING, new_state=True, plain=True) == Ruling(Outcome.COMPLETED, "printed nothing")
    assert classify(end, NOTHING, new_state=True).outcome is Outcome.FAILED


def test_a_plain_program_completes_with_exit_0_and_any_output() -> None:
    """R023, R024: whatever words it prints."""
    assert classify(ended(elapsed_s=0.1), NOTHING, new_state=False, plain=True) == Ruling(Outcome.COMPLETED)
