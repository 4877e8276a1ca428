"""Limits raised when a run goes on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ralph.config.raising import raised
from ralph.errors import ConfigErrors
from ralph.facts.settings import Settings

HAD = replace(Settings(), limits=replace(Settings().limits, iterations=30, time=3600.0, cost=5_000_000))

RAISED = [
    ("limits.iterations", "+20", "iterations", 50),
    ("limits.iterations", "80", "iterations", 80),
    ("limits.iterations", "unlimited", "iterations", None),
    ("limits.time", "+30m", "time", 5400.0),
    ("limits.cost", "+$2.50", "cost", 7_500_000),
    ("limits.tokens", "9", "tokens", 9),
    ("limits.until", "07:00", "until", "07:00"),
]


@pytest.mark.parametrize(("path", "typed", "name", "value"), RAISED)
def test_a_limit_is_raised(path: str, typed: str, name: str, value: object) -> None:
    after = raised(HAD, {path: typed})
    assert getattr(after.limits, name) == value
    assert replace(after, limits=HAD.limits) == HAD


REFUSED = [
    ("limits.iterations", "+0"),
    ("limits.iterations", "+"),
    ("limits.iterations", "++5"),
    ("limits.iterations", ""),
    ("limits.iterations", "+unlimited"),
    ("limits.time", "+30"),
    ("limits.tokens", "+5"),
    ("limits.until", "+07:00"),
    ("test.command", "make"),
    ("check", ("a=b",)),
]


@pytest.mark.parametrize(("path", "typed"), REFUSED)
def test_what_makes_no_sum_is_refused(path: str, typed: object) -> None:
    with pytest.raises(ConfigErrors) as caught:
        raised(HAD, {path: typed})
    (error,) = caught.value.errors
    assert error.what
    assert error.fix


def test_every_mistake_of_the_line_comes_at_once() -> None:
    with pytest.raises(ConfigErrors) as caught:
        raised(HAD, {"limits.time": "5", "limits.cost": "x", "limits.iterations": "+1"})
    assert [error.where for error in caught.value.errors] == ["--max-time", "--max-cost"]


def test_nothing_typed_changes_nothing() -> None:
    assert raised(HAD, {}) == HAD
