"""Loops inside an iteration: a detector a file, and the table that names them. `Watch` folds, `StepMaker` feeds it."""

from __future__ import annotations

from ralph.judge.signals.table import DETECTORS

__all__ = ["DETECTORS"]
