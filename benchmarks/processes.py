"""Measure what guarding a program costs, in ratios taken side by side: python -m benchmarks.processes [--json].

Start of a guarded `/bin/true` against a plain one, reading of a stream against `cat FILE | wc -l`, a forced stop over
its grace, processor time of an idle wait, memory over 1 GB of output (design part 5).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from ralph.facts.ending import Cut, Ended, Why
from ralph.facts.job import Job, Logs, TimeRules
from ralph.ports import Stream
from ralph.process.clock import SystemClock
from ralph.process.launch import Launcher
from ralph.process.signals import Signals

ROUNDS = 31
STREAM_MB = 200
IDLE_S = 8.0
GRACE_S = 0.2
ENV = {"PATH": os.environ.get("PATH", os.defpath)}


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure. target: the most it may be, None where it is only told. against: the yardstick's own."""

    what: str
    value: float
    unit: str
    target: float | None
    against: str

    @property
    def met(self) -> bool | None:
        """Return whether the target is reached, None without one."""
        return None if self.target is None else self.value <= self.target


class Deaf:
    """A watcher that takes lines and keeps nothing. cut_at: when it cuts, the moment is noted in `cut_s`."""

    def __init__(self, cut_at: bytes | None = None) -> None:
        self._cut_at = cut_at
        self.cut_s = 0.0

    def line(self, stream: Stream, line: bytes) -> Cut | None:
        """Cut at the line waited for."""
        if line != self._cut_at:
            return None
        self.cut_s = time.perf_counter()
        return Cut(Why.LOOPING)

    def finished(self) -> bool:
        """Return False: there is no terminal event."""
        return False

    def excused(self) -> bool:
        """Return False: silence counts."""
        return False

    def replies(self) -> bytes:
        """Return nothing."""
        return b""

    def closes_stdin(self) -> bool:
        """Return True."""
        return True


class Bench:
    """A launcher and a folder of its own."""

    def __init__(self, launcher: Launcher, folder: Path) -> None:
        self.launcher = launcher
        self.folder = folder

    def run(
        self, *argv: str, rules: TimeRules | None = None, watcher: Deaf | None = None, logged: bool = True
    ) -> Ended:
        """Run one guarded program."""
        logs = Logs(self.folder / "out", self.folder / "err") if logged else None
        return self.launcher.run(Job(argv, self.folder, ENV, time=rules or TimeRules(), logs=logs), watcher or Deaf())

    def start(self) -> Iterator[Figure]:
        """Compare the start of /bin/true."""
        plain, guarded = taken(plain_true, lambda: self.run("/bin/true"), rounds=ROUNDS)
        yield Figure("guarded start", 1e3 * statistics.median(guarded), "ms", 25.0, f"best {1e3 * min(guarded):.1f} ms")
        ratio = statistics.median(g / p for g, p in zip(guarded, plain, strict=True))
        yield Figure("guarded / plain start", ratio, "x", None, "posix_spawn and wait")

    def stream(self) -> Iterator[Figure]:
        """Compare the reading of lines of a real stream's length."""
        file = self.folder / "stream"
        line = b"x" * 4899 + b"\n"
        file.write_bytes(line * (STREAM_MB * 10**6 // len(line)))

        def count() -> None:
            subprocess.run(["/bin/sh", "-c", f"cat {file} | wc -l"], stdout=subprocess.DEVNULL, check=True)

        plain, bare, logged = taken(
            count,
            lambda: self.run("/bin/cat", str(file), logged=False),
            lambda: self.run("/bin/cat", str(file)),
            rounds=7,
        )
        speed = f"cat | wc -l: {STREAM_MB / statistics.median(plain):.0f} MB/s"
        for what, took in (("reading a stream", bare), ("reading and logging a stream", logged)):
            ratio = statistics.median(t / p for t, p in zip(took, plain, strict=True))
            yield Figure(what, ratio, "x", None, f"{speed}, ours {STREAM_MB / statistics.median(took):.0f} MB/s")

    def stop(self) -> Iterator[Figure]:
        """Measure forced stops of a program that ignores TERM, over its grace."""
        late = []
        for _ in range(ROUNDS):
            watcher = Deaf(b"deaf")
            script = "trap '' TERM; echo deaf; while :; do sleep 600; done"
            self.run("/bin/sh", "-c", script, rules=TimeRules(grace_s=GRACE_S), watcher=watcher)
            late.append(time.perf_counter() - watcher.cut_s - GRACE_S)
        yield Figure("forced stop over grace, worst", max(late), "s", 0.5, f"median {statistics.median(late):.3f} s")

    def idle(self) -> Iterator[Figure]:
        """Measure our own processor time while a silent program runs."""
        before = time.process_time()
        rules = TimeRules(total_s=IDLE_S, idle_s=3600.0, deadline_s=SystemClock().real() + 3600.0)
        self.run("/bin/sleep", "600", rules=rules)
        used = time.process_time() - before
        yield Figure("idle processor time", 1e3 * used / IDLE_S, "ms/s", 0.5, f"{IDLE_S:.0f} s, start and end included")


def memory(folder: Path) -> Iterator[Figure]:
    """Measure our highest memory over 1 GB of output, in a process that has done nothing else."""
    script = (
        "import sys\nfrom pathlib import Path\nfrom benchmarks.processes import bench\n"
        "with bench(Path(sys.argv[1])) as b:\n"
        "    ended = b.run('/bin/sh', '-c', 'yes ' + 'x' * 4900 + ' | head -c 1000000000')\n"
        "assert ended.bytes_out == 10**9, ended\n"
        "status = Path('/proc/self/status').read_text()\n"  # not getrusage: its maximum is inherited from us over exec
        "print(next(line.split()[1] for line in status.splitlines() if line.startswith('VmHWM')))\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(folder)], stdout=subprocess.PIPE, text=True, check=True)
    yield Figure("highest memory over 1 GB", int(done.stdout) / 1024, "MB", 45.0, "logs capped at 64 MiB")


@contextmanager
def bench(folder: Path) -> Iterator[Bench]:
    """Yield a `Bench` in a folder."""
    with Signals() as signals, Launcher(SystemClock(), signals) as launcher:
        yield Bench(launcher, folder)


def plain_true() -> None:
    """Start /bin/true and wait for it, nothing else."""
    os.waitpid(os.posix_spawn("/bin/true", ["true"], ENV), 0)


def taken(*deeds: Callable[[], object], rounds: int) -> list[list[float]]:
    """Return the seconds of each deed, done in turns so that a busy machine is equally unkind to each."""
    times: list[list[float]] = [[] for _ in deeds]
    for _ in range(rounds):
        for deed, into in zip(deeds, times, strict=True):
            began = time.perf_counter()
            deed()
            into.append(time.perf_counter() - began)
    return times


def figures() -> Iterator[Figure]:
    """Measure one after the other."""
    with tempfile.TemporaryDirectory(prefix="ralph-bench-") as name:
        with bench(Path(name)) as ours:
            for measure in (ours.start, ours.stream, ours.stop, ours.idle):
                yield from measure()
        yield from memory(Path(name))


def main() -> None:
    """Print every figure, or all of them as one JSON list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    rows = []
    asked = parser.parse_args()
    for row in figures():
        rows.append(asdict(row) | {"met": row.met})
        if not asked.json:
            goal = "" if row.target is None else f"goal <= {row.target:g}: {'met' if row.met else 'MISSED'}"
            print(f"{row.what:32} {row.value:9.3f} {row.unit:5} {goal:24} {row.against}", flush=True)
    if asked.json:
        print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
