"""What every test format is read into, and how ids are made stable: shared by the parsers, knows none of them."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

ID_CHARS = 300
"""Longest id kept whole; a longer one keeps its head and a hash of all of it, so two long ones stay apart."""
IDS = 50_000
"""Most ids of one set. Above it passing and skipped ids become unknown (counts stay), failing ones are cut."""
LINE_CHARS = 4096
"""Longest line of text output that is looked at; no runner's own line is longer."""

UNNAMED = "unnamed failures"
"""The failing id of a run that counts failures and names none; `judge.suites` knows it stands for no one test."""

Status = Literal["passing", "failing", "skipped"]


@dataclass(frozen=True, slots=True)
class Parsed:
    """What one report says, whatever its format. The three sets are disjoint; failing beats passing beats skipped.

    passing, skipped: () also where the format tells only counts. ran: tests that were executed (expected failures
    too), None where it does not say. passed: how many of them passed. total: ran plus skipped. broken: why the
    runner could not do its work or the report cannot be used, None if all is well. partial: it stopped early, so
    an absent id says nothing.
    """

    passing: frozenset[str] = frozenset()
    failing: frozenset[str] = frozenset()
    skipped: frozenset[str] = frozenset()
    ran: int | None = None
    passed: int | None = None
    total: int | None = None
    broken: str | None = None
    partial: bool = False


_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_VOLATILE = (
    # R050: what differs from run to run must not make a new test of an old one.
    (re.compile(r" ?\( ?\d[\d.,:]* ?(?:ms|s|sec|seconds|m|min|µs|us|ns) ?\)"), ""),
    (re.compile(r"\b0x[0-9a-fA-F]{5,}\b"), "0x*"),
    (re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"), "<uuid>"),
    (re.compile(r"(?<![\w.-])(?:/private)?(?:/var)?/(?:tmp|folders|TMP)/[^\s\]'\",;:)]*"), "<tmp>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?"), "<time>"),
)
_SUSPECT = re.compile(r"[\x00-\x1f\x7f-\xa0\u1680-\u3000]|  |^ | $|\(|0x|/(?:tmp|folders|TMP)/|[0-9a-fA-F]-[0-9a-fA-F]")
"""Something in an id that may have to be made stable: most ids have nothing of it and cost one look."""
_BLANKS = re.compile(r"[\s\x00-\x1f\x7f]+")


def stable_id(text: str) -> str:
    """Return an id without durations, addresses, temp paths and control characters, capped; "" stays ""."""
    if len(text) <= ID_CHARS and _SUSPECT.search(text) is None:
        return text
    full = text
    text = _BLANKS.sub(" ", text[: 4 * ID_CHARS]).strip()
    for pattern, word in _VOLATILE:
        text = pattern.sub(word, text)
    if len(full) <= 4 * ID_CHARS and len(text) <= ID_CHARS:
        return text
    # The hash covers the volatile parts only where the text is absurdly long already.
    seed = text if len(full) <= 4 * ID_CHARS else full
    mark = hashlib.sha256(seed.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{text[: ID_CHARS - 9]}~{mark}"


def text_lines(data: bytes) -> Iterator[str]:
    """Yield the lines of runner output: decoded tolerantly, without colours, each capped; "\\r\\n" is one end."""
    for line in data.split(b"\n"):
        yield _ANSI.sub("", line[:LINE_CHARS].decode("utf-8", "replace")).rstrip("\r")


def gathered(cases: Iterable[tuple[str, Status]]) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Return (passing, failing, skipped) with one id a case: the second case of one name becomes "name#2".

    Within a name the failing cases come first, so the ids do not depend on the order the runner chose.
    """
    rank = {"failing": 0, "passing": 1, "skipped": 2}
    sets: dict[str, set[str]] = {"passing": set(), "failing": set(), "skipped": set()}
    seen: Counter[str] = Counter()
    for name, status in sorted(cases, key=lambda case: (case[0], rank[case[1]])):
        seen[name] += 1
        sets[status].add(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return frozenset(sets["passing"]), frozenset(sets["failing"]), frozenset(sets["skipped"])


def capped(parsed: Parsed) -> Parsed:
    """Return the result with disjoint sets of bounded size."""
    failing = parsed.failing
    if len(failing) > IDS:
        failing = frozenset(sorted(failing)[:IDS])
    passing = parsed.passing - parsed.failing
    skipped = parsed.skipped - parsed.failing - passing
    if len(passing) + len(skipped) > IDS:
        passing = skipped = frozenset()
    return Parsed(passing, failing, skipped, parsed.ran, parsed.passed, parsed.total, parsed.broken, parsed.partial)
