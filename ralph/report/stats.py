"""What became of many runs: how often loops had to be broken, how long runs are, what they cost, what they needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ralph.encode.terminal import one_line
from ralph.facts.reason import Reason
from ralph.facts.usage import MICRO
from ralph.report.phrases import money, plural

SCHEMA = 1
LOOPS = frozenset({Reason.NO_PROGRESS, Reason.OSCILLATION, Reason.TESTS_STUCK})
"""Endings that break a loop of iterations."""
RISE_LEAST = 2
"""Broken loops below which no rise is told: one is chance."""
SHOWN = 10


@dataclass(frozen=True, slots=True)
class Told:
    """One run. reason: None where it was cut off or still runs. cap: of iterations, None without one.

    turns: of all iterations, None where no agent told. at_turn_cap: iterations ended by the limit of turns.
    micro: cost, None where nothing is known. looping: iterations that a signal ended. calls, signals: by tool;
    a signal counts for the tool of its last step. origins: what the result before a loop was like, by kind.
    needs: what the agent said it was blocked for.
    """

    run: str
    started_at: datetime
    reason: Reason | None = None
    iterations: int = 0
    cap: int | None = None
    turns: int | None = None
    at_turn_cap: int = 0
    micro: int | None = None
    looping: int = 0
    calls: Mapping[str, int] = field(default_factory=dict)
    signals: Mapping[str, int] = field(default_factory=dict)
    origins: Mapping[str, int] = field(default_factory=dict)
    needs: tuple[str, ...] = ()

    @property
    def is_aborted(self) -> bool:
        """Return whether a loop had to be broken: inside an iteration, or by the end of the run."""
        return self.looping > 0 or self.reason in LOOPS


@dataclass(frozen=True, slots=True)
class Spread:
    """A distribution: nearest-rank quantiles of known values, and how many were not known."""

    known: int
    unknown: int
    least: float | None
    median: float | None
    p90: float | None
    most: float | None


@dataclass(frozen=True, slots=True)
class Rise:
    """The loop-abort rate of these runs against that of the runs before; ratio None: there were none before."""

    before: float | None
    now: float | None
    runs_before: int

    def is_above(self, factor: float, aborted: int) -> bool:
        """Return whether the rate rose by more than this factor; aborted: runs with a broken loop now."""
        if self.before is None or self.now is None or aborted < RISE_LEAST:
            return False
        return self.now > factor * self.before


def rate(runs: Sequence[Told]) -> float | None:
    """Return the share of runs in which a loop had to be broken, None without runs."""
    return sum(run.is_aborted for run in runs) / len(runs) if runs else None


def rise(runs: Sequence[Told], before: Sequence[Told]) -> Rise:
    """Return how the loop-abort rate moved."""
    return Rise(rate(before), rate(runs), len(before))


def spread(values: Iterable[float | None]) -> Spread:
    """Return the distribution of values, of which None is unknown."""
    every = list(values)
    known = sorted(value for value in every if value is not None)
    if not known:
        return Spread(0, len(every), None, None, None, None)
    return Spread(len(known), len(every) - len(known), known[0], _rank(known, 0.5), _rank(known, 0.9), known[-1])


def _rank(known: Sequence[float], share: float) -> float:
    return known[max(0, -int(-len(known) * share // 1) - 1)]


def at_cap(runs: Iterable[Told]) -> int:
    """Return how many runs used up their iterations: a bump there says that the cap ends runs, not the work."""
    return sum(run.cap is not None and run.iterations >= run.cap for run in runs)


def tools(runs: Iterable[Told]) -> list[tuple[str, int, int, float]]:
    """Return (tool, calls, signals, signals per 100 calls), the most signals per call first."""
    calls, signals = Counter[str](), Counter[str]()
    for run in runs:
        calls.update(run.calls)
        signals.update(run.signals)
    rows = [(tool, count, signals[tool], 100 * signals[tool] / count) for tool, count in calls.items() if count]
    return sorted(rows, key=lambda row: (-row[3], -row[1], row[0]))


def summed(runs: Sequence[Told], before: Sequence[Told]) -> dict[str, object]:
    """Return everything as JSON. before: the runs of the period before, for the rise."""
    moved = rise(runs, before)
    origins: Counter[str] = Counter()
    for run in runs:
        origins.update(run.origins)
    return {
        "schema": SCHEMA,
        "runs": len(runs),
        "reasons": dict(Counter(run.reason.value if run.reason else "none" for run in runs).most_common()),
        "loop_abort": {
            "runs": sum(run.is_aborted for run in runs),
            "rate": moved.now,
            "iterations_ended": sum(run.looping for run in runs),
            "before": {"runs": moved.runs_before, "rate": moved.before},
        },
        "iterations": {**_spread(spread(run.iterations for run in runs)), "at_cap": at_cap(runs)},
        "turns": {
            **_spread(spread(run.turns for run in runs)),
            "iterations_at_cap": sum(run.at_turn_cap for run in runs),
        },
        "cost_usd": _spread(
            spread(None if run.micro is None else run.micro / MICRO for run in runs),
        ),
        "tools": [
            {"tool": tool, "calls": calls, "signals": signals, "per_100": round(share, 3)}
            for tool, calls, signals, share in tools(runs)
        ],
        "loops_began_after": dict(origins.most_common()),
        "blocked": [
            {"needed": need, "runs": count}
            for need, count in Counter(need for run in runs for need in dict.fromkeys(run.needs)).most_common()
        ],
    }


def _spread(found: Spread) -> dict[str, object]:
    return {
        "known": found.known,
        "unknown": found.unknown,
        "min": found.least,
        "median": found.median,
        "p90": found.p90,
        "max": found.most,
    }


def text(runs: Sequence[Told], before: Sequence[Told]) -> str:
    """Return everything for people."""
    return "\n".join(_lines(runs, before)) + "\n"


def _lines(runs: Sequence[Told], before: Sequence[Told]) -> Iterator[str]:
    ends = Counter(run.reason.value if run.reason else "no ending" for run in runs).most_common()
    yield f"{plural(len(runs), 'run')}: {', '.join(f'{count} {word}' for word, count in ends) or 'none'}"
    if not runs:
        return
    yield f"loops broken:  {_rates(runs, before)}"
    capped = at_cap(runs)
    yield f"iterations:    {_words(spread(run.iterations for run in runs))}; {capped} at their cap{_bump(capped, runs)}"
    turns = sum(run.at_turn_cap for run in runs)
    yield f"turns:         {_words(spread(run.turns for run in runs))}; {plural(turns, 'iteration')} at the cap"
    yield f"cost:          {_costs(spread(run.micro for run in runs))}"
    yield from _tables(runs)


def _rates(runs: Sequence[Told], before: Sequence[Told]) -> str:
    moved, inside = rise(runs, before), sum(run.looping for run in runs)
    earlier = "" if moved.before is None else f"; {moved.before:.1%} of {plural(moved.runs_before, 'run')} before"
    return f"in {moved.now or 0:.1%} of runs ({plural(inside, 'iteration')} ended){earlier}"


def _bump(capped: int, runs: Sequence[Told]) -> str:
    return " (the cap ends these runs, not the work)" if 2 * capped > len(runs) else ""


def _words(found: Spread) -> str:
    if not found.known:
        return "unknown"
    told = f"{found.least:g} to {found.most:g} a run, median {found.median:g}, p90 {found.p90:g}"
    return f"{told}{f', {found.unknown} unknown' if found.unknown else ''}"


def _costs(found: Spread) -> str:
    if found.least is None or found.most is None or found.median is None or found.p90 is None:
        return "unknown"
    least, most, median, p90 = (money(int(value)) for value in (found.least, found.most, found.median, found.p90))
    told = f"{least} to {most} a run, median {median}, p90 {p90}"
    return f"{told}{f', {found.unknown} unknown' if found.unknown else ''}"


def _tables(runs: Sequence[Told]) -> Iterator[str]:
    rows = [row for row in tools(runs) if row[2]][:SHOWN]
    for tool, calls, signals, share in rows:
        yield f"  {one_line(tool, 40):24} {share:6.1f} signals per 100 calls ({signals} of {calls})"
    origins: Counter[str] = Counter()
    for run in runs:
        origins.update(run.origins)
    if origins:
        yield f"loops began after a result that was: {', '.join(f'{kind} {n}' for kind, n in origins.most_common())}"
    needs = Counter(need for run in runs for need in dict.fromkeys(run.needs)).most_common(SHOWN)
    for need, count in needs:
        yield f"blocked, needed: {one_line(need, 160)}{f' ({count} runs)' if count > 1 else ''}"
