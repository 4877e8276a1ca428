"""How well the rules between iterations tell a run that goes nowhere from healthy work.

Usage: python -m benchmarks.histories [FOLDER] [--json]

Scripted runs: every stuck kind is to be stopped within one iteration of its count, no healthy one at all. FOLDER holds
real histories, `*.jsonl.gz`, one JSON object a commit: `t` tree hash, `f` changed files as [path, old, new, added,
removed, kind, added lines, removed lines]; each commit is taken as one iteration. A stop is counted, the stretches
begin anew and the walk goes on. To reach: stops on at most 0.1 % of real commits, warnings on at most 1 %.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.scripted import PLAIN, START, Healthy, Stuck, growth, played
from benchmarks.scripted_kinds import HEALTHY, STUCK
from ralph.facts.iteration import Iteration
from ralph.facts.outcome import Outcome
from ralph.facts.run import Moment, Opening
from ralph.facts.tree import Changes, Edit, Tree, Trees
from ralph.judge.history import History
from ralph.judge.shares import shown
from ralph.judge.stops import decide
from ralph.judge.warnings import warnings

EACH = 20
ABSENT = "0" * 12
SUFFIX = {"c": ".py", "t": "_test.py", "d": ".md", "l": ".lock"}


@dataclass(slots=True)
class Walk:
    """What the rules said of one real history."""

    name: str
    commits: int = 0
    stops: Counter[str] = field(default_factory=Counter)
    warned: int = 0
    warnings: Counter[str] = field(default_factory=Counter)
    details: list[str] = field(default_factory=list)
    seconds: float = 0.0


def commits(file: Path) -> Iterator[Iteration]:
    """Yield one iteration a commit, oldest first; the first commit is where the run starts."""
    before: Tree | None = None
    for number, line in enumerate(gzip.decompress(file.read_bytes()).splitlines()):
        row = json.loads(line)
        here = Tree(row["t"], row["t"])
        yield Iteration(number, START, Trees(before or here, here, here), Outcome.COMPLETED, changes=changes(row))
        before = here


def changes(row: Mapping[str, Any]) -> Changes:
    """Return the changes of a commit. A path's hash gets an ending that says what kind of file it is."""
    edits = tuple(
        Edit(
            path=entry[0] + SUFFIX.get(entry[5], ""),
            old="" if entry[1] == ABSENT else entry[1],
            new="" if entry[2] == ABSENT else entry[2],
            added=entry[3],
            removed=entry[4],
            plus=tuple(sorted(entry[6])),
            minus=tuple(sorted(entry[7])),
            mode="mode" in entry[8:],
        )
        for entry in row["f"]
    )
    added, removed = sum(edit.added or 0 for edit in edits), sum(edit.removed or 0 for edit in edits)
    return Changes(len(edits), added, removed, tuple(edit.path for edit in edits), edits)


def walked(file: Path) -> Walk:
    """Walk one real history."""
    first, *rest = commits(file)
    walk, history = Walk(file.name, len(rest)), History(Opening("run", START, first.trees.agent), PLAIN)
    began = time.process_time()
    for one in rest:
        history.add(one)
        found = warnings(history)
        walk.warned += bool(found)
        walk.warnings.update(finding.kind for finding in found)
        stop = decide(history, PLAIN, Moment(0.0))
        if stop is not None:
            walk.stops[stop.reason.value] += 1
            walk.details.append(f"{stop.reason.value}: {stop.detail}")
            history.restart_stretch()
    walk.seconds = time.process_time() - began
    return walk


def delays(kind: Stuck, name: str, *, runs: int = EACH) -> list[int | None]:
    """Return for each of the runs how many iterations after its count it was stopped; None: never, or as another."""
    found: list[int | None] = []
    for base in range(runs):
        rng = Random(f"{name} {base}")
        tested = bool(kind.settings.test.command)  # where all tests fail for long, that alone is a stop
        healthy, failing = rng.randint(1, 3 if tested else 9), "abcdefgh" if tested else None
        last, stop = played(chain(growth(rng, healthy + 1, failing), kind.script(rng)), kind.settings)
        caught = stop is not None and stop.reason in kind.reasons and last > healthy
        found.append(max(0, last - healthy - kind.count) if caught else None)
    return found


