"""What an agent says it has used, folded so that a later figure can only raise the sum."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from ralph.facts.event import Scope, UsageSeen
from ralph.facts.usage import Tokens

CALLS_OPEN = 64
"""Model calls whose figures may still be replaced; older ones are final."""
SESSIONS_KEPT = 256


@dataclass(frozen=True, slots=True)
class Used:
    """Tokens and micro-dollars; None where nobody told."""

    tokens: Tokens | None = None
    micro: int | None = None

    def __add__(self, other: Used) -> Used:
        return Used(_sum(self.tokens, other.tokens), _plus(self.micro, other.micro))


def larger(one: Used, other: Used) -> Used:
    """Return the larger of each figure; estimates of the same thing are never added up."""
    return Used(_larger_tokens(one.tokens, other.tokens), _larger(one.micro, other.micro))


def since(now: Used, before: Used) -> Used:
    """Return what came on top; a series that fell has begun anew and counts in full."""
    return Used(_tokens_since(now.tokens, before.tokens), _since(now.micro, before.micro))


@dataclass(slots=True)
class SessionMarks:
    """The last cumulative figure of each resumed session, kept over the iterations of a run; oldest forgotten."""

    marks: OrderedDict[str, Used] = field(default_factory=OrderedDict)

    def mark(self, key: str, used: Used) -> None:
        """Remember how far a session has come."""
        self.marks[key] = used
        self.marks.move_to_end(key)
        if len(self.marks) > SESSIONS_KEPT:
            self.marks.popitem(last=False)


class UsageFold:
    """Folds `UsageSeen`: figures of calls add up, of the run replace each other upward, of a session count from
    where the session stood when this iteration began. What is used is the largest of the three.
    """

    def __init__(self, sessions: SessionMarks) -> None:
        self._sessions = sessions
        self._closed = Used()
        self._open: OrderedDict[str, Used] = OrderedDict()
        self._run = Used()
        self._starts: dict[str, Used] = {}
        self._tops: dict[str, Used] = {}
        self._used: Used | None = Used()

    def add(self, seen: UsageSeen) -> None:
        """Take one figure; negative ones are no figures."""
        used = Used(seen.tokens, seen.micro if seen.micro is None or seen.micro >= 0 else None)
        self._used = None
        match seen.scope:
            case Scope.CALL:
                self._call(seen.key, used)
            case Scope.RUN:
                self._run = larger(self._run, used)
            case Scope.SESSION:
                self._session(seen.key, used)

    @property
    def used(self) -> Used:
        """Return what this iteration has used so far."""
        if self._used is None:
            self._used = self._sum()
        return self._used

    def _sum(self) -> Used:
        calls = self._closed + sum(self._open.values(), Used())
        session = sum((since(top, self._starts[key]) for key, top in self._tops.items()), Used())
        return larger(larger(calls, self._run), session)

    def _call(self, key: str, used: Used) -> None:
        self._open[key] = larger(self._open.get(key, Used()), used)
        self._open.move_to_end(key)
        if len(self._open) > CALLS_OPEN:
            self._closed += self._open.popitem(last=False)[1]

    def _session(self, key: str, used: Used) -> None:
        if key not in self._starts:
            if len(self._starts) >= SESSIONS_KEPT:
                return
            # A session without a name cannot have been resumed: all of its figure is this iteration's.
            self._starts[key] = self._sessions.marks.get(key, Used()) if key else Used()
        self._tops[key] = larger(self._tops.get(key, Used()), used)
        self._sessions.mark(key, self._tops[key])


def _sum(one: Tokens | None, other: Tokens | None) -> Tokens | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other


def _plus(one: int | None, other: int | None) -> int | None:
    return None if one is None and other is None else (one or 0) + (other or 0)


def _larger(one: int | None, other: int | None) -> int | None:
    return None if one is None and other is None else max(one or 0, other or 0)


def _larger_tokens(one: Tokens | None, other: Tokens | None) -> Tokens | None:
    if one is None or other is None:
        return other if one is None else one
    return Tokens(
        max(one.input, other.input),
        max(one.output, other.output),
        max(one.cache_read, other.cache_read),
        max(one.cache_write, other.cache_write),
    )


def _since(now: int | None, before: int | None) -> int | None:
    if now is None or before is None or now < before:
        return now
    return now - before


def _tokens_since(now: Tokens | None, before: Tokens | None) -> Tokens | None:
    if now is None or before is None or now.counted < before.counted:
        return now
    return Tokens(
        max(0, now.input - before.input),
        max(0, now.output - before.output),
        max(0, now.cache_read - before.cache_read),
        max(0, now.cache_write - before.cache_write),
    )
