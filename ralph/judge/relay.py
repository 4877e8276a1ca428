"""Several agents for one run (`-a claude,codex`): who is out, until when, and whose turn it is.

Only what the agent's provider or its program refuses puts one out: a usage limit, a program that cannot be started, a
third death in a row right after its start. A wrong login or flag is the user's to mend and stops the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ralph.facts.iteration import Iteration
from ralph.facts.outcome import Outcome
from ralph.judge.resets import probe, seconds_to
from ralph.judge.words import quote

NOT_UP = frozenset({Outcome.MISSING, Outcome.NOT_STARTED})
DEATHS = 3
SILENT = frozenset({Outcome.INTERRUPTED, Outcome.LIMIT})
"""Ended by us for reasons of the run: says nothing about the agent."""


@dataclass(frozen=True, slots=True)
class Out:
    """An agent that cannot work. back_at: aware, when to try it again. known: that is a reset its provider named.

    tries: times in a row that it was out. last: the iteration that told so.
    """

    back_at: datetime
    known: bool
    tries: int
    last: Iteration


@dataclass(frozen=True, slots=True)
class Handover:
    """The next iteration is another agent's. back_at: when the one relieved is tried again, None: it is not out."""

    agent: str
    relieved: str
    why: str
    back_at: datetime | None = None


class Relay:
    """Folds finished iterations. agents: in order of preference, those found at the start; one alone is never relieved.

    The rules decide at the end of the newest iteration (`at`), by what the record says; no clock is asked.
    """

    def __init__(self, agents: Sequence[str] = ()) -> None:
        self.agents = tuple(agents)
        self._newest: Iteration | None = None
        self._out: dict[str, Out] = {}
        self._deaths: dict[str, int] = {}

    def add(self, iteration: Iteration) -> None:
        """Take the next finished iteration."""
        name, outcome = iteration.agent, iteration.outcome
        self._newest = iteration
        if outcome in SILENT:
            return
        self._deaths[name] = self._deaths.get(name, 0) + 1 if outcome is Outcome.QUICK else 0
        if outcome is Outcome.QUOTA or outcome in NOT_UP or self._deaths[name] >= DEATHS:
            self._out[name] = self._put_out(iteration, _end(iteration))
        else:
            self._out.pop(name, None)

    @property
    def at(self) -> datetime | None:
        """Return the end of the newest iteration."""
        return None if self._newest is None else _end(self._newest)

    def resumed(self) -> None:
        """Forget who was out without a reset time: the user has looked at it."""
        self._out = {name: out for name, out in self._out.items() if out.known}
        self._deaths.clear()

    def is_out(self, name: str, now: datetime) -> bool:
        """Return whether an agent is not to be started now."""
        out = self._out.get(name)
        return out is not None and now < out.back_at

    def turn(self, now: datetime) -> str | None:
        """Return whose turn it is: the first that is not out, else the one that is back first; None without agents."""
        fit = next((name for name in self.agents if not self.is_out(name, now)), None)
        return fit or min(self.agents, key=lambda name: self._out[name].back_at, default=None)

    def stand_in(self, now: datetime | None = None) -> str | None:
        """Return who could work in place of the agent of the newest iteration, None where nobody can.

        now: the end of the newest iteration, unless given.
        """
        if self._newest is None or len(self.agents) < 2:
            return None
        moment, newest = now or _end(self._newest), self._newest.agent
        others = (name for name in self.agents if name != newest)
        return next((name for name in others if not self.is_out(name, moment)), None)

    def first_back(self) -> Out | None:
        """Return the agent that is back first of several that are all out, None where it is not so."""
        if len(self.agents) < 2 or not all(name in self._out for name in self.agents):
            return None
        return min((self._out[name] for name in self.agents), key=lambda out: out.back_at)

    def handover(self, current: str, *, now: datetime) -> Handover | None:
        """Return that another agent is to work next, None where the current one goes on."""
        name = self.turn(now)
        if name is None or name == current or current not in self.agents:
            return None
        out = self._out.get(current)
        if out is None or now >= out.back_at:
            return Handover(name, current, f"{name} is back")
        return Handover(name, current, _why(out), out.back_at)

    def _put_out(self, iteration: Iteration, at: datetime) -> Out:
        before = self._out.get(iteration.agent)
        tries = 1 if before is None else before.tries + 1
        wait_s = seconds_to(iteration.until, at) if iteration.outcome is Outcome.QUOTA else None
        if wait_s is None:
            return Out(at + timedelta(seconds=probe(tries)), False, tries, iteration)
        # The reset came and the limit is still there: ask again, later each time.
        again_s = probe(tries - 1) if tries > 1 else 0.0
        return Out(at + timedelta(seconds=max(wait_s, again_s)), wait_s >= again_s, tries, iteration)


def _end(iteration: Iteration) -> datetime:
    return iteration.started_at + timedelta(seconds=max(0.0, iteration.elapsed_s))


def _why(out: Out) -> str:
    last = out.last
    said = f": {quote(last.detail)}" if last.detail else ""
    words = {Outcome.QUOTA: "is out of quota", Outcome.QUICK: "died at once, time after time"}
    return f"{last.agent} {words.get(last.outcome, 'could not be started')}{said}"
