"""What a supervisor occupies while its agent works, and what it does while the agent is silent.

python -m benchmarks.memory [--quick]. Whole `ralph run`s, tests and a cost limit on, stderr on a terminal: its resident
memory while the agent hangs, its highest after 1 GB of output of a JSON-speaking agent, its processor time a second.
"""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.ground import Ground, lay_out
from benchmarks.measure import Figure, process_cpu_s, status_mb, wait_for
from benchmarks.stream import stream

GIGABYTE = 1_000_000_000
SILENT = "#!/bin/sh\ncat >/dev/null\necho working\n: >'{edited}.up'\nexec sleep 600\n"
LOUD = (
    "#!/bin/sh\ncat >/dev/null\ni=0\nwhile [ $i -lt {times} ]; do cat '{body}'; i=$((i+1)); done\n"
    "cat '{last}'\n: >'{edited}.up'\nexec sleep 600\n"
)
FULL = ("--test", "true", "--max-cost", "100", "--cost-per-iteration", "1", "-a", "claude")


def figures(*, quick: bool = False) -> Iterator[Figure]:
    """Yield memory and processor time of a silent agent's run, then memory of a loud one's."""
    with tempfile.TemporaryDirectory() as name:
        yield from silent(lay_out(Path(name).resolve() / "silent", agent=SILENT), seconds=4.0 if quick else 20.0)
        yield from loud(Path(name).resolve() / "loud", size=GIGABYTE // 10 if quick else GIGABYTE)


def silent(ground: Ground, *, seconds: float) -> Iterator[Figure]:
    """Yield what a run costs that only waits."""
    with hanging(ground) as pid:
        yield Figure(
            "supervisor, resident, agent silent", status_mb(pid, "VmRSS"), "MB", 45.0, "tests, cost limit, tty"
        )
        busy, began = process_cpu_s(pid), time.monotonic()
        switches = wakeups(pid)
        time.sleep(seconds)  # the thing measured is what happens meanwhile
        passed = time.monotonic() - began
        used, woken = process_cpu_s(pid) - busy, wakeups(pid) - switches
        told = f"over {passed:.0f} s"
        yield Figure(
            "processor, agent silent", 1e3 * used / passed, "ms/s", 0.5, "epoll without a timer: 0.06", detail=told
        )
        yield Figure("wake-ups, agent silent", woken / passed, "/s", 2.0, "epoll without a timer: 0.4")


def loud(scratch: Path, *, size: int) -> Iterator[Figure]:
    """Yield the highest memory of a run whose agent prints so many bytes of events."""
    lines = stream(4)
    scratch.mkdir()
    body, last = scratch / "body.jsonl", scratch / "last.jsonl"
    body.write_bytes(b"\n".join(lines[:-1]) + b"\n")
    last.write_bytes(lines[-1] + b"\n")
    times = size // body.stat().st_size + 1
    agent = LOUD.replace("{times}", str(times)).replace("{body}", str(body)).replace("{last}", str(last))
    ground = lay_out(scratch / "ground", agent=agent)
    with hanging(ground) as pid:
        longest = max(map(len, lines)) / 1e6
        told = f"{times * body.stat().st_size / 1e9:.2f} GB of Claude events, longest line {longest:.2f} MB"
        peak = status_mb(pid, "VmHWM")
        yield Figure(
            "supervisor, highest, 1 GB of output", peak, "MB", 45.0 + 2 * longest, "45 MB + twice a line", detail=told
        )


@contextmanager
def hanging(ground: Ground) -> Iterator[int]:
    """Yield the pid of a run whose agent has said all it will say and hangs; the run is ended by two signals."""
    near, far = pty.openpty()
    reader = threading.Thread(target=swallow, args=(near,), daemon=True)
    reader.start()
    up = Path(f"{ground.top / 'm00' / 'f0000.py'}.up")
    argv = ground.run("-n", "2", *FULL)
    argv.remove("-q")
    run = subprocess.Popen(argv, cwd=ground.top, env=ground.env, stdin=far, stdout=subprocess.DEVNULL, stderr=far)
    os.close(far)
    try:
        assert wait_for(lambda: up.exists() or run.poll() is not None, within_s=240.0), "the agent never came up"
        assert run.poll() is None, f"the run ended with {run.returncode}"
        wait_for(lambda: quiet(run.pid), within_s=60.0)
        yield run.pid
    finally:
        for number in (signal.SIGINT, signal.SIGINT):
            run.send_signal(number)
            wait_for(lambda: run.poll() is not None, within_s=0.5)
        run.wait(timeout=30)
        os.close(near)


def quiet(pid: int) -> bool:
    """Return whether a process used no processor time for a quarter of a second: it has read all there is."""
    before = process_cpu_s(pid)
    time.sleep(0.25)
    return process_cpu_s(pid) == before


def wakeups(pid: int) -> int:
    """Return how often a process has waited so far."""
    text = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("voluntary_ctxt_switches"))


def swallow(fd: int) -> None:
    """Read what a terminal is told until it is closed."""
    try:
        while os.read(fd, 65536):
            pass
    except OSError:
        return


if __name__ == "__main__":
    for figure in figures(quick="--quick" in sys.argv):
        print(figure)
