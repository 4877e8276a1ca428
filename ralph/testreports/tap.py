"""TAP 12, 13 and 14: test points, plans, subtests, TODO, SKIP and "Bail out!".

Ids are descriptions, "/"-joined through subtests; a point without one is "test N". A TODO point that fails is skipped,
as an expected failure is elsewhere; a plan that promises more points than came fails.
Source: https://testanything.org/tap-version-14-specification.html
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ralph.testreports.parsed import Parsed, Status, capped, gathered, stable_id, text_lines

_POINT = re.compile(r"( *)(not )?ok\b(?: (\d{1,9}))?(.*)")
_PLAN = re.compile(r"( *)1\.\.(\d{1,9})(?:\s*#.*)?")
_BAIL = re.compile(r" *Bail out!(.*)")
_VERSION = re.compile(r"TAP version \d{1,3}")
_DIRECTIVE = re.compile(r"(?<!\\)#\s*(skip|todo)\b.*", re.IGNORECASE)
_INDENT = 4
_LEVELS = 32

_Case = tuple[str, Status]


@dataclass(slots=True)
class _Seen:
    """pending: cases by level whose parent's own point has not come yet."""

    pending: dict[int, list[_Case]] = field(default_factory=dict)
    points: int = 0
    planned: int | None = None
    bail: str | None = None
    version: bool = False


def parse(data: bytes) -> Parsed | None:
    """Return what the stream says; None where it has neither a plan with points nor a version line."""
    seen = _Seen()
    in_yaml = False
    for line in text_lines(data):
        bare = line.strip()
        if in_yaml or (bare == "---" and line.startswith("  ")):
            in_yaml = bare != "..."
        else:
            _take(line, seen)
    if not seen.version and (seen.planned is None or not (seen.points or seen.planned == 0)):
        return None
    return _result(seen)


def _take(line: str, seen: _Seen) -> None:
    if point := _POINT.fullmatch(line):
        _point(point, seen)
    elif plan := _PLAN.fullmatch(line):
        if not plan[1]:
            seen.planned = (seen.planned or 0) + int(plan[2])
    elif bail := _BAIL.fullmatch(line):
        seen.bail = bail[1].strip()
    elif _VERSION.fullmatch(line):
        seen.version = True


def _point(point: re.Match[str], seen: _Seen) -> None:
    level, rest = len(point[1]) // _INDENT, point[4]
    if len(point[1]) % _INDENT or level > _LEVELS or not (rest == "" or rest[0].isspace()):
        return
    directive = _DIRECTIVE.search(rest)
    words = rest[: directive.start()] if directive else rest
    name = stable_id(re.sub(r"^\s*-\s", "", words).replace("\\#", "#")) or f"test {point[3] or '?'}"
    status: Status = "failing" if point[2] else "passing"
    if directive and (directive[1].lower() == "skip" or status == "failing"):
        status = "skipped"
    children = seen.pending.pop(level + 1, [])
    here = seen.pending.setdefault(level, [])
    here += [(stable_id(f"{name}/{child}"), ended) for child, ended in children]
    here.append((name, status))
    seen.points += level == 0


def _result(seen: _Seen) -> Parsed:
    # A stream that was cut leaves subtests without their parent's line: they count under their own names.
    cases = [case for level in sorted(seen.pending) for case in seen.pending[level]]
    short = seen.planned is not None and seen.points < seen.planned
    if seen.bail is not None:
        cases.append((stable_id(f"bail out: {seen.bail}").removesuffix(":"), "failing"))
    elif short:
        cases.append((f"plan of {seen.planned} tests", "failing"))
    passing, failing, skipped = gathered(cases)
    synthetic = int(seen.bail is not None or short)
    ran = len(passing) + len(failing) - synthetic
    return capped(
        Parsed(
            passing,
            failing,
            skipped,
            ran=ran,
            passed=len(passing),
            total=ran + len(skipped),
            partial=seen.bail is not None or short,
        )
    )
