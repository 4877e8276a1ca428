"""How soon a run is over when its agent will not end: python -m benchmarks.stops. Real runs, real signals.

The agent ignores TERM and goes on. One Ctrl-C: from the signal to the exit of ralph, over the grace. Two: from the
second signal.
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.ground import Ground, lay_out
from benchmarks.measure import Figure, wait_for

GRACE_S = 1.0
DEAF = "#!/bin/sh\ntrap '' TERM INT HUP\ncat >/dev/null\n: >'{edited}.up'\nwhile :; do sleep 600; done\n"


def figures(*, quick: bool = False) -> Iterator[Figure]:
    """Yield the median of each kind of stop, and the worst in the detail."""
    rounds = 2 if quick else 7
    with tempfile.TemporaryDirectory() as name:
        ground = lay_out(Path(name).resolve(), agent=DEAF)
        over = [stopped(ground, signals=1) - GRACE_S for _ in range(rounds)]
        second = [stopped(ground, signals=2) for _ in range(rounds)]
    for what, taken in (("forced stop, over its grace", over), ("second Ctrl-C", second)):
        told = f"worst of {len(taken)}: {max(taken):.2f} s; to the exit of ralph, summary written"
        yield Figure(what, statistics.median(taken), "s", 0.5, "design part 5", detail=told)


def stopped(ground: Ground, *, signals: int) -> float:
    """Return the seconds from the last signal to the exit of ralph."""
    up = Path(f"{ground.top / 'm00' / 'f0000.py'}.up")
    up.unlink(missing_ok=True)
    argv = ground.run("-n", "2", "--set", f"limits.grace={GRACE_S:.0f}s")
    run = subprocess.Popen(
        argv,
        cwd=ground.top,
        env=ground.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
    )
    try:
        assert wait_for(up.exists, within_s=60.0), "the agent never came up"
        for n in range(signals):
            began = time.monotonic()
            run.send_signal(signal.SIGINT)
            if n + 1 < signals:
                assert wait_for(lambda: took_signal(run.pid), within_s=5.0)
                time.sleep(0.1)  # a person's two presses; two signals at once are one to the kernel
        run.wait(timeout=60)
        return time.monotonic() - began
    finally:
        if run.poll() is None:
            os.kill(run.pid, signal.SIGKILL)
            run.wait()


def took_signal(pid: int) -> bool:
    """Return whether no signal is pending for a process."""
    text = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    return all(int(line.split()[1], 16) == 0 for line in text.splitlines() if line.startswith(("SigPnd", "ShdPnd")))


if __name__ == "__main__":
    for figure in figures():
        print(figure)
