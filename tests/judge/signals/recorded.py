"""A small sample of real agent runs, hashed: every stuck one there is, and some healthy and resolved ones.

Names of the repositories they come from stand in each run (`src`). Only hashes, counts and labels are kept.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from ralph.judge.signals.step import Step, step_of

FILE = Path(__file__).with_name("runs.jsonl.gz")
PREFIX = 24


@cache
def runs() -> tuple[dict[str, Any], ...]:
    """Return the runs of the sample."""
    return tuple(json.loads(line) for line in gzip.decompress(FILE.read_bytes()).splitlines())


def healthy_prefix(rng: Random) -> list[Step]:
    """Return the first steps of a healthy session, as if of one prompt."""
    run = rng.choice([run for run in runs() if run["label"] == "committed"])
    rows = run["steps"][: rng.randint(4, PREFIX)]
    turns = [row[5] for row in rows[1:]] + [None]
    return [replace(step_of(row, i, closes=row[5] != turns[i]), prompt=0) for i, row in enumerate(rows)]
