"""Whose turn it is among several agents: by preference, by who is out and until when."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from ralph.facts.outcome import Outcome
from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Pause, Stop
from ralph.facts.settings import Quota, Settings
from ralph.judge.history import History
from ralph.judge.relay import Handover, Relay
from ralph.judge.retry import pause_before
from ralph.judge.stops import decide
from tests.builders import NOON, iteration, opening

PAIR = ("claude", "codex")
HOUR = timedelta(hours=1)


def past(*words: str, agents: tuple[str, ...] = PAIR, until: timedelta | None = None, **settings: object) -> History:
    """Return a history of "AGENT OUTCOME" steps, a minute each, none of which moved anything."""
    found = History(opening(), Settings(**settings), agents=agents)  # type: ignore[arg-type]  # the names are checked
    for number, word in enumerate(words, 1):
        agent, _, outcome = word.partition(" ")
        one = iteration(number, agent="A", outcome=Outcome(outcome or "completed"))
        end = one.started_at + timedelta(seconds=one.elapsed_s)
        reset = end + until if until is not None and one.outcome is Outcome.QUOTA else None
        found.add(replace(one, agent=agent, until=reset))
    return found


def end_of(history: History) -> datetime:
    assert history.relay.at is not None
    return history.relay.at


def paused(history: History, after: timedelta = timedelta(0), left_s: float | None = None) -> Pause | Stop | None:
    return pause_before(history, history.settings, Moment(60.0, left_s), now=end_of(history) + after)


def test_one_agent_alone_is_never_relieved() -> None:
    alone = past("claude quota", agents=("claude",))
    assert alone.relay.handover("claude", now=end_of(alone)) is None
    assert isinstance(paused(alone), Pause)
    assert Relay().handover("claude", now=end_of(alone)) is None


def test_out_of_quota_hands_over_at_once_and_back_after_the_reset() -> None:
    limited = past("claude quota", until=HOUR)
    now = end_of(limited)
    change = limited.relay.handover("claude", now=now)
    assert change == Handover("codex", "claude", "claude is out of quota", now + HOUR)
    assert paused(limited) is None
    assert limited.relay.handover("codex", now=now + HOUR - timedelta(seconds=1)) is None
    assert limited.relay.handover("codex", now=now + HOUR) == Handover("claude", "codex", "claude is back")


def test_without_a_reset_time_it_is_tried_again_later_each_time() -> None:
    once, twice = past("claude quota"), past("claude quota", "claude quota")
    for history, minutes in ((once, 5), (twice, 10)):
        change = history.relay.handover("claude", now=end_of(history))
        assert change is not None
        assert change.back_at == end_of(history) + timedelta(minutes=minutes)


def test_a_reset_that_cannot_be_believed_counts_as_unknown() -> None:
    mad = past("claude quota", until=timedelta(days=400))
    change = mad.relay.handover("claude", now=end_of(mad))
    assert change is not None
    assert change.back_at == end_of(mad) + timedelta(minutes=5)


@pytest.mark.parametrize("outcome", ["missing", "not-started"])
def test_what_cannot_be_started_is_relieved_and_does_not_stop_the_run(outcome: str) -> None:
    history = past(f"claude {outcome}")
    assert decide(history, history.settings, NOON) is None
    assert history.relay.handover("claude", now=end_of(history)) is not None
    assert decide(past(f"claude {outcome}", agents=("claude",)), Settings(), NOON) is not None or outcome != "missing"


def test_the_third_death_at_the_start_hands_over() -> None:
    two, three = past(*["claude quick"] * 2), past(*["claude quick"] * 3)
    assert two.relay.handover("claude", now=end_of(two)) is None
    assert three.relay.handover("claude", now=end_of(three)) is not None
    assert decide(three, three.settings, NOON) is None
    stop = decide(past(*["claude quick"] * 3, agents=("claude",)), Settings(), NOON)
    assert stop is not None
    assert stop.reason is Reason.AGENT_FAILING


def test_breakers_count_each_agent_for_itself() -> None:
    mixed = past(*["claude quick"] * 3, "codex quick", "codex quick")
    assert decide(mixed, mixed.settings, NOON) is None
    both = past(*["claude quick"] * 3, *["codex quick"] * 3)
    stop = decide(both, both.settings, NOON)
    assert stop is not None
    assert stop.iterations == (4, 5, 6)


def test_a_wrong_login_stops_at_once_whoever_else_there_is() -> None:
    history = past("claude auth")
    stop = decide(history, history.settings, NOON)
    assert stop is not None
    assert stop.reason is Reason.AGENT_AUTH


def test_no_waiting_stops_only_when_nobody_can_go_on() -> None:
    stopping = Quota("stop")
    assert decide(past("claude quota", quota=stopping), Settings(quota=stopping), NOON) is None
    stop = decide(past("claude quota", "codex quota", quota=stopping), Settings(quota=stopping), NOON)
    assert stop is not None
    assert stop.reason is Reason.AGENT_QUOTA


def test_all_out_waits_for_the_first_that_is_back() -> None:
    history = past("claude quota", "codex quota", until=HOUR)
    pause = paused(history)
    assert isinstance(pause, Pause)
    assert pause.until == end_of(history) - timedelta(minutes=1) + HOUR  # claude was out a minute earlier
    assert pause.seconds == pytest.approx(59 * 60, abs=125)
    assert "claude" in pause.why
    assert history.relay.turn(end_of(history)) == "claude"  # also after `ralph wake`


def test_all_out_past_the_deadline_stops() -> None:
    stop = paused(past("claude quota", "codex quota", until=HOUR), left_s=600.0)
    assert isinstance(stop, Stop)
    assert stop.reason is Reason.AGENT_QUOTA


def test_all_out_is_bounded() -> None:
    """Nobody waits for ever for a limit that never lifts."""
    history = past(*["claude quota", "codex quota"] * 6)
    assert isinstance(paused(history), Stop)


def test_work_done_brings_an_agent_back() -> None:
    history = past("claude quota", "claude completed", until=HOUR)
    assert history.relay.handover("claude", now=end_of(history)) is None
    assert not history.relay.is_out("claude", end_of(history))


def test_a_resume_forgets_deaths_and_keeps_resets() -> None:
    dead, limited = past(*["claude quick"] * 3), past("claude quota", until=HOUR)
    dead.resumed()
    limited.resumed()
    assert dead.relay.handover("claude", now=end_of(dead)) is None
    assert limited.relay.handover("claude", now=end_of(limited)) is not None
