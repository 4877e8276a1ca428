"""That the ten-thousandth iteration costs what the tenth does: python -m benchmarks.scale.

Everything that keeps growing data: the history with all rules, the journal, the summary; the fold of a whole run; and
what the detectors inside an iteration take for one event.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from benchmarks import journal
from benchmarks.measure import Figure
from benchmarks.stream import stream
from ralph.agents.claude import Claude
from ralph.console.lines import Lines
from ralph.facts.iteration import Iteration
from ralph.facts.run import Moment, Opening
from ralph.facts.settings import Detect, Limits, Settings
from ralph.facts.suite import SuiteChange
from ralph.facts.tree import Tree
from ralph.journal.places import RunDir
from ralph.journal.read import file_bytes, parse
from ralph.journal.story import Story
from ralph.judge.budget import hold
from ralph.judge.history import History
from ralph.judge.retry import pause_before
from ralph.judge.steering import Steering
from ralph.judge.stops import decide
from ralph.wiring.record import Recorder

MANY = 10_000
ENDLESS = Settings(limits=Limits(iterations=None, time=None))


def figures(*, quick: bool = False) -> Iterator[Figure]:
    """Yield a ratio for each thing that grows, then the folds and the detectors."""
    many = MANY // 5 if quick else MANY
    yield rules(many, rounds=15)
    with tempfile.TemporaryDirectory() as name:
        yield from records(Path(name), many)
    yield replayed(many)
    yield detectors()


def rules(many: int, *, rounds: int) -> Figure:
    """Compare deciding at iteration 10 with deciding at the ten-thousandth, in blocks taken in turns."""
    old = grown(many)
    early, late = [], []
    for n in range(rounds):
        early.append(block(grown(10)))
        late.append(block(old))
        assert old.count == many + 20 * (n + 1)
    ratio = statistics.median(b / a for a, b in zip(early, late, strict=True))
    told = f"{1e6 * statistics.median(early):.0f} us and {1e6 * statistics.median(late):.0f} us an iteration"
    return Figure(f"history and all rules, iteration {many:,}", ratio, "x", 1.10, "iteration 10", detail=told)


def grown(count: int) -> History:
    """Return the history of so many healthy iterations."""
    first = journal.iteration(1)
    history = History(Opening("run", journal.START, first.trees.before), ENDLESS)
    for number in range(1, count + 1):
        history.add(following(number))
    return history


def following(number: int) -> Iteration:
    """Return an iteration as a run makes it: it begins where the one before ended, and says what moved in the tests."""
    one = journal.iteration(number)
    before = Tree(f"{number * 3 - 1:064x}", f"{number * 3 - 1:064x}", "c" * 40, "main")
    return replace(one, trees=replace(one.trees, before=before), change=SuiteChange())


def block(history: History) -> float:
    """Return the processor seconds of one of twenty more iterations: hold, add, decide, pause."""
    rows = [following(history.count + n) for n in range(1, 21)]
    now = journal.START + timedelta(days=1)
    began = time.process_time_ns()
    for one in rows:
        hold(history, ENDLESS)
        history.add(one)
        decide(history, ENDLESS, Moment(0.0))
        pause_before(history, ENDLESS, Moment(0.0), now=now)
    return (time.process_time_ns() - began) / 20e9


def records(folder: Path, many: int) -> Iterator[Figure]:
    """Yield the journal's and the summary's ratios, and the time to fold the long journal."""
    young, old = (journal.begin(folder, name, Story(kept=50)) for name in ("young.jsonl", "old.jsonl"))
    journal.without_sync(young, 60)
    journal.without_sync(old, many)
    early, late = [], []
    for n in range(200):
        early.append(journal.appended(young, 61 + n)[1])
        late.append(journal.appended(old, many + 1 + n)[1])
    yield compared("journal record", many, early, late)
    pages = recorder(folder, "young.jsonl"), recorder(folder, "old.jsonl")
    early, late = [], []
    for _ in range(25):
        early.append(busy(lambda: pages[0].publish(None)))
        late.append(busy(lambda: pages[1].publish(None)))
    yield compared("summary", many, early, late)
    young.close()
    old.close()
    seconds = journal.folded(folder / "old.jsonl") * MANY / many
    yield Figure(
        "fold of a journal of 10,000 iterations", seconds, "s", 1.0, "design part 5", detail="four records each"
    )


def recorder(folder: Path, name: str) -> Recorder:
    """Return a recorder that has read a journal; it writes into a folder of its own."""
    run = RunDir(folder / name.removesuffix(".jsonl"))
    run.path.mkdir()
    made = Recorder(run, Lines(quiet=True), public=None)
    for record in parse(file_bytes(folder / name)).records:
        made.take(record)
    return made


def compared(what: str, many: int, early: list[float], late: list[float]) -> Figure:
    """Return the ratio of the rounds' processor times."""
    ratio = statistics.median(late) / statistics.median(early)
    told = f"{1e6 * statistics.median(early):.0f} us and {1e6 * statistics.median(late):.0f} us on the processor"
    return Figure(f"{what}, iteration {many:,}", ratio, "x", 1.10, "iteration 60", detail=told)


def busy(deed: Callable[[], object]) -> float:
    """Return the processor seconds of one call."""
    began = time.process_time()
    deed()
    return time.process_time() - began


def replayed(many: int) -> Figure:
    """Measure deciding a whole run again."""
    rows = [following(number) for number in range(1, many + 1)]
    history = History(Opening("run", journal.START, rows[0].trees.before), ENDLESS)
    began = time.process_time()
    for one in rows:
        history.add(one)
        decide(history, ENDLESS, Moment(0.0))
    seconds = (time.process_time() - began) * MANY / many
    return Figure("replay of 10,000 iterations, all rules", seconds, "s", 1.0, "design part 5")


def detectors() -> Figure:
    """Measure the detectors inside an iteration on the events of a stream, decoding left out."""
    reader = Claude().reader()
    events = [event for line in stream(4) for event in reader.line("out", line)]
    steering = Steering(Detect(), words=lambda *_, **__: "", laned=False)
    began = time.process_time()
    for n, event in enumerate(events):
        steering.see(steering.heard(event), at=float(n))
    each = 1e3 * (time.process_time() - began) / len(events)
    return Figure(
        "detectors, one event", each, "ms", 0.3, "design part 5", detail=f"{len(events)} events, loops in them"
    )


if __name__ == "__main__":
    for figure in figures():
        print(figure)
