"""What Python's unittest prints (Django too), with and without `-v`.

Failing ids come from the "FAIL:" and "ERROR:" headings, passing ones only from `-v`. The parts of a test made with
`subTest` count as their test: a part that passes is never printed, so it would seem to vanish.
Source: https://docs.python.org/3/library/unittest.html#command-line-interface
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ralph.testreports.parsed import UNNAMED, Parsed, capped, stable_id, text_lines

_RAN = re.compile(r"Ran (\d{1,9}) tests? in \d[\d.]*s")
_END = re.compile(r"(?:OK|FAILED|NO TESTS RAN)(?: \((.*)\))?")
_COUNT = re.compile(r"(skipped|expected failures|unexpected successes)=(\d{1,9})")
_HEADING = re.compile(r"(FAIL|ERROR|UNEXPECTED SUCCESS): (\S+) \(([^\s()]+)\).*")
_TEST = re.compile(r"(\w+) \(([\w.<>]+)\)(?: \.\.\. ?(.*)|)")
_STATUS = re.compile(r"(?:.* \.\.\. |)(ok|FAIL|ERROR|skipped .*|expected failure|unexpected success)")
_LOADER = "unittest.loader._FailedTest."


@dataclass(slots=True)
class _Seen:
    """Ids found so far; current: the test whose status has not been printed yet."""

    passing: set[str] = field(default_factory=set)
    failing: set[str] = field(default_factory=set)
    skipped: set[str] = field(default_factory=set)
    ran: int | None = None
    ended: bool = False
    red: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    current: str | None = None

    def status(self, word: str) -> None:
        if self.current is None:
            return
        if word == "ok":
            self.passing.add(self.current)
        elif word.startswith(("skipped", "expected")):
            self.skipped.add(self.current)
        else:
            self.failing.add(self.current)
        self.current = None


def parse(data: bytes) -> Parsed | None:
    """Return what unittest printed; None where its "Ran N tests" and verdict are not there."""
    seen = _Seen()
    for line in text_lines(data):
        _take(line, seen)
    if seen.ran is None or not seen.ended:
        return None
    return _result(seen, seen.ran)


def _take(line: str, seen: _Seen) -> None:
    if ran := _RAN.fullmatch(line):
        seen.ran, seen.ended, seen.current = int(ran[1]), False, None
    elif seen.ran is not None and (end := _END.fullmatch(line)):
        seen.ended, seen.red = True, line.startswith("FAILED")
        seen.counts = {word: int(number) for word, number in _COUNT.findall(end[1] or "")}
    elif heading := _HEADING.fullmatch(line):
        seen.failing.add(_id(heading[2], heading[3]))
    elif test := _TEST.fullmatch(line):
        seen.current = _id(test[1], test[2])
        if status := _STATUS.fullmatch(test[3] or ""):
            seen.status(status[1])
    elif status := _STATUS.fullmatch(line):
        seen.status(status[1])


def _id(name: str, path: str) -> str:
    """Return module.Class.test: Python 3.11 prints the whole of it in the brackets, older ones all but the name."""
    path = path.removeprefix(_LOADER)
    return stable_id(path if path == name or path.endswith("." + name) else f"{path}.{name}")


def _result(seen: _Seen, ran: int) -> Parsed:
    if seen.red and not seen.failing:
        seen.failing.add(UNNAMED)
    known = seen.passing | seen.failing | seen.skipped
    tests = {name for name in seen.failing if not name.rpartition(".")[2].startswith(("setUp", "tearDown"))}
    skipped = seen.counts.get("skipped", 0)
    expected = seen.counts.get("expected failures", 0)
    whole = len(known) >= ran
    return capped(
        Parsed(
            frozenset(seen.passing) if whole else frozenset(),
            frozenset(seen.failing),
            frozenset(seen.skipped) if whole else frozenset(),
            ran=max(0, ran - skipped),
            passed=max(0, ran - skipped - expected - len(tests)),
            total=ran,
        )
    )
