"""What is known of an agent at work: limits bind in the middle of an iteration, storms are no work and no hang."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest

from ralph.agents import ADAPTERS, adapter
from ralph.agents.adapter import ReadsRecord
from ralph.facts.ending import Cut, Ended, Signalled, Why
from ralph.facts.event import Event, UsageSeen
from ralph.facts.outcome import Outcome
from ralph.facts.run import Totals
from ralph.facts.settings import Limits
from ralph.facts.usage import Price
from ralph.judge.budget import live_cut
from ralph.judge.outcome import classify
from ralph.judge.stream import StreamFold
from tests.agents.captures import FOLDERS, Capture, captures

RECORDED = sorted(set(FOLDERS.values()))
LIVE = [name for name in RECORDED if ADAPTERS[name].abilities.reports_tokens == "live"]
IN_STREAM = [name for name in LIVE if not isinstance(ADAPTERS[name].reader(), ReadsRecord)]
"""Those that tell in their output; the others' figures come from a file that grows beside it."""
DEAR = Price(input=1_000_000.0, output=1_000_000.0)
"""A dollar a token, so that cents are a limit."""


def by_line(capture: Capture) -> Iterator[tuple[int, tuple[Event, ...]]]:
    """Yield (number, events) of each line of output that means something, then of the end of it all."""
    reader = adapter(capture.agent).reader()
    for line in capture.err.split(b"\n"):
        reader.line("err", line)
    lines = capture.out.split(b"\n")
    for number, line in enumerate(lines):
        if events := reader.line("out", line):
            yield number, events
    yield len(lines), reader.end()


def of(agent: str) -> list[Capture]:
    return [one for one in captures() if one.agent == agent]


def usage_lines(capture: Capture) -> list[int]:
    """Return the numbers of the lines that told tokens."""
    return [
        n
        for n, events in by_line(capture)
        for e in events
        if isinstance(e, UsageSeen) and e.tokens and e.tokens.counted
    ]


def told_early(capture: Capture) -> bool:
    """Return whether tokens were known while the agent still went on: a later model call told of its own."""
    return len(set(usage_lines(capture))) > 1


@pytest.mark.parametrize("name", RECORDED)
def test_what_an_adapter_says_of_its_tokens_is_true(name: str) -> None:
    """live: known call by call; end: once, with the result; never: not at all."""
    early, ever = told_early(busiest(name)), any(map(usage_lines, of(name)))
    claimed = ADAPTERS[name].abilities.reports_tokens
    if name in LIVE and name not in IN_STREAM:
        assert claimed == "live"
        assert not early
        return
    files = any(one.files for one in of(name))  # figures that stand in a file the agent leaves
    assert claimed == ("live" if early else "end" if ever or files or claimed == "end" else "never")


@pytest.mark.parametrize("name", RECORDED)
def test_no_dollars_come_that_are_not_claimed(name: str) -> None:
    events = [e for one in of(name) for _, found in by_line(one) for e in found]
    assert ADAPTERS[name].abilities.reports_cost or not any(isinstance(e, UsageSeen) and e.micro for e in events)


def worked(capture: Capture, limits: Limits, *, price: Price | None = None) -> tuple[Cut | None, int, StreamFold]:
    """Let a recorded agent work under limits; return the cut, how many lines had come, and the fold."""
    fold = StreamFold()
    for number, events in by_line(capture):
        for event in events:
            fold.see(event)
        facts = fold.facts()
        cut = live_cut(facts.tokens, facts.micro, facts.turns, price=price, limits=limits, spent=Totals())
        if cut is not None:
            return cut, number, fold
    return None, capture.out.count(b"\n") + 1, fold


def busiest(name: str) -> Capture:
    """Return the capture of an agent with the most model calls that told tokens.

    aider was recorded with one call each; it prints the same line after every call, so two of them are one after the
    other.
    """
    found = max(of(name), key=lambda one: len(set(usage_lines(one))))
    return replace(found, out=found.out + found.out) if name == "aider" else found


@pytest.mark.parametrize("name", IN_STREAM)
def test_a_token_limit_binds_within_one_model_call(name: str) -> None:
    capture = busiest(name)
    first, *more = usage_lines(capture)
    assert more, "more than one call, so that the first can be the last"
    cut, number, _ = worked(capture, Limits(tokens=1))
    assert cut is not None
    assert (cut.why, number) == (Why.TOKENS, first)
    assert number < capture.out.count(b"\n")


@pytest.mark.parametrize("name", IN_STREAM)
def test_a_cost_limit_binds_within_one_model_call(name: str) -> None:
    """By the dollars it tells, or by the price of its tokens where it tells none."""
    capture = busiest(name)
    cut, number, _ = worked(capture, Limits(cost=1), price=DEAR)
    assert cut is not None
    assert (cut.why, number) == (Why.COST, usage_lines(capture)[0])


