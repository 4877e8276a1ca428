"""Many children that misbehave in mixed ways: nobody is left, nothing piles up, no forced stop is late."""

from __future__ import annotations

import random
import statistics
import time
from pathlib import Path

import pytest

from ralph.facts.ending import Cut, Why
from ralph.facts.job import TimeRules
from tests.process.test_escapes import SHAPES
from tests.process.watch import Stage, Watch, descriptors, when

GRACE_S = 0.2
LATE_S = 0.5
"""Design 5: a forced stop takes at most the grace and this."""


def script(chance: random.Random) -> tuple[str, ...]:
    steps = [f"escape={chance.choice(SHAPES[:-1])}" for _ in range(chance.randint(0, 3))]
    steps += chance.sample(["deaf", "flood", "hop", "write-err=300000", "stop=guardian"], k=chance.randint(0, 2))
    steps.append("say=ready")
    steps.append(chance.choice(["exit=0", "exit=3", "die=9", "sleep=600", "sleep=600", "kill-guardian", "stop=self"]))
    return (*steps, "sleep=600") if steps[-1] in ("kill-guardian", "stop=self") else tuple(steps)


def chaos(stage: Stage, rounds: int, seed: int) -> list[float]:
    """Return how long each forced stop took after it was ordered, seconds."""
    chance = random.Random(seed)
    stops: list[float] = []
    opened = descriptors()
    for _ in range(rounds):
        Path(stage.folder, "born").unlink(missing_ok=True)
        ordered: list[float] = []

        def order(ordered: list[float] = ordered) -> Cut:
            ordered.append(time.monotonic())
            return Cut(Why.LOOPING)

        steps = script(chance)
        asks = chance.random() < 0.7
        watch = Watch(on_line=when(b"ready", order) if asks else lambda _: None)
        rules = TimeRules(total_s=None if asks else 0.5, grace_s=GRACE_S)
        ended = stage.run(*stage.stub(*steps), watch=watch, rules=rules)
        assert stage.alive() == [], f"seed {seed}: {steps}"
        if ordered and ended.cut is not None and "stop=guardian" not in steps:
            stops.append(time.monotonic() - ordered[0])
    assert descriptors() == opened
    return stops


def test_ten_mixed_children_leave_nobody(stage: Stage) -> None:
    chaos(stage, 10, seed=random.randrange(1 << 32))


@pytest.mark.slow
def test_chaos_of_a_hundred_leaves_nobody_and_stops_in_time(stage: Stage) -> None:
    stops = chaos(stage, 100, seed=random.randrange(1 << 32))
    assert statistics.quantiles(stops, n=20)[-1] <= GRACE_S + LATE_S


@pytest.mark.slow
def test_a_soak_of_a_thousand_grows_nothing(stage: Stage) -> None:
    def resident_kib() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4

    for _ in range(20):
        stage.run("/bin/true")
    before, opened = resident_kib(), descriptors()
    for _ in range(1000):
        stage.run("/bin/true")
    assert resident_kib() - before < 1 << 10
    assert descriptors() == opened
