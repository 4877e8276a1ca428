"""The paths that only test steps change, kept with the run so that a resume leaves out the same ones."""

from __future__ import annotations

import json

from ralph.journal.effects import replace_file
from ralph.journal.places import RunDir

NAME = "test-owned.json"


def keep_owned(paper: RunDir, paths: frozenset[str]) -> None:
    """Keep the paths. Raises: OSError."""
    replace_file(paper.path / NAME, json.dumps(sorted(paths)).encode("ascii"))


def kept_owned(paper: RunDir) -> frozenset[str]:
    """Return the paths kept; none where there is no such file or it makes no sense."""
    try:
        data = json.loads((paper.path / NAME).read_bytes())
    except (OSError, ValueError):
        return frozenset()
    return frozenset(path for path in data if isinstance(path, str)) if isinstance(data, list) else frozenset()
