"""How long to wait before the next start: growing, bounded, and never past the deadline of the run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ralph.facts.iteration import Iteration
from ralph.facts.outcome import Outcome
from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Pause, Stop
from ralph.facts.settings import Settings
from ralph.judge.history import History
from ralph.judge.relay import Out
from ralph.judge.resets import MINUTE, PROBES, probe, seconds_to
from ralph.judge.words import lasting, quote

MARGIN_S = 2 * MINUTE
SPREAD = 0.25

UNLUCKY = frozenset(
    {Outcome.QUICK, Outcome.FAILED, Outcome.REFUSED, Outcome.MISSING, Outcome.NOT_STARTED, Outcome.POISONED}
)


@dataclass(frozen=True, slots=True)
class Now:
    """What the clocks say. wall: aware UTC, only to read a reset time against. jitter: 0 to 1, from outside."""

    wall: datetime
    jitter: float
    left_s: float | None


def pause_before(
    history: History, settings: Settings, moment: Moment, *, now: datetime, jitter: float = 0.5
) -> Pause | Stop | None:
    """Return the wait before the next iteration, the end of the run where it would be too long, None to go on.

    now: aware UTC. jitter: any number from 0 to 1. To be asked after `decide` has found no reason to stop.
    """
    newest, clocks = history.newest, Now(now, jitter, moment.left_s)
    if newest is None:
        return None
    if history.relay.is_out(newest.agent, now) and history.relay.stand_in(now) is not None:
        return None
    all_out = history.relay.first_back()
    if all_out is not None:
        return _all_out(all_out, clocks)
    if newest.outcome is Outcome.QUOTA:
        return _quota(history, newest, clocks)
    if newest.outcome is Outcome.OUTAGE:
        return _outage(history, newest, settings, clocks)
    if newest.outcome in UNLUCKY and (history.step is None or history.step.known):
        return _failures(history, settings, clocks)
    return None


def _quota(history: History, newest: Iteration, now: Now) -> Pause | Stop | None:
    row = history.tail(frozenset({Outcome.QUOTA}))
    tries = len(row)
    wait_s = seconds_to(newest.until, now.wall)
    if wait_s is None:
        if tries > len(PROBES):
            return _quota_stop(newest, f"was still limited after {tries} tries, and no reset time is known")
        return _probe(newest, probe(tries), now)
    if tries > 1 + len(PROBES):
        return _quota_stop(newest, f"was still limited after {tries} tries")
    # The reset came and the limit is still there: ask again, later each time.
    again_s = probe(tries - 1) if tries > 1 else 0.0
    if wait_s <= 0 and not again_s:
        return None
    if wait_s < again_s:
        return _probe(newest, again_s, now)
    if now.left_s is not None and wait_s >= now.left_s:
        return _quota_stop(newest, "and the reset lies past the deadline")
    seconds = _padded(wait_s, now)
    return Pause(seconds, f"usage limit: waiting {lasting(seconds)} for its reset", newest.until)


def _padded(wait_s: float, now: Now) -> float:
    """Return a wait with a margin, which the deadline may cut."""
    padded = wait_s + min(MARGIN_S, 1 + 0.01 * wait_s * (1 + _unit(now.jitter)))
    return padded if now.left_s is None else min(padded, max(wait_s, now.left_s - 1))


def _all_out(out: Out, now: Now) -> Pause | Stop | None:
    """Return the wait for the agent that is back first, where none of several can work."""
    wait_s = (out.back_at - now.wall).total_seconds()
    last, numbers = out.last, (out.last.number,)
    if out.tries > 1 + len(PROBES):
        return Stop(_reason(last), f"no agent can work; {last.agent} was out {out.tries} times in a row", numbers)
    if wait_s <= 0:
        return None
    if now.left_s is not None and wait_s >= now.left_s:
        when = f"{last.agent} is back in {lasting(wait_s)}, past the deadline"
        return Stop(_reason(last), f"no agent can work: the first, {when}", numbers)
    seconds = _padded(wait_s, now)
    return Pause(seconds, f"no agent can work: waiting {lasting(seconds)} for {last.agent}", out.back_at)


def _reason(last: Iteration) -> Reason:
    return Reason.AGENT_QUOTA if last.outcome is Outcome.QUOTA else Reason.AGENT_FAILING


def _probe(newest: Iteration, pause_s: float, now: Now) -> Pause | Stop:
    if now.left_s is not None and pause_s >= now.left_s:
        return _quota_stop(newest, f"and the next try in {lasting(pause_s)} lies past the deadline")
    return Pause(pause_s, f"usage limit: trying again in {lasting(pause_s)}")


def _quota_stop(newest: Iteration, why: str) -> Stop:
    reset = f" (resets at {newest.until.isoformat()})" if newest.until else ""
    said = f": {quote(newest.detail)}" if newest.detail else ""
    return Stop(
        Reason.AGENT_QUOTA,
        f"iteration {newest.number} hit a usage limit{reset} {why}{said}",
        iterations=(newest.number,),
    )


def _outage(history: History, newest: Iteration, settings: Settings, now: Now) -> Pause | Stop | None:
    tries = len(history.tail(frozenset({Outcome.OUTAGE})))
    base = _nth(settings.limits.backoff, tries)
    seconds = max(base * (1 - SPREAD + 2 * SPREAD * _unit(now.jitter)), seconds_to(newest.until, now.wall) or 0.0)
    if now.left_s is not None and seconds >= now.left_s:
        why = f"the outage of iteration {newest.number} outlasts the run: the next try in {lasting(seconds)}"
        return Stop(Reason.TIME_LIMIT, f"{why} lies past the deadline", iterations=(newest.number,))
    return Pause(seconds, f"outage: trying again in {lasting(seconds)}", newest.until) if seconds > 0 else None


def _failures(history: History, settings: Settings, now: Now) -> Pause | None:
    tries = len(history.tail(UNLUCKY, no_news=True))
    seconds = _nth(settings.limits.quick_failure_pauses, tries)
    if now.left_s is not None:
        seconds = min(seconds, max(0.0, now.left_s))
    return Pause(seconds, f"failure {tries} in a row: trying again in {lasting(seconds)}") if seconds > 0 else None


def _nth(pauses: tuple[float, ...], n: int) -> float:
    """Return the n-th pause (from 1), the last one for ever after, 0 without any."""
    return pauses[min(n, len(pauses)) - 1] if pauses else 0.0


def _unit(jitter: float) -> float:
    return min(1.0, max(0.0, jitter))
