"""That a long run does not grow: python -m benchmarks.soak [ITERATIONS]. One real run on an instant agent.

Resident memory, descriptors and zombie children of the supervisor are read at each of its iterations from outside; the
first tenth (at least 20 iterations) is left to warm up. Growth is the highest of the last tenth over the highest of the
first one after the warm-up.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.ground import Ground, lay_out
from benchmarks.measure import Figure, status_mb, wait_for

DEFAULT = 200


@dataclass(frozen=True, slots=True)
class Look:
    """The supervisor between two iterations. fds: open descriptors. zombies: children nobody has collected."""

    iteration: int
    rss_mb: float
    fds: int
    zombies: int


def figures(*, quick: bool = False, iterations: int = DEFAULT) -> Iterator[Figure]:
    """Yield growth of memory, of descriptors, and zombies left."""
    count = min(iterations, 60) if quick else iterations
    with tempfile.TemporaryDirectory() as name:
        ground = lay_out(Path(name).resolve())
        looks = watched(ground, count)
    warm = max(20, count // 10)
    tenth = max(5, count // 10)
    first = [look for look in looks if warm <= look.iteration < warm + tenth]
    last = [look for look in looks if look.iteration > count - tenth]
    assert first, "the run was over before it was looked at"
    assert last, "the run was over before it was looked at"
    told = f"iterations {first[0].iteration} to {last[-1].iteration}, {len(looks)} looks"
    grown = max(look.rss_mb for look in last) - max(look.rss_mb for look in first)
    scaled = f"{told}; {first[0].rss_mb:.1f} to {last[-1].rss_mb:.1f} MB"
    yield Figure(f"memory growth, {count:,} iterations", grown, "MB", 5.0, "the run's own first tenth", detail=scaled)
    more = min(look.fds for look in last) - min(look.fds for look in first)
    yield Figure(f"descriptors, {count:,} iterations", more, "more", 0.0, "the run's own first tenth", detail=told)
    # One that has just left and is about to be collected is no leak: the least of a tenth is what stays.
    yield Figure(f"zombies, {count:,} iterations", min(look.zombies for look in last), "left", 0.0, "none", detail=told)


def watched(ground: Ground, count: int) -> list[Look]:
    """Return a look at the supervisor about once an iteration."""
    argv = ground.run("-n", str(count))
    run = subprocess.Popen(argv, cwd=ground.top, env=ground.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    looks: list[Look] = []

    def has_news() -> bool:
        return run.poll() is not None or newest(ground) > (looks[-1].iteration if looks else 0)

    while wait_for(has_news, within_s=120.0) and run.poll() is None:
        with_looks(looks, run.pid, newest(ground))
    _, said = run.communicate(timeout=60)
    assert run.returncode == 20, said.decode("utf-8", "replace")
    return looks


def with_looks(looks: list[Look], pid: int, iteration: int) -> None:
    """Add what there is to see, unless the process has just left."""
    try:
        fds = len(list(Path(f"/proc/{pid}/fd").iterdir()))
        looks.append(Look(iteration, status_mb(pid, "VmRSS"), fds, zombies(pid)))
    except OSError:
        return


def newest(ground: Ground) -> int:
    """Return the number of the newest iteration that has a folder."""
    folders = sorted((ground.scratch / "state").glob("ralph/*/runs/*/iterations/*"))
    return int(folders[-1].name) if folders else 0


def zombies(pid: int) -> int:
    """Return how many children of a process have ended and were not collected."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    states = (Path(f"/proc/{child}/stat") for child in children)
    return sum(" Z " in path.read_text(encoding="ascii", errors="replace") for path in states if path.exists())


if __name__ == "__main__":
    for figure in figures(iterations=int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT):
        print(figure)
