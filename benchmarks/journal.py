"""Prints what the journal costs: one record on the disk, the same at record 10,000, and the fold of a long run.

python -m benchmarks.journal [DIR]
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from ralph.facts.iteration import Iteration, Spent
from ralph.facts.outcome import Outcome
from ralph.facts.run import Opening
from ralph.facts.settings import Settings
from ralph.facts.suite import Suite, Verdict
from ralph.facts.tree import Changes, Tree, Trees
from ralph.facts.usage import Charge, Source, Tokens
from ralph.journal import entries
from ralph.journal.log import Log
from ralph.journal.read import file_bytes, parse, walk
from ralph.journal.story import Story, fold

ROUNDS = 1000
ITERATIONS = 10_000
START = datetime(2026, 11, 30, tzinfo=UTC)


class RealClock:
    """The clocks of this machine."""

    def real(self) -> float:
        """Return CLOCK_MONOTONIC; good enough here."""
        return time.monotonic()

    def awake(self) -> float:
        """Return CLOCK_MONOTONIC."""
        return time.monotonic()

    def now(self) -> datetime:
        """Return aware UTC."""
        return datetime.now(UTC)


def iteration(number: int) -> Iteration:
    """Return an ordinary iteration: six changed files, 40 tests, one of them red."""
    trees = Trees(*(Tree(f"{number * 3 + n:064x}", f"{number * 3 + n:064x}", "c" * 40, "main") for n in range(3)))
    ids = frozenset(f"tests/test_a.py::test_{n}" for n in range(40))
    suite = Suite("tests", Verdict.RED, ids, frozenset({"tests/test_b.py::test_red"}), digest=f"{number:064x}")
    return Iteration(
        number,
        START,
        trees,
        Outcome.COMPLETED,
        312.5,
        "exit 0",
        changes=Changes(6, 120, 31, tuple(f"src/package/module_{n}.py" for n in range(6))),
        suites=(suite,),
        spent=Spent(Charge(412_000, Source.REPORTED), Tokens(120_000, 8_000, 900_000, 60_000), 23, 41, "a-model"),
        answer="Moved the parser into a file of its own; one test is still red. " * 4,
    )


def bare(fd: int, line: bytes) -> float:
    """Return seconds of a bare write + fdatasync of one line."""
    began = time.perf_counter()
    os.write(fd, line)
    os.fdatasync(fd)
    return time.perf_counter() - began


def appended(log: Log, number: int) -> tuple[float, float]:
    """Return (seconds, of which on the processor) of building, writing, syncing and folding one iteration's record."""
    value = iteration(number)
    began, busy = time.perf_counter(), time.process_time()
    log.append(*entries.iteration_finished(value))
    return time.perf_counter() - began, time.process_time() - busy


def begin(folder: Path, name: str, story: Story) -> Log:
    """Return a journal with its first record."""
    log = Log.create(folder / name, clock=RealClock(), tell=story.add)
    opening = Opening("20261130-0512-7f3a", START, Tree("a", "a"))
    log.append(*entries.run_started(opening, settings=Settings(), origins={}, prompt_hash="", agent={}, repo={}))
    return log


def without_sync(log: Log, upto: int) -> None:
    """Fill a journal to this iteration as the loop does, four records each, without waiting for the disk."""

    class Quick(type(log._effects)):  # type: ignore[misc]
        def sync(self, fd: int) -> None:
            """Do nothing."""

    real, log._effects = log._effects, Quick()
    for number in range(1, upto + 1):
        value = iteration(number)
        log.append(*entries.iteration_started(number, hold_micro=1_000_000, prompt_hash="ab" * 32, note=""))
        log.append(*entries.agent_ended(number, outcome="completed", exit="exit 0", elapsed_s=1.0, spent=value.spent))
        log.append(*entries.tests_ended(number, suites=value.suites))
        log.append(*entries.iteration_finished(value))
    log._effects = real


def told(name: str, took: list[float]) -> float:
    """Print median and p99 in microseconds; return the median."""
    median, p99 = statistics.median(took), sorted(took)[int(len(took) * 0.99)]
    print(f"{name:46} median {median * 1e6:8.0f} us   p99 {p99 * 1e6:8.0f} us")
    return median


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as name:
        folder = Path(name)
        young, old = (begin(folder, each, Story(kept=50)) for each in ("young.jsonl", "old.jsonl"))
        without_sync(young, 10)
        without_sync(old, ITERATIONS)
        line = (folder / "young.jsonl").read_bytes().splitlines(keepends=True)[-1]
        side_by_side(folder, young, old, line=line)
        young.close()
        old.close()
        told_long(folder / "old.jsonl")


def side_by_side(folder: Path, young: Log, old: Log, *, line: bytes) -> None:
    """Print the three ways, taken in turns so that a busy machine is equally unkind to each."""
    fd = os.open(folder / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    base, early, late = [], [], []
    for turn in range(ROUNDS):
        base.append(bare(fd, line))
        early.append(appended(young, 11 + turn))
        late.append(appended(old, ITERATIONS + 1 + turn))
    os.close(fd)
    write = told(f"bare write + fdatasync, {len(line)} bytes", base)
    first = told("append of an iteration, at iteration 10", [wall for wall, _ in early])
    last = told(f"append of an iteration, at iteration {ITERATIONS:,}", [wall for wall, _ in late])
    cpu = [statistics.median(busy for _, busy in each) for each in (early, late)]
    print(f"append / bare {first / write:.2f}x   late / early {last / first:.2f}x (goal <= 1.10)")
    print(
        f"of which on the processor {cpu[0] * 1e6:.0f} and {cpu[1] * 1e6:.0f} us: {cpu[1] / cpu[0]:.2f}x (goal <= 1.10)"
    )


def told_long(path: Path) -> None:
    """Print what a long run costs to read again."""
    alone = folded(path)
    whole = min(timed(lambda: fold(record for record, _ in walk(file_bytes(path)))) for _ in range(3))
    print(f"fold of {ITERATIONS:,} iterations: {alone:.2f} s (goal < 1)")
    print(f"read from disk, check and fold, {path.stat().st_size / 1e6:.0f} MB: {whole:.2f} s")


def folded(path: Path) -> float:
    """Return the seconds of the fold alone, records at hand."""
    records = parse(file_bytes(path)).records
    return min(timed(lambda: fold(records)) for _ in range(3))


def timed(deed: Callable[[], object]) -> float:
    """Return the processor seconds one call takes; nothing here waits for the disk."""
    began = time.process_time()
    deed()
    return time.process_time() - began


if __name__ == "__main__":
    main()
