"""Each detector sees its own kind of loop, and nobody else would have acted so: switched off, the loop goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from ralph.facts.settings import Detect, Levels
from ralph.judge.signals.sighting import Level
from ralph.judge.signals.table import DETECTORS
from ralph.judge.signals.text_loop import repeated_tail
from ralph.judge.signals.watch import Watch
from tests.judge.signals.scripts import (
    Call,
    Played,
    Turns,
    bash,
    edit,
    name,
    news,
    no_op,
    play,
    prose,
    read,
    same_error,
)


def identical(rng: Random) -> Turns:
    call = read(name(rng), prose(rng))
    return [[call], [call], [news(rng)], [call], [call], [news(rng)], [call]]


def failing(rng: Random) -> Turns:
    def fails() -> list[Call]:
        return [bash(f"./{name(rng)} {prose(rng, 12)}", prose(rng, 9), failed=True)]

    rows = [[fails(), fails(), fails(), [news(rng)]] for _ in range(3)]
    return [turn for row in rows for turn in row][:10]


def drift(rng: Random) -> Turns:
    base, known = prose(rng, 60), [prose(rng) for _ in range(3)]
    primed = [[read(name(rng), text)] for text in known]
    asked = [Call("Grep", {"pattern": f"{base} {name(rng)}"}, known[n % 3]) for n in range(6)]
    return [*primed, *([call] for call in asked)]


def cycle(rng: Random) -> Turns:
    """A-B-A-B-A-B: the ping-pong of the field's write-ups."""
    return [[news(rng)], [bash("git status", prose(rng, 12))]] * 3


def fan_out(rng: Random) -> Turns:
    return [[edit("core", "the same"), read(name(rng), prose(rng))]] * 5


def stale(rng: Random) -> Turns:
    calls = [
        read(name(rng), prose(rng)) if n % 2 else Call("Grep", {"pattern": prose(rng, 9)}, prose(rng)) for n in range(8)
    ]
    again = [calls[n] for n in (2, 5, 0, 7, 4, 1, 6)]
    return [[call] for call in calls + again]


def malformed(rng: Random) -> Turns:
    return [[Call(name(rng), {}, f"<error>InputValidationError: {prose(rng, 6)}</error>", failed=True)]] * 1 + [
        [Call(name(rng), {}, f"Error: No such tool available: {name(rng)}", failed=True)] for _ in range(4)
    ]


def denied(_rng: Random) -> Turns:
    return [
        [replace(bash(f"curl http://h/{n}", "Permission to use Bash has been denied.", failed=True), denied=True)]
        for n in range(2)
    ]


def growing(rng: Random) -> Turns:
    parts = [f"make {name(rng)}" for _ in range(4)]
    return [[bash(" && ".join(parts[: n + 1]), prose(rng))] for n in range(4)]


def sweep(rng: Random) -> Turns:
    return [[read("big", prose(rng), offset=10 * n, limit=100)] for n in range(60)]


def poll_budget(_rng: Random) -> Turns:
    return [[Call("TaskOutput", {"task_id": "b7"}, "running", seconds=60.0)] for _ in range(31)]


ALONE: dict[str, tuple[Callable[[Random], Turns], Level]] = {
    "identical": (identical, Level.END),
    "failing": (failing, Level.END),
    "same-error": (lambda rng: same_error(rng, 5), Level.END),
    "no-op": (lambda rng: no_op(rng, 6), Level.END),
    "drift": (drift, Level.END),
    "cycle": (cycle, Level.END),
    "fan-out": (fan_out, Level.END),
    "stale": (stale, Level.END),
    "malformed": (malformed, Level.END),
    "denied": (denied, Level.NUDGE),
    "growing": (growing, Level.NUDGE),
    "sweep": (sweep, Level.NUDGE),
    "poll-budget": (poll_budget, Level.END),
}


def test_each_detector_of_the_table_has_a_loop_of_its_own_here() -> None:
    assert {*ALONE, "text-loop"} == set(DETECTORS)


def played(detector: str, detect: Detect | None = None, *, less: int = 0) -> Played:
    script, _ = ALONE[detector]
    turns = script(Random(detector))
    return play(turns[: len(turns) - less], detect)


@pytest.mark.parametrize("detector", ALONE)
def test_each_detector_acts_at_its_count_and_not_one_turn_sooner(detector: str) -> None:
    level = ALONE[detector][1]
    assert level.word in played(detector).by(detector)
    assert level.word not in played(detector, less=1).by(detector)


@pytest.mark.parametrize("detector", ALONE)
def test_nobody_else_acts_where_one_detector_is_switched_off(detector: str) -> None:
    assert not played(detector, Detect(off=(detector,))).reached(ALONE[detector][1])


@pytest.mark.parametrize("detector", ALONE)
def test_each_detector_needs_no_other(detector: str) -> None:
    others = tuple(one for one in DETECTORS if one != detector)
    found = played(detector, Detect(off=others))
    assert found.reached(ALONE[detector][1])
    assert {one.detector for one in found.seen} == {detector}


@pytest.mark.parametrize("detector", ALONE)
def test_a_sighting_rests_on_steps_that_there_are(detector: str) -> None:
    found = played(detector)
    there = {step.index for step in found.steps}
    for one in found.seen:
        assert set(one.steps) <= there
        assert one.steps == tuple(sorted(one.steps))
        assert str(one.count) in one.detail or one.detector in ("poll-budget", "sweep")


def test_everything_can_be_switched_off() -> None:
    assert played("identical", Detect(off=("all",))).seen == []


def test_thresholds_are_the_users() -> None:
    later = Detect(levels={"identical": Levels(nudge=4, deny=None, end=None)}, off=("stale", "cycle", "drift"))
    call = read("a", "known text that is long enough to tell something")
    assert play([[call]] * 9, later).by("identical") == ["nudge"]
    assert play([[call]] * 3, later).by("identical") == []


def test_a_tail_that_says_the_same_is_a_text_loop() -> None:
    watch = Watch()
    loop = "I will now check the file again to be sure. " * 8
    levels = [one.level.word for _ in range(3) for one in watch.said("Let me see. " + loop)]
    assert levels == ["nudge", "end"]
    assert Watch(Detect(off=("text-loop",))).said(loop) == ()


def test_equal_messages_without_a_call_between_are_a_monologue() -> None:
    watch, text = Watch(), "All of the work is done, nothing is left to do."
    assert [len(watch.said(text)) for _ in range(5)] == [0, 0, 1, 0, 1]


def test_equal_messages_around_calls_are_none() -> None:
    watch, text = Watch(), "Now I run the tests once more to see where we are."
    for number in range(8):
        assert watch.said(text) == ()
        assert play([[news(Random(number))]]).seen == []
        watch.see(play([[news(Random(number))]]).steps[0])


@pytest.mark.parametrize(
    "text",
    [
        "| a | b |\n" * 60,
        "- item one of the list\n" * 40,
        "```\n" + "x = 1\n" * 80 + "```",
        " ".join(f"step {n} is done and step {n + 1} is next" for n in range(30)),
        "ok " * 30,
    ],
)
def test_lists_tables_code_and_short_repeats_are_no_text_loop(text: str) -> None:
    assert repeated_tail(text) == 0
