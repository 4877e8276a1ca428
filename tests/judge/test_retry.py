"""How long to wait: till the reset, growing, bounded, never past the deadline."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.facts.outcome import Outcome
from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Pause, Stop
from ralph.facts.settings import Limits, Settings
from ralph.judge.retry import pause_before
from tests.builders import START, history

HOUR = 3600.0
FREE_TIME = Moment(0.0, None)


def wait(
    words: str, *, left_s: float | None = None, until_s: float | None = None, jitter: float = 0.5, **limits: object
) -> Pause | Stop | None:
    settings = Settings(limits=replace(Limits(), **limits))  # type: ignore[arg-type]  # replace checks the names
    until = None if until_s is None else START + timedelta(seconds=until_s)
    past = history(words, settings, until=until, detail='"limit"')
    return pause_before(past, settings, Moment(0.0, left_s), now=START, jitter=jitter)


def seconds(found: Pause | Stop | None) -> float:
    assert isinstance(found, Pause)
    return found.seconds


@pytest.mark.parametrize("words", ["A", "A B", "A B=timed-out", "A B=idle", "A B=failed", "A B=looping"])
def test_there_is_no_pause_without_a_reason(words: str) -> None:
    assert wait(words) is None


def test_a_limit_is_waited_out_with_a_small_margin() -> None:
    """R055."""
    for until_s in (5.0, 90.0, 5 * HOUR, 7 * 24 * HOUR):
        for jitter in (0.0, 0.5, 1.0):
            assert until_s < seconds(wait("A A=quota", until_s=until_s, jitter=jitter)) <= until_s + 120
    assert wait("A A=quota", until_s=5 * HOUR) == Pause(
        5 * HOUR + 120, "usage limit: waiting 5 h 2 min for its reset", START + timedelta(hours=5)
    )


def test_a_reset_just_past_is_tried_at_once() -> None:
    assert wait("A A=quota", until_s=-30.0) is None
    assert wait("A A=quota", until_s=0.0) is None


def test_a_reset_past_the_deadline_stops_within_the_second() -> None:
    """R056, R062."""
    stop = wait("A A=quota", until_s=5 * HOUR, left_s=600.0)
    assert isinstance(stop, Stop)
    assert stop.reason is Reason.AGENT_QUOTA
    assert (START + timedelta(hours=5)).isoformat() in stop.detail
    assert "past the deadline" in stop.detail


def test_the_margin_gives_way_to_the_deadline() -> None:
    assert seconds(wait("A A=quota", until_s=1000.0, left_s=1005.0)) == 1004.0
    assert seconds(wait("A A=quota", until_s=1000.0, left_s=1000.5)) == 1000.0


def test_an_unknown_reset_is_probed_and_then_given_up() -> None:
    """R061."""
    waits = [wait("A" + " A=quota" * n) for n in range(1, 6)]
    assert [seconds(one) for one in waits[:4]] == [300.0, 600.0, 1200.0, 2400.0]
    stop = waits[4]
    assert isinstance(stop, Stop)
    assert stop.reason is Reason.AGENT_QUOTA


@pytest.mark.parametrize("until_s", [-2 * HOUR, 400 * 24 * HOUR])
def test_a_reset_nobody_can_believe_is_an_unknown_one(until_s: float) -> None:
    assert seconds(wait("A A=quota", until_s=until_s)) == 300.0


def test_still_limited_after_the_reset_is_asked_again_later_each_time() -> None:
    """R059."""
    waits = [wait("A" + " A=quota" * n, until_s=-10.0) for n in range(1, 7)]
    assert waits[0] is None
    assert [seconds(one) for one in waits[1:5]] == [300.0, 600.0, 1200.0, 2400.0]
    assert isinstance(waits[5], Stop)


def test_a_later_reset_is_waited_for() -> None:
    """A weekly limit behind the five-hour one."""
    assert seconds(wait("A A=quota A=quota", until_s=24 * HOUR)) > 24 * HOUR
    assert seconds(wait("A A=quota A=quota", until_s=10.0)) == 300.0


def test_work_in_between_makes_it_the_first_limit_again() -> None:
    assert seconds(wait("A A=quota A=quota A=quota B B=quota")) == 300.0


def test_a_probe_past_the_deadline_stops_at_once() -> None:
    stop = wait("A A=quota", left_s=200.0)
    assert isinstance(stop, Stop)
    assert stop.reason is Reason.AGENT_QUOTA


def test_an_outage_backs_off_with_jitter() -> None:
    """R060."""
    middle = [seconds(wait("A" + " A=outage" * n)) for n in range(1, 6)]
    assert middle == [60.0, 300.0, 1800.0, 7200.0, 7200.0]
    assert seconds(wait("A A=outage", jitter=0.0)) == 45.0
    assert seconds(wait("A A=outage", jitter=9.0)) == 75.0
    assert seconds(wait("A A=outage", until_s=500.0)) == 500.0
    assert wait("A A=outage", backoff=()) is None


def test_an_outage_that_outlasts_the_run_ends_it_now() -> None:
    stop = wait("A A=outage", left_s=30.0)
    assert isinstance(stop, Stop)
    assert stop.reason is Reason.TIME_LIMIT


@pytest.mark.parametrize("outcome", ["quick", "failed", "refused", "missing", "not-started", "poisoned"])
def test_failures_pause_longer_each_time(outcome: str) -> None:
    """A17, R018, R029."""
    waits = [seconds(wait("A" + f" A={outcome}" * n)) for n in range(1, 6)]
    assert waits == [1.0, 10.0, 60.0, 60.0, 60.0]
    assert seconds(wait(f"A A={outcome}", left_s=0.5)) == 0.5
    assert wait(f"A A={outcome}", quick_failure_pauses=()) is None


def test_a_failure_that_left_something_new_needs_no_pause() -> None:
    """R025."""
    assert wait("A B=failed") is None
    assert wait("A") is None


@given(
    st.lists(st.sampled_from([Outcome.QUOTA, Outcome.OUTAGE, Outcome.QUICK, Outcome.COMPLETED]), max_size=12),
    st.none() | st.floats(-1e6, 1e9),
    st.none() | st.floats(0, 1e5),
    st.floats(0, 1),
)
def test_no_pause_outlasts_the_run_nor_the_longest_limit(
    outcomes: list[Outcome], until_s: float | None, left_s: float | None, jitter: float
) -> None:
    words = "A " + " ".join(f"A={one.value}" for one in outcomes)
    found = wait(words, until_s=until_s, left_s=left_s, jitter=jitter)
    if isinstance(found, Pause):
        assert 0 < found.seconds <= 8 * 24 * HOUR + 120 or found.seconds == 0.0
        assert left_s is None or found.seconds <= left_s


def test_after_a_resume_the_next_try_is_at_once() -> None:
    past = history("A A=quota")
    past.resumed()
    assert pause_before(past, Settings(), FREE_TIME, now=datetime.now(START.tzinfo)) is None
