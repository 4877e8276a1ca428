"""What ralph adds to one iteration, everything on: python -m benchmarks.iteration [--quick].

Yardstick: the shell loop `cat PROMPT.md | agent; git status` of the same agent in the same repository, plus one start
of a guardian for each program. A run's time per iteration is read from its journal: from the end of its first iteration
to the end of its last.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.ground import Ground, lay_out
from benchmarks.measure import Figure, cpu_s
from ralph.facts.ending import NotStarted
from ralph.facts.job import Job
from ralph.process.boot import Interpreter
from ralph.process.guarded import NEVER, start

GUARDIAN_STARTS = 12


def figures(*, quick: bool = False) -> Iterator[Figure]:
    """Yield the overhead without and with a test command, the guardian's start, and what a run does before it."""
    rounds, times = (3, 10) if quick else (7, 30)
    with tempfile.TemporaryDirectory() as scratch:
        ground = lay_out(Path(scratch).resolve())
        yield from compared(ground, rounds=rounds, times=times, tests=False)
        yield from compared(ground, rounds=2 if quick else 4, times=times, tests=True)


def compared(ground: Ground, *, rounds: int, times: int, tests: bool) -> Iterator[Figure]:
    """Yield the ratio of wall and of processor time, shell loop and run in turns."""
    options = ("--test", "true") if tests else ()
    shells, runs, guardians, first = [], [], [], []
    for n in range(rounds + 1):
        shell, run = shell_loop(ground, times, tests=tests), ralph_run(ground, times, options)
        one = statistics.median(guardian_start(ground) for _ in range(GUARDIAN_STARTS))
        if n:  # the first round warms up
            shells.append(shell)
            runs.append(run[:2])
            first.append(run[2])
            guardians.append(one)
    programs = 2 if tests else 1
    guardian, named = statistics.median(guardians), "with a test command" if tests else "no test command"
    if not tests:
        yield Figure("start of one guardian", 1e3 * guardian, "ms", 25.0, "design part 5")
        yield Figure("process start to first agent start", 1e3 * statistics.median(first), "ms", None, "told only")
    wall = [r[0] / (s[0] + programs * g) for r, s, g in zip(runs, shells, guardians, strict=True)]
    mid = [1e3 * statistics.median(each[0] for each in side) for side in (runs, shells)]
    told = f"run {mid[0]:.1f} ms, shell loop {mid[1]:.1f} ms + {programs} x guardian {1e3 * guardian:.1f} ms"
    what = f"one iteration, everything on, {named}"
    yield Figure(what, statistics.median(wall), "x", 1.10, "cat PROMPT | agent; git status, plus guardian", detail=told)
    yield Figure(f"{what}: processor", *cpu_ratio(runs, shells), None, "same loop, processor time, guardian not added")


def cpu_ratio(runs: list[tuple[float, float]], shells: list[tuple[float, float]]) -> tuple[float, str]:
    """Return the ratio of processor times and its unit."""
    return statistics.median(r[1] / s[1] for r, s in zip(runs, shells, strict=True)), "x"


def shell_loop(ground: Ground, times: int, *, tests: bool) -> tuple[float, float]:
    """Return wall and processor seconds of one round of the shell loop."""
    step = "true; " if tests else ""
    body = f"cat PROMPT.md | '{ground.agent}' >/dev/null; {step}git status --porcelain >/dev/null"
    busy, began = cpu_s(), time.perf_counter()
    subprocess.run(
        ["sh", "-c", f"for i in $(seq {times}); do {body}; done"], cwd=ground.top, env=ground.env, check=True
    )
    return (time.perf_counter() - began) / times, (cpu_s() - busy) / times


def ralph_run(ground: Ground, times: int, options: tuple[str, ...]) -> tuple[float, float, float]:
    """Return wall and processor seconds of one iteration, and wall seconds from the start of ralph to its first."""
    short = timed_run(ground, 1, options)
    long = timed_run(ground, times + 1, options)
    ends = [record["up_s"] for record in records(ground) if record["type"] == "iteration_finished"]
    return (ends[-1] - ends[0]) / times, (long[1] - short[1]) / times, long[2]


def timed_run(ground: Ground, times: int, options: tuple[str, ...]) -> tuple[float, float, float]:
    """Return wall and processor seconds of a whole run, and those until its first agent is announced."""
    busy, began, at = cpu_s(), time.perf_counter(), time.time()
    done = subprocess.run(
        ground.run("-n", str(times), *options), cwd=ground.top, env=ground.env, capture_output=True, check=False
    )
    assert done.returncode == 20, done.stderr.decode()
    first = next(record for record in records(ground) if record["type"] == "iteration_started")
    return time.perf_counter() - began, cpu_s() - busy, stamp(str(first["at"])) - at


def records(ground: Ground) -> list[dict[str, Any]]:
    """Return the records of the newest run."""
    return [json.loads(line) for line in ground.journals()[-1].read_bytes().splitlines()]


def stamp(text: str) -> float:
    """Return the seconds since the epoch of a record's time."""
    return datetime.fromisoformat(text).timestamp()


def guardian_start(ground: Ground) -> float:
    """Return the seconds until a fresh guardian has told that its program runs."""
    job = Job(("/bin/true",), ground.top, {})
    began = time.perf_counter()
    started = start(job, hard_at=NEVER, by=Interpreter(), others=frozenset())
    assert not isinstance(started, NotStarted)
    guarded = started.guarded
    try:
        os.set_blocking(guarded.status, True)
        while guarded.program is None:
            guarded._report(os.read(guarded.status, 4096).split(b"\n")[0].decode().split(" "))
        return time.perf_counter() - began
    finally:
        os.set_blocking(guarded.status, False)
        guarded.order("sweep")
        started.close()
        guarded.abandon()
        guarded.release()


if __name__ == "__main__":
    for figure in figures(quick="--quick" in sys.argv):
        print(figure)
