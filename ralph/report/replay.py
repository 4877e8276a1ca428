"""What a replay found, in words and as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ralph.encode.terminal import one_line
from ralph.facts.replay import Inside, Replayed
from ralph.facts.run import Stop, Totals
from ralph.facts.usage import MICRO
from ralph.report.phrases import duration, money, numbers, plural

SCHEMA = 1
SHOWN = 20


def text(run: str, replayed: Replayed, recorded: Stop | None, *, sets: Sequence[str]) -> str:
    """Return the answer for people. recorded: how the run ended, None where it was cut off or still runs."""
    return "\n".join(_lines(run, replayed, recorded, sets)) + "\n"


def _lines(run: str, replayed: Replayed, recorded: Stop | None, sets: Sequence[str]) -> Iterator[str]:
    told = f"{recorded.reason.value}: {one_line(recorded.detail)}" if recorded else "no ending"
    yield f"run {run}: {plural(replayed.iterations, 'iteration')} on record, ended with {told}"
    yield f"with {', '.join(map(one_line, sets)) or 'its own thresholds'}:"
    yield from _inside(replayed.inside)
    stop = replayed.stop
    if stop is None:
        yield f"  it would not have stopped within the {plural(replayed.iterations, 'iteration')} on record"
        return
    yield f"  it would have stopped after iteration {replayed.after}, {stop.reason.value} [{stop.reason.exit_code}]"
    yield f"  evidence: {one_line(stop.detail, 400)}"
    if stop.iterations:
        yield f"  iterations: {numbers(stop.iterations)}"
    if stop.states:
        yield f"  states: {', '.join(map(one_line, stop.states))}"
    yield from _rest(replayed)


def _rest(replayed: Replayed) -> Iterator[str]:
    rest, spent = replayed.rest, replayed.rest.totals
    if not spent.iterations:
        yield "  nothing saved: no iteration came after that"
        return
    least = "at least " if spent.at_least else ""
    cost = f"{least}{money(spent.cost_micro)}" if spent.cost_micro is not None else "cost unknown"
    yield f"  saved: {plural(spent.iterations, 'iteration')}, {duration(spent.elapsed_s)}, {cost}"
    if not rest.is_loss:
        yield "  cut short: nothing; none of them reached a new state or did better"
        return
    parts = [f"new states in {plural(len(rest.new_states), 'iteration')}"] if rest.new_states else []
    parts += [f"the best iteration, {rest.best.number} ({rest.best.detail})"] if rest.best else []
    parts += ["the gates held"] if rest.done else []
    yield f"  cut short: {'; '.join(parts)}"


def _inside(found: Sequence[Inside]) -> Iterator[str]:
    for one in found[:SHOWN]:
        saved = duration(one.saved) if one.unit == "s" else f"{one.saved:.0f} {one.unit}"
        used = duration(one.used) if one.unit == "s" else f"{one.used:.0f} {one.unit}"
        why = one_line(one.why, 160)
        yield f"  iteration {one.number} would have been ended after {used}, {saved} earlier ({why})"
    if len(found) > SHOWN:
        yield f"  and {len(found) - SHOWN} more iterations"


def document(run: str, replayed: Replayed, recorded: Stop | None, *, sets: Sequence[str]) -> dict[str, object]:
    """Return the answer as JSON."""
    rest = replayed.rest
    return {
        "schema": SCHEMA,
        "run": run,
        "set": list(sets),
        "iterations": replayed.iterations,
        "recorded": _ending(recorded),
        "stop": _ending(replayed.stop),
        "after": replayed.after if replayed.stop else None,
        "saved": _sums(rest.totals) if replayed.stop else None,
        "cut_short": {
            "new_states": list(rest.new_states),
            "best": {"n": rest.best.number, "detail": rest.best.detail} if rest.best else None,
            "done": rest.done,
        }
        if replayed.stop
        else None,
        "inside": [
            {"iteration": one.number, "why": one.why, "used": one.used, "saved": one.saved, "unit": one.unit}
            for one in replayed.inside
        ],
    }


def _ending(stop: Stop | None) -> dict[str, object] | None:
    if stop is None:
        return None
    evidence = {"iterations": list(stop.iterations), "states": list(stop.states), "tests": list(stop.tests)}
    return {"reason": stop.reason.value, "exit_code": stop.reason.exit_code, "detail": stop.detail, **evidence}


def _sums(totals: Totals) -> dict[str, object]:
    value = None if totals.cost_micro is None else totals.cost_micro / MICRO
    return {
        "iterations": totals.iterations,
        "elapsed_s": round(totals.elapsed_s, 3),
        "tokens": totals.tokens,
        "cost_usd": {"value": value, "at_least": totals.at_least},
    }