TURNING = [name for name in RECORDED if ADAPTERS[name].abilities.reports_turns]


@pytest.mark.parametrize("name", TURNING)
def test_a_limit_of_turns_binds_while_it_works(name: str) -> None:
    capture = max(of(name), key=lambda one: worked(one, Limits())[2].turns)
    turns = worked(capture, Limits())[2].turns
    assert turns > 1
    cut, number, _ = worked(capture, Limits(turns=1))
    assert cut is not None
    assert cut.why is Why.TURNS
    assert number <= capture.out.count(b"\n")


# ── storms: an agent that retries or compacts by itself, without end ─────────────────────────────────────────────────


def named(name: str) -> Capture:
    return next(one for one in captures() if one.name == name)


def storm(requests: int) -> Capture:
    """Return opencode's compaction storm as long as it was measured: 643 requests, every id and word as it comes."""
    lines = named("opencode-1.18.33/error400").out.splitlines()
    cycle = [line for line in lines if line.strip()][:5]
    found = []
    for number in range(requests):
        for line in cycle:
            data = json.loads(line)
            part = data.get("part", {})
            data["part"] = {**part, **{k: f"{part[k]}.{number}" for k in ("id", "messageID") if k in part}}
            found.append(json.dumps(data).encode())
    return replace(named("opencode-1.18.33/error400"), out=b"\n".join(found))


STORM = storm(643)


def ruled(fold: StreamFold, cut: Cut | None) -> Outcome:
    ended = Ended(Signalled(15), cut, elapsed_s=120.0, bytes_out=100_000)
    return classify(ended, fold.facts(), new_state=False).outcome


def test_a_compaction_storm_is_ended_by_the_limit_of_turns() -> None:
    """opencode compacted and retried 643 times in 120 s."""
    cut, number, fold = worked(STORM, Limits(turns=50))
    assert cut is not None
    assert cut.why is Why.TURNS
    assert number < 5 * 60
    assert ruled(fold, cut) in (Outcome.OWN_LIMIT, Outcome.FAILED)


def test_a_compaction_storm_is_ended_by_the_budget() -> None:
    for limits, why in ((Limits(tokens=20_000), Why.TOKENS), (Limits(cost=20_000), Why.COST)):
        cut, number, fold = worked(STORM, limits)
        assert cut is not None
        assert cut.why is why
        assert number < 5 * 30, "within a call of the limit, not at the end of the storm"
        assert fold.facts().tokens is not None


def test_the_default_limits_end_a_storm_that_goes_on() -> None:
    cut, _, _ = worked(storm(1200), Limits())
    assert cut is not None
    assert cut.why is Why.TURNS


def test_a_compaction_storm_is_not_mistaken_for_work() -> None:
    """No result of a tool, so nothing was read: it is no research that would keep a stretch from growing."""
    cut, _, fold = worked(STORM, Limits(turns=50))
    facts = fold.facts()
    assert (facts.new_results, facts.tools) == (0, 0)
    assert facts.warnings > 20
    assert ruled(fold, cut) is not Outcome.COMPLETED
    assert ruled(fold, None) is not Outcome.COMPLETED  # nor when it stops by itself


def test_a_compaction_storm_is_not_mistaken_for_a_hang() -> None:
    """Between its requests it announces that it goes on: silence is excused, and no outcome says it hung."""
    fold, excused = StreamFold(), 0
    for _, events in by_line(STORM):
        for event in events:
            fold.see(event)
        excused += fold.excused()
    assert excused >= 600
    assert ruled(fold, None) not in (Outcome.IDLE, Outcome.TIMED_OUT, Outcome.QUICK)


ANNOUNCED = ("qwen-code-0.24.4/error429", "mini-swe-agent-2.4.6/error429", "copilot-cli-1.0.102/error429")


@pytest.mark.parametrize("name", ANNOUNCED)
def test_waiting_out_a_limit_is_neither_work_nor_a_hang(name: str) -> None:
    """qwen sleeps 60 s, 120 s … up to ten times, mini longer than 75 s: told as retries, and nothing else."""
    capture = named(name)
    fold, excused = StreamFold(), False
    reader = adapter(capture.agent).reader()
    for stream, data in (("err", capture.err), ("out", capture.out)):
        for line in data.split(b"\n"):
            for event in reader.line(stream, line):  # type: ignore[arg-type]  # one of the two words
                fold.see(event)
                excused = excused or fold.excused()
    facts = fold.facts()
    assert excused
    assert (facts.new_results, facts.tools, facts.turns) == (0, 0, 0)


def test_every_way_to_end_a_storm_is_a_way_the_user_can_see() -> None:
    cuts: Iterable[Cut | None] = (worked(STORM, Limits(turns=9))[0], worked(STORM, Limits(tokens=9))[0])
    assert [cut.detail for cut in cuts if cut] == [
        "more than 9 model turns in one iteration",
        "token limit: 1,020 of 9",
    ]
