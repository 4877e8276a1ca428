"""What ends a run from outside, and which of them is named when several hold."""

from __future__ import annotations

from typing import Literal

import pytest

from ralph.facts.reason import Reason
from ralph.facts.run import Stop
from ralph.judge.interruption import interruption, wished


@pytest.mark.parametrize(
    ("damage", "number", "wish", "reason"),
    [
        (None, None, None, None),
        ("gone", 15, "now", Reason.REPO_DAMAGED),
        (None, 1, "now", Reason.HANGUP),
        (None, 2, None, Reason.INTERRUPTED),
        (None, 15, None, Reason.TERMINATED),
        (None, None, "after", None),
        (None, None, "now", Reason.INTERRUPTED),
    ],
)
def test_the_gravest_end_from_outside_is_named(
    damage: str | None, number: int | None, wish: Literal["after", "now"] | None, reason: Reason | None
) -> None:
    stop = interruption(damage=damage, signal_number=number, wish=wish, iterations=(3,))
    assert (stop.reason if stop else None) is reason
    assert stop is None or stop.iterations == (3,)


def test_a_wish_to_stop_after_the_iteration_comes_after_every_rule() -> None:
    assert wished(None, iterations=(3,)) is None
    assert wished("after", iterations=(3,)) == Stop(
        Reason.INTERRUPTED, "stopped after the iteration by `ralph stop`", (3,)
    )
