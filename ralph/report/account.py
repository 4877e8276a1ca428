"""The account of a run for people, made from its summary alone: as text for a terminal, as Markdown for a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from ralph.encode.markdown import cell, inline
from ralph.encode.terminal import one_line
from ralph.report.phrases import duration, numbers

Table = Mapping[str, object]
NEWEST = 50


def _table(data: object) -> Table:
    return cast(Table, data) if isinstance(data, Mapping) else {}


def _rows(data: object) -> Sequence[Table]:
    return [_table(row) for row in data] if isinstance(data, Sequence) and not isinstance(data, str) else []


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def dollars(cost: object) -> str:
    """Return a cost of the summary in words; unknown is said."""
    told = _table(cost)
    value = told.get("value")
    if value is None:
        return "unknown"
    least = "at least " if told.get("at_least") else ""
    return f"{least}${_number(value):,.4f} ({told.get('source')})"


def tests(suite: object) -> str:
    """Return a test result of the summary in short, "-" where none ran."""
    told = _table(suite)
    if not told:
        return "-"
    ran = int(_number(told.get("passing"))) + int(_number(told.get("failing")))
    return f"{told.get('passing')}/{ran} {told.get('verdict')}" if ran else str(told.get("verdict"))


def headline(summary: Table) -> str:
    """Return the first line: how the run ended, or that it runs."""
    if summary.get("reason") is None:
        return f"run {summary.get('run')}: {summary.get('status')}"
    verified = " (claimed, not verified)" if summary.get("reason") == "done" and not summary.get("verified") else ""
    return f"run {summary.get('run')}: {summary.get('reason')} [{summary.get('exit_code')}]{verified}"


def facts(summary: Table) -> Iterator[tuple[str, str]]:
    """Yield the head of the account as (label, raw text)."""
    totals, suites = _table(summary.get("totals")), _table(summary.get("tests"))
    if summary.get("detail"):
        yield "why", str(summary["detail"])
    evidence = _table(summary.get("evidence"))
    for key in ("iterations", "states", "tests"):
        listed = evidence.get(key)
        if isinstance(listed, list) and listed:
            yield f"evidence, {key}", ", ".join(str(item) for item in listed[:20])
    yield "iterations", str(totals.get("iterations"))
    if len(worked := agents(summary)) > 1:
        yield "agents", ", ".join(f"{name} {numbers(listed)}" for name, listed in worked.items())
    yield "time", duration(_number(totals.get("elapsed_s")))
    yield "cost", dollars(totals.get("cost_usd"))
    yield "tokens", str(totals["tokens"]) if totals.get("tokens") is not None else "unknown"
    if suites.get("baseline") or suites.get("last"):
        yield "tests", f"{tests(suites.get('baseline'))} at the start, {tests(suites.get('last'))} at the end"
    best = _table(summary.get("best"))
    if best:
        yield "best iteration", f"{best.get('n')}: {best.get('detail')}"
    yield "isolation", str(summary.get("isolation"))


def agents(summary: Table) -> dict[str, list[int]]:
    """Return the agents that worked with the numbers of their iterations, as far as the summary lists them."""
    found: dict[str, list[int]] = {}
    for row in _rows(summary.get("iterations")):
        if row.get("agent"):
            found.setdefault(str(row["agent"]), []).append(int(_number(row.get("n"))))
    return found


def iteration_cells(row: Table) -> tuple[str, ...]:
    """Return one iteration as raw cells: number, outcome, time, changes, tests, cost, note."""
    diff = _table(row.get("diff"))
    lines = f" +{diff.get('added')} -{diff.get('removed')}" if diff.get("added") is not None else ""
    changed = f"{diff.get('files')} files{lines}" if diff.get("files") else "none"
    swept = row.get("swept")
    notes = [str(row.get("detail") or "")]
    notes += [f"swept {len(swept)} processes"] if isinstance(swept, list) and swept else []
    return (
        str(row.get("n")),
        f"{row.get('outcome')} ({row.get('exit')})",
        duration(_number(row.get("elapsed_s"))),
        changed,
        tests(row.get("tests")),
        dollars(row.get("cost")),
        "; ".join(note for note in notes if note),
    )


HEADS = ("#", "outcome", "time", "changes", "tests", "cost", "note")


def text(summary: Table) -> str:
    """Return the account for a terminal."""
    lines = [headline(summary)]
    lines += [f"  {label + ':':22} {one_line(value, 400)}" for label, value in facts(summary)]
    rows = [HEADS, *(tuple(one_line(c, 60) for c in iteration_cells(r)) for r in _rows(summary.get("iterations")))]
    if len(rows) > 1:
        widths = [max(len(row[i]) for row in rows) for i in range(len(HEADS))]
        lines += ["", *(("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True))).rstrip() for row in rows)]
    lines += [f"finding: {f.get('kind')}: {one_line(str(f.get('detail')))}" for f in _rows(summary.get("findings"))]
    return "\n".join(lines) + "\n"


def markdown(summary: Table) -> str:
    """Return the account as Markdown: facts ralph measured, foreign words escaped, the agent's own text left out."""
    lines = [f"## {inline(headline(summary))}", ""]
    lines += [f"- {label}: {inline(value, 400)}" for label, value in facts(summary)]
    lines += ["", "| " + " | ".join(HEADS) + " |", "|" + " --- |" * len(HEADS)]
    for row in _rows(summary.get("iterations"))[-NEWEST:]:
        lines.append("| " + " | ".join(cell(c) for c in iteration_cells(row)) + " |")
    findings = _rows(summary.get("findings"))
    lines += [""] + [f"- finding {inline(str(f.get('kind')))}: {inline(str(f.get('detail')))}" for f in findings]
    return "\n".join(lines).rstrip() + "\n"
