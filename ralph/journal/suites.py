"""Keeps whole test results by digest, so that journal records stay small and resume still knows every id."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from ralph.errors import UserError
from ralph.facts.suite import Suite
from ralph.journal.codec import Misshapen, dumps, from_json, to_json
from ralph.journal.effects import DISK, Effects, replace_file, storage_error

DIGEST = re.compile(r"[0-9a-f]{8,128}\Z")
IDS_IN_RECORD = 200
"""Failing ids that a journal record carries itself."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many ids a suite has of each kind; true also where the ids themselves are cut."""

    passing: int = 0
    failing: int = 0
    skipped: int = 0


def counts_of(suite: Suite) -> Counts:
    """Return the counts of a whole suite."""
    return Counts(len(suite.passing), len(suite.failing), len(suite.skipped))


def tally(suite: Suite) -> dict[str, object]:
    """Return a suite as journal records carry it: verdict, counts, at most 200 failing ids, digest."""
    data = to_json(replace(suite, passing=frozenset(), skipped=frozenset(), failing=frozenset()))
    assert isinstance(data, dict)
    data["failing"] = sorted(suite.failing)[:IDS_IN_RECORD]
    data["counts"] = to_json(counts_of(suite))
    del data["passing"], data["skipped"]
    return data


def keep(folder: Path, suite: Suite, *, effects: Effects = DISK) -> None:
    """Write a suite under its digest, once, before the record that names it. The folder is made.

    Raises: UserError (storage).
    """
    path = _path(folder, suite.digest)
    if path is None:
        raise ValueError(f"a suite without a digest: {suite.name}")
    if path.exists():
        return
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        replace_file(path, dumps(to_json(suite)).encode("ascii") + b"\n", effects=effects)
    except OSError as error:
        raise storage_error("cannot keep a test result", error, where=path) from None


def load(folder: Path, digest: str) -> Suite:
    """Return the suite kept under a digest. Raises: UserError (storage) if it is gone or makes no sense."""
    path = _path(folder, digest)
    if path is None:
        raise storage_error(f"no digest of a test result: {digest[:40]!r}", where=folder)
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(fd, "rb") as file:
            suite = from_json(Suite, json.loads(file.read()))
    except OSError as error:
        raise storage_error("cannot read a test result", error, where=path) from None
    except (Misshapen, ValueError, RecursionError):
        raise storage_error("a test result makes no sense", where=path) from None
    if suite.digest != digest:
        raise storage_error("a test result has another digest than its name", where=path)
    return suite


def whole(folder: Path, suite: Suite) -> Suite:
    """Return a suite from a record with all its ids; as it is where they are no longer kept."""
    try:
        kept = load(folder, suite.digest)
    except UserError:
        return suite
    return replace(suite, passing=kept.passing, failing=kept.failing, skipped=kept.skipped)


def _path(folder: Path, digest: str) -> Path | None:
    return folder / f"{digest}.json" if DIGEST.match(digest) else None
