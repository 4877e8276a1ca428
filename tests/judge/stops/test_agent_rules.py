"""The breakers of design 3.3: every way in which an agent can be unusable ends the run with its own reason."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ralph.facts.finding import Blocked
from ralph.facts.outcome import Outcome
from ralph.facts.reason import Reason
from ralph.facts.settings import Quota, Settings
from ralph.judge.stops import decide
from tests.builders import NOON, START, ending, history, iteration, walk


@pytest.mark.parametrize(
    ("words", "last", "reason"),
    [
        pytest.param("A A=quick A=quick", 2, None, id="two quick failures"),
        pytest.param("A A=quick A=quick A=quick", 3, Reason.AGENT_FAILING, id="R018 R027 R058 A17 three"),
        pytest.param("A A=quick A=quick A A=quick A=quick", 5, None, id="broken by a completed one"),
        pytest.param("A B=refused C=refused D=refused", 3, Reason.AGENT_FAILING, id="refused three times, news or not"),
        pytest.param("A A=timed-out A=idle A=timed-out", 3, Reason.AGENT_HANG, id="hung three times"),
        pytest.param("A A=idle A=idle B=idle B=idle B=idle B=idle", 6, Reason.AGENT_HANG, id="hung, with news once"),
        pytest.param("A B=timed-out C=timed-out D=timed-out E=timed-out", 4, None, id="timed out with news"),
        pytest.param("A A=outage A=outage A=outage A=outage", 4, None, id="R060 four outages"),
        pytest.param("A A=outage A=outage A=outage A=outage A=outage", 5, Reason.AGENT_FAILING, id="R060 five"),
        pytest.param("A A=auth", 1, Reason.AGENT_AUTH, id="no login"),
        pytest.param("A B A=misconfigured", 2, Reason.AGENT_AUTH, id="unknown model"),
        pytest.param("A A=missing", 1, Reason.AGENT_MISSING, id="R019 missing from the start"),
        pytest.param("A B B=missing B=missing", 3, None, id="R029 away during an update"),
        pytest.param("A B B=missing B=missing B=missing", 4, Reason.AGENT_MISSING, id="R029 gone for good"),
        pytest.param("A A=not-started A=not-started", 2, None, id="A16 two tries"),
        pytest.param("A B B=not-started B=missing B=not-started", 4, Reason.AGENT_FAILING, id="A16 three"),
        pytest.param("A A=poisoned", 1, None, id="one guardian lost"),
        pytest.param("A A=poisoned B=poisoned", 2, Reason.AGENT_FAILING, id="two in a row"),
        pytest.param("A A=quota A=quota A=quota A=quota A=quota A=quota", 6, None, id="quota waits, see retry"),
        pytest.param("A A=quick A=quota A=quick A=quota A=quick", 5, Reason.AGENT_FAILING, id="quota between"),
        pytest.param("A " + "A=quick A=outage " * 6, 10, Reason.AGENT_FAILING, id="troubles that take turns"),
        pytest.param("A B=failed C=failed D=failed E=failed F=failed G=failed", 6, None, id="R025 failing with news"),
        pytest.param("A B=truncated C=own-limit D=truncated E=own-limit", 4, None, id="cut off, but getting on"),
    ],
)
def test_a_breaker_trips_where_it_should(words: str, last: int, reason: Reason | None) -> None:
    number, stop = ending(words)
    assert (number, stop.reason if stop else None) == (last, reason)


def test_failing_five_times_without_news_is_agent_failing() -> None:
    patient = replace(Settings(), stop=replace(Settings().stop, no_progress=9))
    number, stop = ending("A" + " A=failed" * 6, patient, exit="killed by signal 9", detail="killed by signal 9")
    assert stop is not None
    assert (number, stop.reason) == (5, Reason.AGENT_FAILING)
    assert "killed by signal 9" in stop.detail
    assert "want of memory" in stop.detail


def test_the_first_words_of_the_agent_are_quoted() -> None:
    """R018."""
    stop = ending("A A=quick A=quick A=quick", detail='exit 1; "please\nlog in"')[1]
    assert stop is not None
    assert stop.detail == 'iterations 1-3 died at once or said nothing; the last: exit 0, exit 1; "please log in"'


def test_a_context_overflow_once_is_a_failure_and_twice_a_misconfiguration() -> None:
    past = history("A B=failed", detail='context overflow: "prompt is too long"')
    assert decide(past, Settings(), NOON) is None
    past.add(iteration(2, before="B", agent="C", outcome=Outcome.FAILED, detail="context overflow"))
    stop = decide(past, Settings(), NOON)
    assert stop is not None
    assert (stop.reason, stop.iterations) == (Reason.AGENT_AUTH, (1, 2))


def test_words_of_an_agent_do_not_pass_for_an_overflow() -> None:
    assert ending("A B=failed C=failed", detail='"context overflow"')[1] is None


def test_quota_stops_at_once_where_waiting_is_off() -> None:
    """R062: the reset time is in the record."""
    rules = Settings(quota=Quota("stop"))
    until = START + timedelta(hours=5)
    number, stop = ending("A A=quota", rules, until=until, detail='"5-hour limit"')
    assert stop is not None
    assert (number, stop.reason) == (1, Reason.AGENT_QUOTA)
    assert until.isoformat() in stop.detail
    unknown = ending("A A=quota", rules)[1]
    assert unknown is not None
    assert "no reset time is known" in unknown.detail


def test_blocked_ends_the_run_at_once() -> None:
    """R069."""
    number, stop = ending("A B", blocked=Blocked(("asked twice",), "a password"))
    assert stop is not None
    assert (number, stop.reason) == (1, Reason.BLOCKED)
    assert "needs: a password (tried: asked twice)" in stop.detail


def test_an_agent_out_of_order_comes_before_no_progress() -> None:
    stop = ending("A A A A=auth")[1]
    assert stop is not None
    assert stop.reason is Reason.AGENT_AUTH


def test_a_resumed_run_starts_with_its_breakers_closed() -> None:
    past = history("A A=quick A=quick A=quick")
    past.resumed()
    assert decide(past, Settings(), NOON) is None
    past.add(walk("A A=quick")[0])
    assert decide(past, Settings(), NOON) is None
    assert past.count == 4
