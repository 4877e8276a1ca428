"""The watch: how a loop escalates, what it asks the tree, what it refuses, and what it costs to keep."""

from __future__ import annotations

import tracemalloc
from random import Random

from ralph.judge.signals.sighting import Level
from ralph.judge.signals.step import Step, row_of, step_of
from ralph.judge.signals.steps import StepMaker
from ralph.judge.signals.watch import Watch
from tests.judge.signals.scripts import STUCK, Turns, bash, edit, news, ping_pong, play, prose, read, steps_of

TEXT = prose(Random(1))
CALL = read("a", TEXT)


def test_a_loop_escalates_once_through_each_level() -> None:
    assert play([[CALL]] * 12).by("identical") == ["nudge", "deny", "end"]


def test_only_the_first_of_several_nudges_over_the_same_steps_is_to_be_said() -> None:
    nudges = [one for one in play([[bash("make", TEXT, failed=True)]] * 4).seen if one.level is Level.NUDGE]
    assert len(nudges) >= 3
    assert [one.fresh for one in nudges] == [True, *([False] * (len(nudges) - 1))]


def test_a_change_that_went_through_closes_the_loop_and_a_new_one_begins() -> None:
    turns: Turns = [*[[CALL]] * 3, [edit("a", "x")], *[[CALL]] * 3]
    assert play(turns).by("identical") == ["nudge", "nudge"]


def test_the_tree_is_asked_only_shortly_before_an_act() -> None:
    asked: list[int] = []

    def look() -> str:
        asked.append(1)
        return "same"

    assert play([[CALL]] * 2, look=look).by("identical") == []
    assert asked == []
    assert "end" in play([[CALL]] * 6, look=look).by("identical")
    assert 1 <= len(asked) <= 6


def test_a_tree_that_moved_starts_the_streak_anew() -> None:
    count = iter(range(1000))
    found = play([[CALL]] * 30, look=lambda: f"tree {next(count)}")
    assert not found.reached(Level.DENY)


def test_a_tree_that_nobody_can_tell_confirms_nothing_and_stops_nothing() -> None:
    assert play([[CALL]] * 6, look=lambda: None).reached(Level.END)


def test_a_denied_call_is_refused_and_its_second_try_ends_the_turn() -> None:
    maker, watch = StepMaker(root="/w/repo"), Watch()
    for step in steps_of([[CALL]] * 4):
        watch.see(step)
    args = maker.asks("Read", '{"file_path": "/w/repo/src/a.py"}')
    first, second = watch.refuses(args), watch.refuses(args)
    assert first is not None
    assert second is not None
    assert (first.level, second.level) == (Level.DENY, Level.END)
    assert watch.refuses(maker.asks("Read", '{"file_path": "/w/repo/src/b.py"}')) is None
    assert watch.refuses(None) is None


def test_a_change_lifts_the_denial() -> None:
    maker, watch = StepMaker(root="/w/repo"), Watch()
    for step in steps_of([*[[CALL]] * 4, [edit("a", "x")]]):
        watch.see(step)
    assert watch.refuses(maker.asks("Read", '{"file_path": "/w/repo/src/a.py"}')) is None


def test_both_halves_of_a_ping_pong_are_one_loop_and_both_last_answers_are_kept() -> None:
    found = play(ping_pong(Random(3), 6)).seen
    end = next(one for one in found if one.detector == "cycle" and one.level is Level.END)
    assert len(end.calls) == 2
    assert {answer.tool for answer in end.answers} == {"Read", "Bash"}
    assert all(0 < len(answer.result) <= 500 for answer in end.answers)
    assert len({one.identity for one in found if one.detector == "cycle"}) == 1


def test_our_own_refusals_are_no_evidence() -> None:
    from ralph.facts.event import ToolCalled, ToolReturned

    maker, watch = StepMaker(), Watch()
    for number in range(9):
        call = f"c{number}"
        maker.see(ToolCalled(call, "Bash", '{"command":"make"}', call))
        maker.refused(call)
        step = maker.see(ToolReturned(call, "hook error: the same again; try another way", failed=True))
        assert step is not None
        assert watch.see(step) == ()


def test_where_the_loop_began_is_kept_with_the_kind_of_answer() -> None:
    def began(text: str, *, failed: bool = False) -> str:
        first = play([[news(Random(1))], *[[bash("x y z", text, failed=failed)]] * 3]).seen[0].origin
        assert first is not None
        return first.kind

    assert began("") == "empty"
    assert began("no", failed=True) == "bare-error"
    assert began("x" * 25_000) == "too-large"
    assert began(f"{TEXT} [output truncated]") == "truncated"
    assert began(TEXT) == "other"


def test_rows_decide_as_the_live_stream_did() -> None:
    for script in STUCK.values():
        steps = steps_of(script(Random(2), 20))
        live, again = Watch(), Watch()
        told = [(one.identity, one.level) for step in steps for one in live.see(step)]
        rows = [row_of(step) for step in steps]
        turns = [step.turn for step in steps[1:]] + [-1]
        back = [step_of(row, i, closes=steps[i].turn != turns[i]) for i, row in enumerate(rows)]
        assert [(one.identity, one.level) for step in back for one in again.see(step)] == told


def test_a_row_has_the_eleven_values_of_the_format_and_no_text() -> None:
    (step,) = steps_of([[read("secret_name", "secret words")]])
    row = row_of(step)
    assert row == ["Read", step.args, step.result, 0, 0, 0, 0, 0, step.target, f"{step.simhash:016x}", 12]
    assert not any("secret" in str(value) for value in row)


def test_a_stream_keeps_less_than_a_mebibyte_however_long_it_is() -> None:
    rng = Random(9)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        watch, most = Watch(), 0
        for n in range(4_000):
            quote = f"é☃{n}" * 90
            step = Step(
                tool=f"T{n % 300}",
                args=f"{n:012x}",
                result=f"{rng.randrange(1 << 44):012x}",
                is_error=rng.random() < 0.7,
                turn=n // 3,
                simhash=rng.getrandbits(64),
                rlen=100,
                index=n,
                quote=quote[:500],
                call=quote[:160],
            )
            watch.see(step)
            most = max(most, tracemalloc.get_traced_memory()[0] - before) if n % 500 == 0 else most
    finally:
        tracemalloc.stop()
    assert most <= 1 << 20


def test_a_long_loop_stays_one_loop() -> None:
    for name, script in STUCK.items():
        found = [one for one in play(script(Random(4), 80)).seen if one.level is Level.END]
        loops = [one.identity for one in found]
        assert len(loops) == len(set(loops)), name
        assert len([one for one in found if one.detector in ("drift", "failing", "same-error")]) <= 3, name
