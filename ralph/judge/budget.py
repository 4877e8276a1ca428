"""Money, tokens and turns: what may still be spent, what was spent, and when to cut a running agent (design 3.5).

Integer micro-dollars throughout. A forged or missing figure can raise a charge, never lower it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ralph.facts.ending import Cut, Why
from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Stop, Totals
from ralph.facts.settings import Limits, Settings
from ralph.facts.usage import Charge, Price, Source, Tokens
from ralph.judge.history import History
from ralph.judge.stream import StreamFacts
from ralph.judge.words import dollars, lasting

FIRST_SHARE = 4
"""The first iteration, of which nothing is known, holds a quarter of the cap."""


@dataclass(frozen=True, slots=True)
class Hold:
    """Money set aside before an iteration starts. micro: None without a cap. assumed: `limits.cost_per_iteration`."""

    micro: int | None = None
    assumed: int | None = None

    @property
    def blind_charge(self) -> int | None:
        """Return what an iteration costs of which nothing is told, None where nobody gave a figure."""
        if self.micro is None and self.assumed is None:
            return None
        return max(self.micro or 0, self.assumed or 0)


def hold(history: History, settings: Settings) -> Hold | Stop:
    """Return what to set aside for the next iteration: min(left, max(assumed, dearest so far)).

    Without either figure a quarter of the cap. A `Stop` where nothing is left: no work starts past a limit.
    """
    cap, assumed = settings.limits.cost, settings.limits.cost_per_iteration
    if cap is None:
        return Hold(None, assumed)
    spent = history.totals.cost_micro or 0
    left = cap - spent
    if left <= 0:
        return Stop(Reason.COST_LIMIT, f"spent {dollars(spent)} of {dollars(cap)}")
    known = max(assumed or 0, history.dearest or 0)
    return Hold(min(left, known or -(-cap // FIRST_SHARE)), assumed)


def settle(
    reported: int | None,
    priced: int | None,
    seen_live: int | None,
    held: Hold,
    *,
    started: bool,
    capped: bool,
    conflicting: bool = False,
) -> Charge:
    """Return what an iteration is charged: the largest figure there is.

    reported: dollars of the final result. priced: tokens of the final result times the price. seen_live: the highest
    sum while it ran. With a cap (or an assumed cost), no result or two that contradict each other charge the hold as
    well. UNKNOWN without any figure. started False: nothing can have been spent.
    """
    if not started:
        return Charge(0, Source.FREE)
    figures = [
        (micro, source)
        for micro, source in (
            (reported, Source.REPORTED),
            (priced, Source.PRICED),
            (seen_live, Source.SEEN_LIVE),
            (_blind(reported, priced, held, capped=capped, conflicting=conflicting), Source.HOLD),
        )
        if micro is not None and micro >= 0
    ]
    if not figures:
        return Charge(None, Source.UNKNOWN)
    return Charge(*max(figures, key=lambda figure: figure[0]))


def charged(stream: StreamFacts, price: Price | None, held: Hold, *, started: bool, capped: bool) -> Charge:
    """Return what an agent run is charged by what its stream told; its figures are final only with a terminal event.

    Without one (killed, cut off, odd) what it told so far is a lower bound: "seen live".
    """
    priced = price.of(stream.tokens) if price is not None and stream.tokens is not None else None
    if stream.finish is None:
        live = live_micro(stream.tokens, stream.micro, price)
        return settle(None, None, live, held, started=started, capped=capped)
    return settle(stream.micro, priced, None, held, started=started, capped=capped, conflicting=stream.conflicting)


def _blind(reported: int | None, priced: int | None, held: Hold, *, capped: bool, conflicting: bool) -> int | None:
    if reported is None and priced is None:
        return held.blind_charge if capped else held.assumed
    return held.blind_charge if capped and conflicting else None


def live_micro(tokens: Tokens | None, micro: int | None, price: Price | None) -> int | None:
    """Return the money an agent has used so far: the larger of what it says and what its tokens cost."""
    priced = price.of(tokens) if price is not None and tokens is not None else None
    figures = [figure for figure in (micro, priced) if figure is not None]
    return max(figures) if figures else None


def live_cut(
    tokens: Tokens | None, micro: int | None, turns: int, *, price: Price | None, limits: Limits, spent: Totals
) -> Cut | None:
    """Return why a running agent must be ended now, within one model call of the limit; None: let it work.

    tokens, micro, turns: of this iteration so far (`StreamFold.used`, `.turns`). spent: the run before it.
    """
    live = live_micro(tokens, micro, price)
    if limits.cost is not None and live is not None:
        total = (spent.cost_micro or 0) + live
        if total >= limits.cost:
            return Cut(Why.COST, f"cost limit: {dollars(total)} of {dollars(limits.cost)}")
    if limits.tokens is not None and tokens is not None:
        used = (spent.tokens or 0) + tokens.counted
        if used >= limits.tokens:
            return Cut(Why.TOKENS, f"token limit: {used:,} of {limits.tokens:,}")
    if limits.turns is not None and turns > limits.turns:
        return Cut(Why.TURNS, f"more than {limits.turns} model turns in one iteration")
    return None


def overshoot(totals: Totals, settings: Settings, moment: Moment) -> str:
    """Return by how much each limit was passed, "" if none was; a part unknown is said."""
    limits, parts = settings.limits, []
    least = "at least " if totals.at_least else ""
    if limits.cost is not None and (totals.cost_micro or 0) > limits.cost:
        over = (totals.cost_micro or 0) - limits.cost
        parts.append(f"cost: {least}{dollars(over)} over {dollars(limits.cost)}")
    if limits.tokens is not None and (totals.tokens or 0) > limits.tokens:
        parts.append(f"tokens: {(totals.tokens or 0) - limits.tokens:,} over {limits.tokens:,}")
    if moment.left_s is not None and moment.left_s < -1:
        parts.append(f"time: {lasting(-moment.left_s)} over the deadline")
    return "; ".join(parts)
