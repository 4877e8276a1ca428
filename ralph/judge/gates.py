"""What must hold before a run is `done`, and whether it does: each gate asked on this very tree."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import assert_never

from ralph.facts.finding import Finding
from ralph.facts.iteration import GateResult
from ralph.facts.reason import Reason
from ralph.facts.run import Stop
from ralph.facts.settings import ChecklistGate, CommandGate, Gate, PromiseGate, Settings
from ralph.facts.suite import Suite, Verdict
from ralph.judge.globs import matches
from ralph.judge.suites import TESTS

PROMISE = "promise"
RESTING = 2
"""Iterations without movement after which a run whose gates hold but whose tests changed has nothing left to do."""
_AROUND = "`*"
_BOX = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])[ \t]+\[([ xX])\](?:\s.*)?")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_BY_PATH = frozenset({"tests-vanished", "tests-emptied", "tests-skipped", "tests-weakened", "runner-narrowed"})
"""Kinds of finding that `--allow-test-changes` clears; the others are cleared by `--accept-findings` alone."""


def gate_name(gate: Gate) -> str:
    """Return the name of a `--done` gate as results and the verdict print it."""
    match gate:
        case PromiseGate():
            return PROMISE
        case ChecklistGate(path=path):
            return f"checklist {path}"
        case CommandGate(text=text):
            return f"command {text}"
        case _:
            assert_never(gate)


def has_tests(settings: Settings) -> bool:
    """Return whether the gate *tests* exists: a test command, or checks, whose results count like a test's."""
    return bool(settings.test.command or settings.checks)


def expected_gates(settings: Settings, baseline: Suite | None) -> tuple[str, ...]:
    """Return the gates whose holding ends this run as done; () where only a limit or no progress can end it.

    baseline: of the tests, None where it was not run. With a green one *tests* alone is a condition, not a goal.
    """
    gates = tuple(gate_name(gate) for gate in settings.done)
    green = baseline is not None and baseline.verdict is Verdict.GREEN
    if not has_tests(settings) or (green and not gates):
        return gates
    return (TESTS, *gates)


def claims(answer: str, token: str) -> bool:
    """Return whether the last line of the answer is the done token and nothing else.

    Blanks, CR, backticks and asterisks around it are ignored, so are lines made of them alone (a closing fence). A
    token quoted anywhere else never counts, an empty one never matches (R064, R067, R068).
    """
    wanted = _bare(token)
    for line in reversed(answer[-65536:].split("\n")):
        if bare := _bare(line):
            return bool(wanted) and bare == wanted
    return False


def _bare(line: str) -> str:
    while (shorter := line.strip().strip(_AROUND)) != line:
        line = shorter
    return line


