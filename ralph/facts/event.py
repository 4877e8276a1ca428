"""What an agent tells while it works, in words common to all agents. Adapters make these, judges fold them.

All text is hostile data: capped by the adapter, sanitised by whoever shows it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from ralph.facts.usage import Tokens

MAIN = ""
"""Stream name of the main agent; a sub-agent's events carry an id of their own."""


@dataclass(frozen=True, slots=True)
class Started:
    """The agent is up; None where it does not say."""

    session: str | None = None
    model: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """Text the model wrote for people (not thinking). turn: id of the model response it belongs to."""

    text: str
    turn: str = ""
    stream: str = MAIN


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """The model called a tool. id pairs it with its return; args: canonical JSON text, None if not told."""

    id: str
    name: str
    args: str | None
    turn: str = ""
    stream: str = MAIN


class Known(Enum):
    """Whether a tool's result is there in full."""

    KNOWN = "known"
    TRUNCATED = "truncated"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ToolReturned:
    """A tool gave its result. failed: None where the agent does not say. denied: refused, it never ran."""

    id: str
    result: str
    known: Known = Known.KNOWN
    failed: bool | None = None
    denied: bool = False
    stream: str = MAIN


class Scope(Enum):
    """What a usage figure covers."""

    CALL = "call"
    """One model call; figures of different keys add up, the same key replaces itself upward."""
    RUN = "run"
    """This whole run of the agent; a later figure replaces an earlier one upward."""
    SESSION = "session"
    """Cumulative over a resumed session: only differences count."""


@dataclass(frozen=True, slots=True)
class UsageSeen:
    """Tokens or money the agent reported. micro: micro-dollars, None where it gives none."""

    scope: Scope
    key: str = ""
    tokens: Tokens | None = None
    micro: int | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Retrying:
    """The agent announces that it waits and tries again by itself. Not final. delay_s: None if not told."""

    text: str = ""
    delay_s: float | None = None


class Trouble(Enum):
    """What kind of refusal from outside stopped the agent."""

    QUOTA = "quota"
    OUTAGE = "outage"
    AUTH = "auth"
    MISCONFIGURED = "misconfigured"
    CONTEXT = "context"


@dataclass(frozen=True, slots=True)
class Troubled:
    """The agent reports a limit, an outage or a set-up fault. until: when it lifts, None if not told.

    final: the agent gave up on it (a warning or a retry notice is not final).
    """

    kind: Trouble
    text: str = ""
    until: datetime | None = None
    final: bool = True


class Finish(Enum):
    """How the agent's own terminal event says that it ended."""

    OK = "ok"
    FAILED = "failed"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    OWN_LIMIT = "own-limit"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Finished:
    """The terminal event. answer: the final message, None where the format has none. turns: model turns, if told."""

    how: Finish
    answer: str | None = None
    text: str = ""
    turns: int | None = None


@dataclass(frozen=True, slots=True)
class Compacted:
    """The agent's memory of this stream was compacted: it will read again what it knew, and that is no loop."""

    stream: str = MAIN


Event = Started | Said | ToolCalled | ToolReturned | UsageSeen | Retrying | Troubled | Finished | Compacted
