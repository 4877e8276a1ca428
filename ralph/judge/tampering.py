"""What was done to the tests rather than to the code: findings that keep a green run from being done.

Only what can be said with certainty; additions never block. Reading files is the caller's work: it gives the bytes of
changed files for which `is_test_path` or `is_runner_config` says yes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from ralph.facts.finding import Finding
from ralph.facts.suite import Suite, Verdict
from ralph.judge.gates import boxes
from ralph.judge.globs import matches
from ralph.judge.runnerconfig import is_runner_config, narrowed
from ralph.judge.suites import change, known_ids
from ralph.judge.testfiles import held, is_snapshot, is_test_path, looser, only_added

__all__ = ["KINDS", "Bytes", "checklist_findings", "file_findings", "is_runner_config", "is_test_path", "tampering"]

Bytes = tuple[bytes | None, bytes | None]
"""A file before and after; None where it was not there."""

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "tests-vanished": "tests that were there are gone",
        "tests-emptied": "test files lost all their tests or assertions",
        "tests-skipped": "tests that ran are skipped or expected to fail now",
        "tests-weakened": "tests check less than before",
        "runner-narrowed": "the test runner's configuration makes it run or report less",
        "protected-changed": "protected files changed",
        "checklist-shrunk": "boxes were removed from the checklist",
    }
)
"""The closed list of kinds made here, each with the words for people. All of them block `done`."""

_SHOWN = 3


def tampering(
    baseline: Suite | None,
    now: Suite | None,
    *,
    files: Mapping[str, Bytes],
    changed: Iterable[str],
    protect: Sequence[str] = (),
    known: frozenset[str] = frozenset(),
    boxes_at_start: Sequence[tuple[str, int, int]] = (),
    checklist: Mapping[str, str | None] = MappingProxyType({}),
) -> tuple[Finding, ...]:
    """Return everything found against this state, compared with the start of the run, one finding a kind.

    baseline, now: of the tests, None where not run. files: changed test and runner files, start against now. changed:
    all changed paths. known: test ids seen since the start. boxes_at_start: `Opening.boxes`; checklist: texts now.
    """
    return (
        *_suite_findings(baseline, now, known=known, touched=[path for path in files if is_test_path(path)]),
        *file_findings(files),
        *_protected(changed, protect),
        *checklist_findings(boxes_at_start, checklist),
    )


def _finding(kind: str, subjects: Iterable[str], detail: str = "") -> Finding:
    names = tuple(sorted(set(subjects)))
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    text = detail or f"{', '.join(names[:_SHOWN])}{more}"
    return Finding(kind, f"{KINDS[kind]}: {text}", names, blocks=True)


def _suite_findings(
    baseline: Suite | None, now: Suite | None, *, known: frozenset[str], touched: Sequence[str]
) -> list[Finding]:
    """Return what the results say. touched: changed test files, named where only counts tell, for lack of ids."""
    if now is None or now.verdict not in (Verdict.GREEN, Verdict.RED, Verdict.FLAKY):
        return []
    moved = change(baseline, now, known | known_ids([baseline]))
    found = []
    if moved.vanished:
        found.append(_finding("tests-vanished", moved.vanished))
    elif fewer := _fewer(baseline, now):
        found.append(_finding("tests-vanished", touched, fewer))
    if moved.newly_skipped:
        found.append(_finding("tests-skipped", moved.newly_skipped))
    elif (fewer := _fewer_run(baseline, now)) and not moved.vanished:
        found.append(_finding("tests-skipped", touched, fewer))
    return found


def _counted(baseline: Suite | None, now: Suite) -> bool:
    """Return whether counts of the two can be compared: same format, neither stopped early."""
    return baseline is not None and baseline.format == now.format and not baseline.partial and not now.partial


def _fewer(baseline: Suite | None, now: Suite) -> str:
    """Return the counts where fewer tests are there than at the start, which needs no ids."""
    if baseline is None or not _counted(baseline, now) or baseline.total is None or now.total is None:
        return ""
    return f"{baseline.total} tests at the start, {now.total} now" if now.total < baseline.total else ""


def _fewer_run(baseline: Suite | None, now: Suite) -> str:
    """Return the counts where a green run passed fewer tests than passed at the start: the rest is skipped."""
    if baseline is None or not _counted(baseline, now) or now.verdict is not Verdict.GREEN:
        return ""
    if baseline.passed is None or now.passed is None or now.passed >= baseline.passed or _fewer(baseline, now):
        return ""
    return f"{baseline.passed} tests passed at the start, {now.passed} now"


def file_findings(files: Mapping[str, Bytes]) -> tuple[Finding, ...]:
    """Return what the bytes of test and runner files say, start against now."""
    arrived = {after for before, after in files.values() if before is None and after is not None}
    found: dict[str, dict[str, str]] = {}
    for path, (before, after) in sorted(files.items()):
        if before == after or (after is None and before in arrived):
            continue  # moved, byte for byte
        for kind, why in _of_file(path, before, after):
            found.setdefault(kind, {})[path] = why
    return tuple(_with_reasons(kind, found[kind]) for kind in KINDS if kind in found)


def _with_reasons(kind: str, reasons: Mapping[str, str]) -> Finding:
    shown = "; ".join(f"{path}: {why}" for path, why in list(reasons.items())[:_SHOWN])
    more = f" and {len(reasons) - _SHOWN} more" if len(reasons) > _SHOWN else ""
    return _finding(kind, reasons, shown + more)


def _of_file(path: str, before: bytes | None, after: bytes | None) -> list[tuple[str, str]]:
    found = []
    if is_runner_config(path) and (why := narrowed(path, before, after)):
        found.append(("runner-narrowed", why))
    if before is None or not is_test_path(path):
        return found
    if is_snapshot(path):
        if after is None or not only_added(before, after):
            found.append(("tests-weakened", "recorded expectations were rewritten"))
        return found
    return found + _of_tests(before, after)


def _of_tests(before: bytes, after: bytes | None) -> list[tuple[str, str]]:
    old, new = held(before), held(after)
    if (old.tests and not new.tests) or (old.asserts and not new.asserts):
        return [("tests-emptied", "deleted" if after is None else "no test or assertion left")]
    found = []
    # As many new marks as new tests may all be on the new ones: that is an addition.
    if new.skips - old.skips > max(0, new.tests - old.tests):
        found.append(("tests-skipped", f"{new.skips - old.skips} more skip or xfail marks"))
    if new.asserts < old.asserts:
        found.append(("tests-weakened", f"{old.asserts} assertion lines at the start, {new.asserts} now"))
    elif looser(old, new):
        found.append(("tests-weakened", "a tolerance was raised"))
    return found


def _protected(changed: Iterable[str], protect: Sequence[str]) -> list[Finding]:
    touched = [path for path in changed if matches(path, protect)]
    return [_finding("protected-changed", touched)] if touched else []


def checklist_findings(
    boxes_at_start: Sequence[tuple[str, int, int]], checklist: Mapping[str, str | None]
) -> tuple[Finding, ...]:
    """Return the checklists that hold fewer boxes than at the start. A file that is gone has none."""
    lost = {}
    for path, unticked, ticked in boxes_at_start:
        now = sum(boxes(checklist.get(path) or ""))
        if now < unticked + ticked:
            lost[path] = f"{unticked + ticked} boxes at the start, {now} now"
    return (_with_reasons("checklist-shrunk", lost),) if lost else ()
