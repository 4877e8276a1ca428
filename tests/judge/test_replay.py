"""A record folded under other thresholds: resumes, reloads and numbers that a crash took."""

from __future__ import annotations

from dataclasses import replace

from ralph.facts.reason import Reason
from ralph.facts.settings import Limits, Settings, StopRules
from ralph.judge.replay import Replay
from tests.builders import opening, walk

TWO = Settings(stop=StopRules(no_progress=2))


def replay(words: str, settings: Settings) -> Replay:
    found = Replay(opening(words), settings)
    for one in walk(words):
        found.add(one, up_s=60.0 * one.number)
    return found


def test_an_ending_the_user_went_on_from_is_no_ending_here_either() -> None:
    found = replay("A B B B", TWO)
    found.resumed()
    for one in walk("A B B B C D"):
        if one.number > 3:
            found.add(one, up_s=1.0)
    result = found.result()
    assert (result.stop, result.iterations) == (None, 5)


def test_an_earlier_ending_stands_whatever_was_resumed_later() -> None:
    found = replay("A B B B C", TWO)
    found.resumed()
    result = found.result()
    assert result.after == 3
    assert result.rest.new_states == (4,)


def test_a_reload_begins_the_stretch_anew() -> None:
    found = Replay(opening("A"), TWO)
    for one in walk("A B B B"):
        found.reloaded()
        found.add(one, up_s=1.0)
    assert found.result().stop is None


def test_time_is_that_of_the_record() -> None:
    result = replay("A B C D E", Settings(limits=Limits(time=150.0))).result()
    assert result.stop is not None
    assert (result.stop.reason, result.after) == (Reason.TIME_LIMIT, 3)


def test_an_iteration_that_a_crash_took_was_started_and_counts() -> None:
    settings = Settings(limits=Limits(iterations=3))
    first, second, third = walk("A B C D")
    found = Replay(opening("A"), settings)
    for one in (first, replace(second, number=3), replace(third, number=4)):
        found.add(one, up_s=1.0)
    assert found.result().after == 3
