"""Thirteen ways to be stuck against thirteen look-alikes, each in four kinds of noise and through four lossy views."""

from __future__ import annotations

from random import Random

import pytest

from ralph.judge.signals.sighting import Level
from tests.judge.signals.recorded import healthy_prefix
from tests.judge.signals.scripts import ALIKE, NOISE, STUCK, VIEWS, Turns, play, seen_through

TURNS = 26
UNSEEN = {
    ("drift", "no_results"),
    ("no_op", "no_results"),
    ("malformed", "no_results"),
    ("drift", "cut_results"),
    ("no_op", "cut_results"),
    ("ping_pong", "no_arguments"),
}
"""What nobody can see through these views: other arguments with unknown answers, shell commands without their text."""


def made(script: str, variant: str, base: int) -> tuple[Turns, Random]:
    rng = Random(f"{script} {variant} {base}")
    turns = (STUCK | ALIKE)[script](rng, TURNS)
    if variant in NOISE:
        turns = NOISE[variant](turns, rng)
    return (seen_through(VIEWS[variant], turns) if variant in VIEWS else turns), rng


def ended(script: str, variant: str, base: int) -> bool:
    turns, rng = made(script, variant, base)
    played = play(turns, before=healthy_prefix(rng))
    return played.reached(Level.END)


@pytest.mark.parametrize("variant", ["plain", *NOISE])
@pytest.mark.parametrize("script", STUCK)
def test_an_injected_loop_ends_the_turn(script: str, variant: str) -> None:
    assert all(ended(script, variant, base) for base in range(2))


@pytest.mark.parametrize("variant", ["plain", *NOISE, *VIEWS])
@pytest.mark.parametrize("script", ALIKE)
def test_what_only_looks_like_a_loop_is_never_ended(script: str, variant: str) -> None:
    assert not any(ended(script, variant, base) for base in range(2))


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("script", STUCK)
def test_a_loop_is_seen_through_an_adapter_that_loses_something(script: str, view: str) -> None:
    assert ended(script, view, 0) == ((script, view) not in UNSEEN)


def test_a_loop_is_met_with_a_nudge_before_its_end() -> None:
    for script in STUCK:
        turns, _ = made(script, "plain", 7)
        levels = [one.level for one in play(turns).seen]
        assert levels[0] == Level.NUDGE, script
        assert Level.END in levels, script


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["plain", *NOISE])
@pytest.mark.parametrize("script", STUCK)
def test_ninety_five_percent_of_loops_are_ended(script: str, variant: str) -> None:
    hits = sum(ended(script, variant, base) for base in range(40))
    assert hits >= 0.95 * 40


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["plain", *NOISE, *VIEWS])
@pytest.mark.parametrize("script", ALIKE)
def test_none_of_many_look_alikes_is_ended(script: str, variant: str) -> None:
    assert sum(ended(script, variant, base) for base in range(15)) == 0
