"""A launcher on the real clock for every test that starts processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ralph.process.clock import SystemClock
from ralph.process.launch import Launcher
from ralph.process.signals import Signals
from tests.process.watch import Stage


@pytest.fixture
def signals() -> Iterator[Signals]:
    with Signals() as owned:
        yield owned


@pytest.fixture
def stage(signals: Signals, tmp_path: Path) -> Iterator[Stage]:
    with Launcher(SystemClock(), signals) as launcher:
        yield Stage(launcher, tmp_path)
