"""What pytest prints: `-v` lines, `-q` dots, xdist's lines, the short summary and the last line.

Only the short summary and `-v` lines carry ids. Output that tests print between them can hide an id, so passing ids are
told only where as many were found as the last line counts.
Source: https://docs.pytest.org/en/stable/how-to/output.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from ralph.testreports.parsed import UNNAMED, Parsed, capped, stable_id, text_lines

_WORDS = "PASSED|FAILED|SKIPPED|XFAIL|XPASS|ERROR|RERUN"
_WORD = re.compile(rf" ({_WORDS})(?=\s|$)")
_AFTER_WORD = re.compile(r"(?: \(.*\))?\s*(?:\[ *\d+%\])?")
_XDIST = re.compile(rf"\[gw\d+\] \[ *\d+%\] ({_WORDS}) (\S.*)")
_SUMMARY = re.compile(r"(PASSED|FAILED|XFAIL|XPASS|ERROR) (\S.*)")
_HEADER = re.compile(r"=+ short test summary info =+")
_COUNT = r"\d{1,9} (?:failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|rerun|subtests? [a-z]+)"
_LAST = re.compile(rf"(?:=+ )?((?:{_COUNT}(?:, )?)+|no tests ran) in \d[\d.]*s?(?: \([\d:, a-z]+\))?(?: =+)?")
_EARLY = re.compile(r"!+ (?:Interrupted: .*|stopping after .*|KeyboardInterrupt|.*_pytest\.outcomes\.Exit.*) !+")
_USAGE = re.compile(
    r"ERROR: (?:usage: .*|file or directory not found: .*|not found: .*|found no collectors .*|.*: error: .*)"
)
_PASSES = ("PASSED", "XPASS")


@dataclass(slots=True)
class _Seen:
    """Ids found so far, and the counts of the last line."""

    passing: set[str] = field(default_factory=set)
    failing: set[str] = field(default_factory=set)
    skipped: set[str] = field(default_factory=set)
    counts: dict[str, int] | None = None
    broken: str | None = None
    early: bool = False
    parts: int = 0

    def add(self, word: str, name: str) -> None:
        name = stable_id(name)
        if word in _PASSES:
            self.passing.add(name)
        elif word in ("SKIPPED", "XFAIL"):
            self.skipped.add(name)
        elif word != "RERUN":
            self.failing.add(name)


def parse(data: bytes) -> Parsed | None:
    """Return what pytest printed; None where neither its last line nor a summary of failures is there."""
    seen = _Seen()
    in_summary = found = False
    for line in text_lines(data):
        if _HEADER.fullmatch(line):
            in_summary = found = True
        elif counts := _LAST.fullmatch(line):
            seen.counts, in_summary = _counts(counts[1]), False
        elif in_summary and line.startswith("SUBFAIL"):
            _part(line, seen)
        elif in_summary and (entry := _SUMMARY.fullmatch(line)):
            seen.add(entry[1], _id_of(entry[2]))
        else:
            _other_line(line, seen)
    if seen.counts is None and not found and seen.broken is None:
        return None
    return _result(seen)


def _other_line(line: str, seen: _Seen) -> None:
    if line.startswith("[gw") and (worker := _XDIST.fullmatch(line.rstrip())):
        seen.add(worker[1], worker[2])
    elif "::" in line and (verbose := _verbose(line)):
        seen.add(*verbose)
    elif _EARLY.fullmatch(line):
        seen.early = True
    elif line.startswith("INTERNALERROR>"):
        seen.broken = seen.broken or "pytest: internal error"
    elif usage := _USAGE.fullmatch(line):
        seen.broken = stable_id(f"pytest: {usage[0][7:]}")


def _verbose(line: str) -> tuple[str, str] | None:
    """Return (word, id) of a line of `-v`. Each step is linear: a hostile line must not cost more than its length."""
    for match in islice(_WORD.finditer(line), 4):
        name = line[: match.start()]
        if "::" in name and not name[0].isspace() and _AFTER_WORD.fullmatch(line, match.end()):
            return match[1], name
    return None


def _part(line: str, seen: _Seen) -> None:
    """Take "SUBFAILED(i=0) id - message" as a failure of its test."""
    for close in (") ", "] ", " "):
        _, found, rest = line.partition(close)
        if found and "::" in rest:
            seen.add("FAILED", _id_of(rest))
            seen.parts += 1
            return


def _id_of(entry: str) -> str:
    """Return the id of a summary line without its " - message": parameters may hold " - " themselves."""
    parts = entry.split(" - ")
    end = 1
    while end < len(parts) and _open_brackets(parts[:end]):
        end += 1
    whole = " - ".join(parts[:end])
    return parts[0] if _open_brackets([whole]) else whole


def _open_brackets(parts: list[str]) -> bool:
    text = " - ".join(parts)
    return "::" in text and text.count("[") > text.count("]")


def _counts(text: str) -> dict[str, int]:
    return {word.rstrip("s") if word != "passed" else word: int(number) for number, word in _pairs(text)}


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for part in text.split(", "):
        number, _, word = part.partition(" ")
        if number.isdecimal() and " " not in word:
            yield number, word


def _result(seen: _Seen) -> Parsed:
    counts = seen.counts
    passing, skipped = frozenset(seen.passing), frozenset(seen.skipped)
    if counts is None:
        return capped(Parsed(frozenset(), frozenset(seen.failing), broken=seen.broken, partial=True))
    passed = counts.get("passed", 0) + counts.get("xpassed", 0)
    # Neither errors (a passed test whose teardown fails is counted twice) nor parts made with `subtests` are tests of
    # their own: with them the total would go up and down with failures.
    failed = max(0, counts.get("failed", 0) - seen.parts)
    ran = passed + failed + counts.get("xfailed", 0)
    if not seen.failing and counts.get("failed", 0) + counts.get("error", 0):
        seen.failing.add(UNNAMED)
    if len(passing) < passed:
        passing = frozenset()
    if len(skipped) < counts.get("skipped", 0) + counts.get("xfailed", 0):
        skipped = frozenset()
    return capped(
        Parsed(
            passing,
            frozenset(seen.failing),
            skipped,
            ran=ran,
            passed=passed - len(seen.passing & seen.failing),
            total=ran + counts.get("skipped", 0),
            broken=seen.broken if not seen.failing else None,
            partial=seen.early,
        )
    )
