"""The event stream of `go test -json`.

Ids are "package::Test/sub". A package that fails without a failing test (it does not compile, it panicked) is a failing
id of its own, its name.
Source: https://pkg.go.dev/cmd/test2json
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from ralph.testreports.parsed import Parsed, capped, stable_id

_LINE_BYTES = 64 << 10


@dataclass(slots=True)
class _Seen:
    """How each test and package ended so far; running: tests that began."""

    passing: set[tuple[str, str]] = field(default_factory=set)
    failing: set[tuple[str, str]] = field(default_factory=set)
    skipped: set[tuple[str, str]] = field(default_factory=set)
    running: set[tuple[str, str]] = field(default_factory=set)
    failed_packages: set[str] = field(default_factory=set)


def is_noise(line: bytes) -> bool:
    """Return whether a line of output carries no result: nine tenths of the stream, not worth holding."""
    return line.startswith(b"{") and b'"Action":"output"' in line[:300]


def parse(data: bytes) -> Parsed | None:
    """Return what the events say; None where no line is such an event."""
    seen = _Seen()
    found = False
    for line in data.split(b"\n"):
        if line.startswith(b"{") and len(line) <= _LINE_BYTES and not is_noise(line):
            found |= _take(line, seen)
    return _result(seen) if found else None


def _take(line: bytes, seen: _Seen) -> bool:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return False
    if not isinstance(event, dict):
        return False
    action, package, test = event.get("Action"), event.get("Package"), event.get("Test")
    if not isinstance(action, str) or not isinstance(package, str):
        return False
    if not isinstance(test, str):
        if action == "fail":
            seen.failed_packages.add(package)
        return action in ("start", "pass", "fail", "skip")
    ends = {"pass": seen.passing, "fail": seen.failing, "skip": seen.skipped, "run": seen.running}
    if action in ends:
        ends[action].add((package, test))
    return action in ends


def _result(seen: _Seen) -> Parsed:
    unfinished = seen.running - seen.passing - seen.failing - seen.skipped
    # A panic ends the package in the middle of a test: that test never says how it ended.
    failing = seen.failing | {key for key in unfinished if key[0] in seen.failed_packages}
    passing = seen.passing - failing
    skipped = seen.skipped - failing - passing
    silent = seen.failed_packages - {package for package, _ in failing}
    ids = frozenset(map(_id, failing)) | frozenset(map(stable_id, silent))
    ran = len(passing) + len(failing)
    return capped(
        Parsed(
            frozenset(map(_id, passing)),
            ids,
            frozenset(map(_id, skipped)),
            ran=ran,
            passed=len(passing),
            total=ran + len(skipped),
            partial=bool(silent),
        )
    )


def _id(key: tuple[str, str]) -> str:
    return stable_id(f"{key[0]}::{key[1]}")
