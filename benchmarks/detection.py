"""How well the detectors tell stuck agents from healthy ones: recorded runs, step by step, as a live stream is judged.

Usage: python -m benchmarks.detection FOLDER [--json]

FOLDER holds `*.jsonl.gz`, one run a line: `label`, `agent`, `steps` (rows of eleven), and `stuck` where a run has a
stuck interval: `frm` (first stuck step) to `to` (exclusive). Runs with `maybe_stuck` are left out of all scores.
A run is nudged, denied or ended when any loop in it reaches that level; nothing is taken back by what comes later.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ralph.facts.settings import Detect
from ralph.judge.shares import shown
from ralph.judge.signals.sighting import Level
from ralph.judge.signals.step import Step, step_of
from ralph.judge.signals.watch import Watch

LABELS = {"committed": "healthy"}
WITHOUT_STALE = Detect(off=("stale",))


@dataclass(frozen=True, slots=True)
class Judged:
    """One run. first: by level, the step at which it was first reached. stuck: (from, to) of the stuck interval."""

    label: str
    agent: str
    steps: int
    first: Mapping[Level, int]
    stuck: tuple[int, int] | None
    by: tuple[str, ...] = ()

    @property
    def end(self) -> int | None:
        """Return the step at which the turn was ended."""
        return self.first.get(Level.END)

    @property
    def found(self) -> bool:
        """Return whether the end came in or after the stuck interval; an end before it is a false one."""
        return self.stuck is not None and self.end is not None and self.end >= self.stuck[0]

    @property
    def false_end(self) -> bool:
        """Return whether the run was ended where it was not stuck."""
        return self.end is not None and (self.stuck is None or not self.stuck[0] <= self.end < self.stuck[1])


@dataclass(slots=True)
class Work:
    """Processor seconds spent on so many steps."""

    seconds: float = 0.0
    steps: int = 0

    @property
    def us_per_event(self) -> float:
        """Return microseconds a step."""
        return 1e6 * self.seconds / max(1, self.steps)


@dataclass(slots=True)
class Tally:
    """All runs judged, with and without the stale window."""

    runs: list[Judged] = field(default_factory=list)
    without_stale: list[Judged] = field(default_factory=list)
    work: Work = field(default_factory=Work)


def runs(folder: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the runs that count."""
    for file in sorted(folder.glob("*.jsonl*")):
        whole = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        for run in map(json.loads, filter(bytes.strip, whole.split(b"\n"))):
            if not run.get("maybe_stuck"):
                yield run


def steps(run: Mapping[str, Any]) -> list[Step]:
    """Return the steps of a run; the last of a turn is the one before another turn's."""
    rows = run["steps"]
    turns = [row[5] for row in rows[1:]] + [None]
    return [step_of(row, i, closes=row[5] != turns[i]) for i, row in enumerate(rows)]


def judged(run: Mapping[str, Any], *, detect: Detect | None = None, work: Work | None = None) -> Judged:
    """Watch one run to its end."""
    first: dict[Level, int] = {}
    by: dict[str, None] = {}
    walk, watch = steps(run), Watch(detect)
    began = time.process_time()
    for step in walk:
        for sighting in watch.see(step):
            by[f"{sighting.detector} {sighting.level.word}"] = None
            for level in Level:
                if level <= sighting.level:
                    first.setdefault(level, step.index)
    if work is not None:
        work.seconds, work.steps = work.seconds + time.process_time() - began, work.steps + len(walk)
    stuck = run.get("stuck")
    interval = (int(stuck["frm"]), int(stuck["to"])) if stuck else None
    return Judged(run.get("label", "unknown"), run.get("agent", "?"), len(walk), first, interval, tuple(by))


def tally(folder: Path) -> Tally:
    """Judge all runs of a folder."""
    found = Tally()
    for run in runs(folder):
        found.runs.append(judged(run, work=found.work))
        if run.get("stuck"):
            found.without_stale.append(judged(run, detect=WITHOUT_STALE))
    return found


def shares(group: Iterable[Judged]) -> dict[str, int]:
    """Return how many runs there are, and how many reached each level, or were ended where they were not stuck."""
    every = list(group)
    reached = {name: sum(level in run.first for run in every) for name, level in LEVELS}
    return {"runs": len(every), **reached, "ended_outside": sum(run.false_end for run in every)}


LEVELS = (("nudged", Level.NUDGE), ("denied", Level.DENY), ("ended", Level.END))


def quantile(values: list[int], share: float) -> float | None:
    """Return the smallest value that this share of the values does not exceed (nearest rank), None without any."""
    return float(sorted(values)[math.ceil(share * len(values)) - 1]) if values else None


def stuck_figures(every: list[Judged], without_stale: list[Judged]) -> dict[str, float | None]:
    """Return what became of the stuck runs. delay: steps from the first stuck one to the end; saved: a share."""
    found = [run for run in every if run.found]
    delays = [run.end - run.stuck[0] for run in found if run.end is not None and run.stuck is not None]
    wasted = sum(run.stuck[1] - run.stuck[0] for run in every if run.stuck)
    saved = sum(max(0, run.stuck[1] - run.end - 1) for run in found if run.stuck and run.end is not None)
    return {
        "runs": len(every),
        "ended": len(found),
        "recall": len(found) / len(every) if every else None,
        "recall_without_stale": sum(run.found for run in without_stale) / len(every) if every else None,
        "delay_median": quantile(delays, 0.5),
        "delay_p90": quantile(delays, 0.9),
        "steps_saved": saved / wasted if wasted else None,
    }


def figures(found: Tally) -> dict[str, object]:
    """Return the figures as they are printed with --json."""
    by_label: dict[str, list[Judged]] = {"healthy": [], "resolved": [], "unresolved": []}
    for run in found.runs:
        by_label.setdefault(LABELS.get(run.label, run.label), []).append(run)
    stuck = [run for run in found.runs if run.stuck]
    return {
        **{label: shares(group) for label, group in by_label.items()},
        "stuck": stuck_figures(stuck, found.without_stale),
        "us_per_event": round(found.work.us_per_event, 1),
    }


def table(found: Tally) -> Iterator[str]:
    """Yield the lines for people: a row for each label and agent, shares with their 95 % bounds."""
    yield f"{'label':<12}{'agent':<18}{'runs':>6}  " + "".join(f"{name:<26}" for name, _ in LEVELS)
    for label, agent in sorted({(run.label, run.agent) for run in found.runs}):
        group = [run for run in found.runs if (run.label, run.agent) == (label, agent)]
        cells = (shown(sum(level in run.first for run in group), len(group)) for _, level in LEVELS)
        yield f"{LABELS.get(label, label):<12}{agent:<18}{len(group):>6}  " + "".join(f"{cell:<26}" for cell in cells)
    stuck = stuck_figures([run for run in found.runs if run.stuck], found.without_stale)
    yield "stuck: " + ", ".join(f"{key} {value:g}" for key, value in stuck.items() if value is not None)
    yield f"{found.work.us_per_event:.0f} us a step (to reach: <= 300)"


def main() -> None:
    """Print the figures of a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", action="store_true")
    wanted = parser.parse_args()
    found = tally(wanted.folder)
    if wanted.json:
        print(json.dumps(figures(found), indent=1))
    else:
        print("\n".join(table(found)))


if __name__ == "__main__":
    main()
