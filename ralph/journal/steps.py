"""`steps.jsonl.gz`: one row a tool call, hashes and counts only, from which a recorded run can be judged again."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

NAME = "steps.jsonl.gz"
ROWS_CAP = 200_000


class StepsFile:
    """Written while an iteration goes on; a crash loses its end, which no decision of this run rests on."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._file: gzip.GzipFile | None = None
        self._rows = 0

    def add(self, row: Sequence[object]) -> None:
        """Write one row; nothing is made before the first, nothing is written past the cap."""
        if self._rows >= ROWS_CAP:
            return
        if self._file is None:
            self._file = gzip.GzipFile(self._path, "xb", compresslevel=3)
        self._rows += 1
        self._file.write(json.dumps(row, separators=(",", ":")).encode("ascii") + b"\n")

    def close(self) -> None:
        """Finish the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def read_steps(folder: Path) -> Iterator[list[object]]:
    """Yield the rows of one iteration, up to where the file is whole; none where there is none."""
    try:
        with gzip.open(folder / NAME, "rb") as file:
            for line in file:
                row = json.loads(line)
                if isinstance(row, list):
                    yield row
    except (OSError, EOFError, ValueError):
        return