def boxes(text: str) -> tuple[int, int]:
    """Return (open, ticked) list boxes of a Markdown text; those inside code fences do not count."""
    counts = {True: 0, False: 0}
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.fullmatch(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark and not ("`" in mark[2] and mark[1][0] == "`"):
            fence = mark[1]
        elif box := _BOX.fullmatch(line):
            counts[box[1] != " "] += 1
    return counts[False], counts[True]


def gate_results(
    settings: Settings,
    *,
    suites: Sequence[Suite],
    baseline_green: bool,
    claimed: bool,
    checklist: Mapping[str, str | None],
    commands: Mapping[str, Suite],
    boxes_at_start: Sequence[tuple[str, int, int]] = (),
) -> tuple[GateResult, ...]:
    """Return every gate's answer, *tests* first, then those of `--done` in their order.

    suites: tests and checks of this iteration. checklist: text by path, None where the file cannot be read.
    commands: result by gate name ("command CMD"). boxes_at_start: as in `Opening.boxes`.
    """
    at_start = {path: (unticked, ticked) for path, unticked, ticked in boxes_at_start}
    results = [_tests(settings, suites, baseline_green=baseline_green)] if has_tests(settings) else []
    for gate in settings.done:
        name = gate_name(gate)
        match gate:
            case PromiseGate():
                results.append(GateResult(name, claimed, "claimed" if claimed else "not claimed"))
            case ChecklistGate(path=path):
                results.append(_checklist(name, checklist.get(path), at_start.get(path)))
            case CommandGate():
                results.append(_command(name, commands.get(name)))
            case _:
                assert_never(gate)
    return tuple(results)


def asks_commands(results: Sequence[GateResult], settings: Settings) -> bool:
    """Return whether the command gates are worth running: there are some, and every other gate holds."""
    commands = {gate_name(gate) for gate in settings.done if isinstance(gate, CommandGate)}
    return bool(commands) and all(result.holds for result in results if result.name not in commands)


def _tests(settings: Settings, suites: Sequence[Suite], *, baseline_green: bool) -> GateResult:
    wanted = ([TESTS] if settings.test.command else []) + [check.name for check in settings.checks]
    found = {suite.name: suite for suite in suites}
    faults = [_fault(name, found.get(name)) for name in wanted]
    faults = [fault for fault in faults if fault]
    if faults:
        return GateResult(TESTS, False, "; ".join(faults))
    return GateResult(TESTS, True, "green, as at the start" if baseline_green else "green")


def _fault(name: str, suite: Suite | None) -> str:
    if suite is None:
        return f"{name}: not run"
    if suite.verdict is Verdict.GREEN:
        return ""
    count = f", {len(suite.failing)} failing" if suite.failing else ""
    return f"{name}: {suite.verdict.value}{count}"


def _checklist(name: str, text: str | None, at_start: tuple[int, int] | None) -> GateResult:
    if text is None:
        return GateResult(name, False, "file missing or unreadable")
    unticked, ticked = boxes(text)
    if not unticked and not ticked:
        return GateResult(name, False, "no boxes")
    total = unticked + ticked
    lost = max(0, sum(at_start or (0, 0)) - total)
    return GateResult(name, not unticked, f"{ticked} of {total} ticked" + (f", {lost} gone" if lost else ""))


def _command(name: str, suite: Suite | None) -> GateResult:
    if suite is None:
        return GateResult(name, False, "not run")
    holds = suite.verdict is Verdict.GREEN
    return GateResult(name, holds, suite.exit if suite.verdict in (Verdict.GREEN, Verdict.RED) else suite.verdict.value)


def accepted(settings: Settings, finding: Finding) -> bool:
    """Return whether the user has cleared this finding: all of them, or changes to just these tests."""
    if settings.run.accept_findings:
        return True
    if finding.kind not in _BY_PATH or not finding.subjects:
        return False
    return all(_allowed(subject, settings.test.allow_changes) for subject in finding.subjects)


def _allowed(subject: str, patterns: Sequence[str]) -> bool:
    """Return whether a path, or the file a test id lies in, matches; "tests.test_a::x" lies in tests/test_a.py."""
    file = subject.partition("::")[0]
    dotted = file.replace(".", "/")
    parts = dotted.split("/")
    candidates = [subject, file, dotted, *("/".join(parts[:n]) + ".py" for n in range(1, len(parts) + 1))]
    return any(matches(candidate, patterns) for candidate in candidates)


def blocking(settings: Settings, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings that keep `done` off and that the user has not cleared."""
    return tuple(finding for finding in findings if finding.blocks and not accepted(settings, finding))


def goal_reached(results: Sequence[GateResult], *, baseline_green: bool) -> bool:
    """Return whether all gates hold and at least one of them is a goal: green tests that always were are none."""
    goals = [result for result in results if not (baseline_green and result.name == TESTS)]
    return bool(goals) and all(result.holds for result in results)


def is_done(
    settings: Settings, results: Sequence[GateResult], *, findings: Sequence[Finding], baseline_green: bool
) -> Stop | None:
    """Return the end of the run where every gate holds on this tree and nothing speaks against it."""
    if not goal_reached(results, baseline_green=baseline_green) or blocking(settings, findings):
        return None
    if [result.name for result in results] == [PROMISE]:
        return Stop(Reason.DONE, "claimed, not verified", verified=False)
    held = ", ".join(f"{result.name} ({result.detail})" if result.detail else result.name for result in results)
    return Stop(Reason.DONE, f"every gate holds: {held}", verified=True)


def resting_green(
    settings: Settings,
    results: Sequence[GateResult],
    *,
    findings: Sequence[Finding],
    baseline_green: bool,
    rested: int,
) -> Stop | None:
    """Return the end of a run whose gates hold, which findings keep from being done, and which rests.

    rested: iterations in a row, the newest included, that left the tree as it was.
    """
    blocks = blocking(settings, findings)
    if rested < RESTING or not blocks or not goal_reached(results, baseline_green=baseline_green):
        return None
    subjects = tuple(sorted({subject for finding in blocks for subject in finding.subjects}))
    kinds = ", ".join(sorted({finding.kind for finding in blocks}))
    return Stop(Reason.NO_PROGRESS, f"green, but tests changed ({kinds})", tests=subjects)
