"""How often the rules between iterations stop healthy work: real commit histories, each commit as one iteration.

Usage: python -m benchmarks.histories FOLDER    (FOLDER holds `*.jsonl.gz`, one JSON object a commit: `t` tree hash,
`f` changed files as [path, old, new, added, removed, kind, …]). A stop is counted, the stretches begin anew and the
walk goes on. Figure to reach: at most 0.1 % of commits.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from ralph.facts.iteration import Iteration
from ralph.facts.outcome import Outcome
from ralph.facts.run import Moment, Opening
from ralph.facts.settings import Limits, Settings
from ralph.facts.tree import Changes, Tree, Trees
from ralph.judge.history import History
from ralph.judge.stops import decide

START = datetime(2026, 1, 1, tzinfo=UTC)
ENDLESS = Settings(limits=Limits(iterations=None, time=None))


def commits(file: Path) -> Iterator[Iteration]:
    """Yield one iteration a commit, oldest first; the first commit is where the run starts."""
    before: Tree | None = None
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            row = json.loads(line)
            here = Tree(row["t"], row["t"])
            paths = tuple(entry[0] for entry in row["f"])
            trees = Trees(before or here, here, here)
            yield Iteration(number, START, trees, Outcome.COMPLETED, changes=Changes(len(paths), 1, 1, paths))
            before = here


def stops(file: Path) -> tuple[int, Counter[str], float]:
    """Return how many commits there are, the stops by reason, and processor seconds taken."""
    first, *rest = commits(file)
    history, found = History(Opening("run", START, first.trees.agent), ENDLESS), Counter[str]()
    began = time.process_time()
    for one in rest:
        history.add(one)
        stop = decide(history, ENDLESS, Moment(0.0))
        if stop is not None:
            found[stop.reason.value] += 1
            history.restart_stretch()
            print(f"    {stop.reason.value}: {stop.detail}")
    return len(rest), found, time.process_time() - began


def scale(count: int = 10_000) -> float:
    """Return the processor seconds it takes to decide a run of so many iterations again."""
    rows = [
        Iteration(
            n, START, Trees(Tree(f"t{n - 1}", f"t{n - 1}"), here := Tree(f"t{n}", f"t{n}"), here), Outcome.COMPLETED
        )
        for n in range(1, count + 1)
    ]
    history = History(Opening("run", START, Tree("t0", "t0")), ENDLESS)
    began = time.process_time()
    for one in rows:
        history.add(one)
        assert decide(history, ENDLESS, Moment(0.0)) is None
    return time.process_time() - began


def main() -> None:
    """Print one line a history, and the sum."""
    print(f"replay of 10,000 iterations: {scale():.2f} s (to reach: < 1 s)")
    if len(sys.argv) < 2:
        return
    total, every = 0, Counter[str]()
    for file in sorted(Path(sys.argv[1]).glob("*.jsonl.gz")):
        count, found, seconds = stops(file)
        print(f"{file.name}: {count} commits, stops {dict(found)}, {1e6 * seconds / count:.0f} us each")
        total, every = total + count, every + found
    print(
        f"all: {sum(every.values())} stops in {total} commits = {100 * sum(every.values()) / total:.3f} % {dict(every)}"
    )


if __name__ == "__main__":
    main()
