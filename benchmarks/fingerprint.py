"""Time `WorkTree.look` against `git status` on synthetic repositories: python -m benchmarks.fingerprint [--json].

Each round makes the same number of fresh edits before each of the two, in turn; the figure is the median of the
per-round ratios, so that it survives a noisy machine. Design part 5 holds the targets.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from ralph.repo.find import locate
from ralph.repo.git import find_git
from ralph.repo.store import Store
from ralph.repo.worktree import WorkTree

SIZES = (166, 11_000, 57_000)
EDITS = (0, 1, 100, 10_000)
PER_FOLDER = 25
TARGETS = {
    (166, 0): 1.10,
    (166, 1): 1.10,
    (166, 100): 2.2,
    (11_000, 0): 0.80,
    (11_000, 1): 0.80,
    (11_000, 100): 1.0,
    (57_000, 0): 0.75,
    (57_000, 1): 0.75,
    (57_000, 100): 0.85,
    (57_000, 10_000): 3.0,
}
WORDS = ("alpha", "beta", "gamma", "return", "if", "else", "class", "import", "value", "self", "none")


@dataclass(frozen=True)
class Row:
    """One line of the table. look_ms, status_ms: medians. ratio: median of the rounds' ratios. target: None = none."""

    files: int
    edits: int
    look_ms: float
    status_ms: float
    ratio: float
    target: float | None

    @property
    def met(self) -> bool:
        """Return whether the target is reached, if there is one."""
        return self.target is None or self.ratio <= self.target


def main() -> int:
    """Run the rounds that were asked for; exit 1 when a target is missed."""
    parser = argparse.ArgumentParser(prog="benchmarks.fingerprint")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--files", default=",".join(map(str, SIZES)))
    parser.add_argument("--edits", default=",".join(map(str, EDITS)))
    parser.add_argument("--rounds", type=int, default=9)
    asked = parser.parse_args()
    edits = [int(part) for part in asked.edits.split(",")]
    rows = []
    for files in map(int, asked.files.split(",")):
        for row in measured(files, edits, asked.rounds):
            rows.append(row)
            if not asked.json:
                print(shown(row), flush=True)
    if asked.json:
        print(json.dumps([asdict(row) | {"met": row.met} for row in rows], indent=1))
    return 0 if all(row.met for row in rows) else 1


def shown(row: Row) -> str:
    """Return a line for people."""
    verdict = "" if row.target is None else f"  target {row.target:.2f}  {'met' if row.met else 'MISSED'}"
    head = f"{row.files:6d} files {row.edits:6d} edits"
    return f"{head}  look {row.look_ms:8.2f} ms  git status {row.status_ms:8.2f} ms  ratio {row.ratio:5.2f}{verdict}"


def measured(files: int, edits: list[int], rounds: int) -> Iterator[Row]:
    """Yield a row for each number of edits that the repository has files for."""
    with tempfile.TemporaryDirectory() as scratch:
        top = Path(scratch, "repo")
        names = make(top, files)
        git = find_git()
        store = Store.open(Path(scratch, "store.git"), git)
        place = locate(top, git, no_git=False)
        began = time.perf_counter()
        tree = WorkTree.open(place, store, git, run="bench", ignore=(), max_file_bytes=1 << 30)
        tree.look()
        print(f"{files:6d} files, first look {1e3 * (time.perf_counter() - began):.0f} ms", file=sys.stderr)
        for count in edits:
            if count <= files:
                yield compared(top, names, tree, count=count, rounds=rounds)


def compared(top: Path, names: list[str], tree: WorkTree, *, count: int, rounds: int) -> Row:
    """Return the row for one number of edits: both see the same kind of fresh change, each in every round."""
    command = ["git", "status", "--porcelain=v2", "-z"]

    def status() -> None:
        subprocess.run(command, cwd=top, stdout=subprocess.DEVNULL, check=True)

    def look() -> None:
        assert tree.look().partial == ()

    git(top, "checkout", "-q", "-f", ".")
    wait_until_settled(top)
    status()
    look()
    look()
    looks: list[float] = []
    statuses: list[float] = []
    salt = 0
    for n in range(rounds + 1):
        for action, times in ((status, statuses), (look, looks)):
            salt += 1
            edit(top, names, count, salt)
            taken = timed(action)
            if n:  # the first round warms up
                times.append(taken)
    ratios = [ours / theirs for ours, theirs in zip(looks, statuses, strict=True)]
    middle = statistics.median
    return Row(len(names), count, middle(looks), middle(statuses), middle(ratios), TARGETS.get((len(names), count)))


def timed(action: Callable[[], None]) -> float:
    """Return how many milliseconds it takes."""
    began = time.perf_counter()
    action()
    return 1e3 * (time.perf_counter() - began)


def make(top: Path, files: int) -> list[str]:
    """Make a repository of text files, all committed, and return their names."""
    chance = random.Random(7)
    pool = ["\n".join(" ".join(chance.choices(WORDS, k=9)) for _ in range(40)) for _ in range(16)]
    top.mkdir()
    git(top, "init", "-q")
    names = []
    for n in range(files):
        folder = f"p{n // PER_FOLDER // 40:04d}/m{n // PER_FOLDER % 40:02d}"
        if n % PER_FOLDER == 0:
            (top / folder).mkdir(parents=True, exist_ok=True)
        name = f"{folder}/f{n:06d}.py"
        (top / name).write_text(f"# {n}\n{pool[n % 16]}\n")
        names.append(name)
    git(top, "add", "-A")
    git(top, "commit", "-q", "-m", "base")
    return names


def edit(top: Path, names: list[str], count: int, salt: int) -> None:
    """Append a line to so many files, spread over the tree."""
    if count:
        for name in names[:: max(1, len(names) // count)][:count]:
            with (top / name).open("a") as file:
                file.write(f"\n# salt {salt}\n")


def wait_until_settled(top: Path) -> None:
    """Wait until the newest file is old enough for a stat cache: the clock, asked on the thing itself."""
    newest = max(os.stat(os.path.join(folder, name)).st_ctime for folder, _, names in os.walk(top) for name in names)  # noqa: PTH116, PTH118
    while time.time() < newest + 2.1:
        time.sleep(0.05)


def git(top: Path, *args: str) -> None:
    """Run the user's git as a person would."""
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@example.invalid", "-c", "gc.auto=0")
    subprocess.run(["git", *identity, *args], cwd=top, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    raise SystemExit(main())