def false_stops(kind: Healthy, name: str, *, runs: int = EACH) -> list[str]:
    """Return what healthy runs were stopped for; being done is no stop."""
    found = []
    for base in range(runs):
        rng = Random(f"{name} {base}")
        begin = growth(rng, 1 + rng.randint(0, 4), "abcdefgh" if kind.settings.test.command else None)
        _, stop = played(chain(begin, kind.script(rng)), kind.settings)
        if stop is not None and stop.reason.exit_code != 0:
            found.append(f"{stop.reason.value}: {stop.detail}")
    return found


def scale(count: int = 10_000) -> float:
    """Return the processor seconds it takes to decide a run of so many iterations again."""
    trees = [Tree(f"t{n}", f"t{n}") for n in range(count + 1)]
    rows = [
        Iteration(n, START, Trees(trees[n - 1], trees[n], trees[n]), Outcome.COMPLETED) for n in range(1, count + 1)
    ]
    history = History(Opening("run", START, trees[0]), PLAIN)
    began = time.process_time()
    for one in rows:
        history.add(one)
        assert decide(history, PLAIN, Moment(0.0)) is None
    return time.process_time() - began


def figures(folder: Path | None) -> dict[str, Any]:
    """Return everything measured, as it is printed with --json."""
    walks = [walked(file) for file in sorted(folder.glob("*.jsonl.gz"))] if folder is not None else []
    stuck = {name: delays(kind, name) for name, kind in STUCK.items()}
    healthy = {name: false_stops(kind, name) for name, kind in HEALTHY.items()}
    total = sum(walk.commits for walk in walks)
    stops, warned = sum(sum(walk.stops.values()) for walk in walks), sum(walk.warned for walk in walks)
    return {
        "real": {
            "commits": total,
            "stops": stops,
            "stop_rate": stops / total if total else None,
            "warnings": warned,
            "warning_rate": warned / total if total else None,
            "details": [f"{walk.name}: {text}" for walk in walks for text in walk.details],
            "warned_of": dict(sum((walk.warnings for walk in walks), Counter())),
            "us_per_commit": round(1e6 * sum(walk.seconds for walk in walks) / total, 1) if total else None,
        },
        "stuck": {name: stuck_figures(found) for name, found in stuck.items()},
        "healthy": {name: {"runs": EACH, "stopped": len(found)} for name, found in healthy.items()},
        "caught_in_time": all(found is not None and found <= 1 for row in stuck.values() for found in row),
        "healthy_stopped": sum(len(found) for found in healthy.values()),
        "false_stops": [f"{name}: {text}" for name, found in healthy.items() for text in found[:1]],
        "replay_10000_s": round(scale(), 3),
    }


def stuck_figures(found: list[int | None]) -> dict[str, int | None]:
    """Return how many runs of a kind were stopped, how many in time, and the longest delay after the count."""
    caught = [delay for delay in found if delay is not None]
    return {
        "runs": len(found),
        "caught": len(caught),
        "in_time": sum(delay <= 1 for delay in caught),
        "longest_delay": max(caught, default=None),
    }


def lines(told: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines for people."""
    real = told["real"]
    if real["commits"]:
        yield f"real commits: {real['commits']}, stops {shown(real['stops'], real['commits'])} (to reach: <= 0.1 %)"
        yield f"  warnings {shown(real['warnings'], real['commits'])} (to reach: <= 1 %) {real['warned_of']}"
        yield from (f"  {text}" for text in real["details"])
        yield f"  {real['us_per_commit']:.0f} us a commit"
    for name, row in told["stuck"].items():
        yield f"stuck, {name}: {row['caught']} of {row['runs']} stopped, {row['in_time']} in time"
    for name, row in told["healthy"].items():
        yield f"healthy, {name}: {row['stopped']} of {row['runs']} stopped"
    yield from (f"  {text}" for text in told["false_stops"])
    yield f"replay of 10,000 iterations: {told['replay_10000_s']:.2f} s (to reach: < 1 s)"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="Measure the rules between iterations.")
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--json", action="store_true")
    wanted = parser.parse_args()
    told = figures(wanted.folder)
    print(json.dumps(told, indent=1) if wanted.json else "\n".join(lines(told)))


if __name__ == "__main__":
    main()
