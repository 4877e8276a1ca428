"""No report at all: the exit code is all there is, so nothing is known of single tests."""

from __future__ import annotations

from ralph.testreports.parsed import Parsed


def parse(data: bytes) -> Parsed | None:
    """Return a result that knows nothing: the caller judges by the exit code. data: not looked at."""
    del data
    return Parsed()
