"""The names of the raw files of one iteration, in `iterations/NNNN/` of its run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ralph.journal.places import RunDir


@dataclass(frozen=True, slots=True)
class Raw:
    """Where one iteration's raw output lies. All of it is the agent's or the tests': hostile, capped, unsanitised."""

    folder: Path

    @property
    def out(self) -> Path:
        """Return the agent's stdout."""
        return self.folder / "stdout.log"

    @property
    def err(self) -> Path:
        """Return the agent's stderr."""
        return self.folder / "stderr.log"

    @property
    def steps(self) -> Path:
        """Return the rows of tool calls (hashes only)."""
        return self.folder / "steps.jsonl.gz"

    def test(self, position: int) -> tuple[Path, Path]:
        """Return stdout and stderr of the command at this position: tests first, then checks, then gates."""
        return self.folder / f"test-{position}.out.log", self.folder / f"test-{position}.err.log"


def raw(run: RunDir, number: int) -> Raw:
    """Return the raw files of an iteration that may be there."""
    return Raw(run.iteration(number))


def recorded(run: RunDir) -> tuple[int, ...]:
    """Return the numbers of iterations that left a folder, ascending."""
    try:
        names = [p.name for p in (run.path / "iterations").iterdir()]
    except OSError:
        return ()
    return tuple(sorted(int(name) for name in names if name.isascii() and name.isdigit() and len(name) < 10))
