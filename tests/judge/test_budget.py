"""Money: what is held, what is charged, when a running agent is cut. A lie can only make it dearer (D8, B6)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.facts.ending import Cut, Why
from ralph.facts.event import Finish, Finished
from ralph.facts.iteration import Spent
from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Stop, Totals
from ralph.facts.settings import Limits, Settings
from ralph.facts.usage import Charge, Price, Source, Tokens
from ralph.judge.budget import Hold, charged, hold, live_cut, live_micro, overshoot, settle
from ralph.judge.stream import StreamFacts
from tests.builders import NOON, history

ONE = 1_000_000


def limits(**fields: object) -> Settings:
    return Settings(limits=replace(Limits(), **fields))  # type: ignore[arg-type]  # replace checks the names


def spent(micro: int | None, source: Source = Source.REPORTED) -> Spent:
    return Spent(Charge(micro, source))


@pytest.mark.parametrize(
    ("words", "settings", "each", "expected"),
    [
        pytest.param("A", limits(), 0, Hold(), id="no cap, no hold"),
        pytest.param("A", limits(cost_per_iteration=7), 0, Hold(None, 7), id="no cap, a figure"),
        pytest.param("A", limits(cost=10), 0, Hold(3), id="first: a quarter, rounded up"),
        pytest.param("A", limits(cost=10, cost_per_iteration=4), 0, Hold(4, 4), id="first, with a figure"),
        pytest.param("A", limits(cost=3, cost_per_iteration=4), 0, Hold(3, 4), id="never more than is left"),
        pytest.param("A B", limits(cost=10), 4, Hold(4), id="the dearest so far"),
        pytest.param("A B C", limits(cost=10), 4, Hold(2), id="the dearest, or what is left"),
        pytest.param("A B", limits(cost=10, cost_per_iteration=5), 4, Hold(5, 5), id="the larger of the two"),
        pytest.param("A B", limits(cost=10), 0, Hold(3), id="free so far says nothing"),
        pytest.param("A B", limits(cost=4), 4, Stop(Reason.COST_LIMIT, "spent $0.000004 of $0.000004"), id="spent"),
    ],
)
def test_the_hold_is_what_the_next_may_cost(words: str, settings: Settings, each: int, expected: Hold | Stop) -> None:
    assert hold(history(words, settings, spent=spent(each)), settings) == expected


@pytest.mark.parametrize(
    ("reported", "priced", "live", "held", "capped", "expected"),
    [
        pytest.param(5, None, None, Hold(9), True, Charge(5, Source.REPORTED), id="reported"),
        pytest.param(None, 6, None, Hold(9), True, Charge(6, Source.PRICED), id="priced"),
        pytest.param(5, 6, 7, Hold(9), True, Charge(7, Source.SEEN_LIVE), id="the largest"),
        pytest.param(0, None, 7, Hold(9), True, Charge(7, Source.SEEN_LIVE), id="B6 a forged zero"),
        pytest.param(-5, None, 7, Hold(9), True, Charge(7, Source.SEEN_LIVE), id="B6 a forged negative"),
        pytest.param(None, None, 7, Hold(9), True, Charge(9, Source.HOLD), id="D8 killed: the hold"),
        pytest.param(None, None, 12, Hold(9), True, Charge(12, Source.SEEN_LIVE), id="D8 killed: what was seen"),
        pytest.param(None, None, 7, Hold(), False, Charge(7, Source.SEEN_LIVE), id="R071 no cap: what was seen"),
        pytest.param(None, None, None, Hold(), False, Charge(None, Source.UNKNOWN), id="unknown is not 0"),
        pytest.param(None, None, None, Hold(), True, Charge(None, Source.UNKNOWN), id="nothing held"),
        pytest.param(None, None, None, Hold(None, 3), False, Charge(3, Source.HOLD), id="the figure given"),
        pytest.param(None, None, None, Hold(2, 3), True, Charge(3, Source.HOLD), id="the figure, though less is left"),
    ],
)
def test_a_charge_is_the_largest_figure_there_is(
    reported: int | None, priced: int | None, live: int | None, held: Hold, capped: bool, expected: Charge
) -> None:
    assert settle(reported, priced, live, held, started=True, capped=capped) == expected


def test_what_never_started_is_free() -> None:
    """A16: not even the hold."""
    assert settle(None, None, None, Hold(9), started=False, capped=True) == Charge(0, Source.FREE)


def test_results_that_contradict_each_other_charge_the_hold() -> None:
    """D8, B6; without a cap R016 keeps the higher figure."""
    twice = {"started": True, "conflicting": True}
    assert settle(5, None, None, Hold(9), capped=True, **twice) == Charge(9, Source.HOLD)
    assert settle(5, None, None, Hold(9), capped=False, **twice) == Charge(5, Source.REPORTED)


DONE = StreamFacts(micro=5, tokens=Tokens(1, 1), finish=Finished(Finish.OK))


@pytest.mark.parametrize(
    ("told", "price", "capped", "expected"),
    [
        pytest.param(DONE, None, True, Charge(5, Source.REPORTED), id="a result"),
        pytest.param(DONE, Price(2 * ONE, 10 * ONE), True, Charge(12, Source.PRICED), id="dearer by its tokens"),
        pytest.param(replace(DONE, finish=None), None, True, Charge(9, Source.HOLD), id="D8 no result, a cap"),
        pytest.param(replace(DONE, finish=None), None, False, Charge(5, Source.SEEN_LIVE), id="R071 no result"),
        pytest.param(replace(DONE, conflicting=True), None, True, Charge(9, Source.HOLD), id="B6 two results"),
        pytest.param(StreamFacts(), None, False, Charge(None, Source.UNKNOWN), id="nothing told"),
    ],
)
def test_a_stream_is_final_only_with_its_terminal_event(
    told: StreamFacts, price: Price | None, capped: bool, expected: Charge
) -> None:
    assert charged(told, price, Hold(9 if capped else None), started=True, capped=capped) == expected


MONEY = st.none() | st.integers(-(10**12), 10**12)


@given(MONEY, MONEY, MONEY, st.integers(0, 10**9), st.booleans(), st.booleans())
def test_no_lie_lowers_a_charge(
    reported: int | None, priced: int | None, live: int | None, held: int, capped: bool, conflicting: bool
) -> None:
    charge = settle(reported, priced, live, Hold(held), started=True, capped=capped, conflicting=conflicting)
    assert (charge.micro or 0) >= max(0, live or 0)
    assert charge.micro is None or charge.micro >= 0
    forged = settle(0, priced, live, Hold(held), started=True, capped=capped, conflicting=True)
    assert not capped or (forged.micro or 0) >= held


PRICE = Price(input=2 * ONE, output=10 * ONE)


def test_live_money_is_the_larger_of_what_is_said_and_what_tokens_cost() -> None:
    assert live_micro(Tokens(1, 1), 5, PRICE) == 12
    assert live_micro(Tokens(1, 1), 50, PRICE) == 50
    assert live_micro(Tokens(1, 1), None, None) is None


@pytest.mark.parametrize(
    ("tokens", "micro", "turns", "settings", "why"),
    [
        (None, 59, 0, limits(cost=100), None),
        (None, 60, 0, limits(cost=100), Why.COST),
        (Tokens(0, 6), None, 0, limits(cost=100), Why.COST),
        (Tokens(9), None, 0, limits(tokens=20), None),
        (Tokens(10), None, 0, limits(tokens=20), Why.TOKENS),
        (Tokens(cache_read=99), None, 0, limits(tokens=20), None),
        (None, None, 5, limits(turns=5), None),
        (None, None, 6, limits(turns=5), Why.TURNS),
        (Tokens(10**9), 10**9, 10**9, limits(turns=None), None),
    ],
)
def test_a_running_agent_is_cut_at_the_limit(
    tokens: Tokens | None, micro: int | None, turns: int, settings: Settings, why: Why | None
) -> None:
    before = Totals(tokens=10, cost_micro=40)
    cut = live_cut(tokens, micro, turns, price=PRICE, limits=settings.limits, spent=before)
    assert (cut.why if cut else None) is why


def test_the_cut_says_by_how_much() -> None:
    cut = live_cut(None, 3 * ONE, 0, price=None, limits=limits(cost=2 * ONE).limits, spent=Totals())
    assert cut == Cut(Why.COST, "cost limit: $3.00 of $2.00")


def test_overshoot_is_shown() -> None:
    """R075."""
    rules = limits(cost=3_500_000, tokens=10)
    over = Totals(tokens=12, cost_micro=4 * ONE, at_least=True)
    assert overshoot(over, rules, Moment(9.0, -30.0)) == (
        "cost: at least $0.50 over $3.50; tokens: 2 over 10; time: 30 s over the deadline"
    )
    assert overshoot(Totals(), rules, NOON) == ""
    assert overshoot(over, limits(), Moment(9.0)) == ""


@given(st.lists(st.integers(0, 4 * ONE), min_size=1, max_size=30), st.integers(1, 20 * ONE))
def test_no_iteration_starts_past_the_cap(costs: list[int], cap: int) -> None:
    settings = limits(cost=cap)
    past, total = history("A"), 0
    for number, cost in enumerate(costs, 1):
        asked = hold(past, settings)
        assert isinstance(asked, Stop) is (total >= cap)
        if isinstance(asked, Stop):
            return
        assert asked.micro is not None
        assert 0 < asked.micro <= cap - total
        for one in history("A B", spent=spent(cost)).iterations:
            past.add(replace(one, number=number))
        total += cost
