"""What an agent adapter is: pure argv and pure parsing. One file an agent, one row in `agents.ADAPTERS`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from ralph.facts.event import Event, Trouble

Permissions = Literal["ask-nothing", "edits", "own"]


@dataclass(frozen=True, slots=True)
class Ask:
    """What one start of an agent is to be. program: argv prefix, an absolute path first.

    budget_micro: what is left for this iteration, None without a cap. as_root: we run as uid 0.
    scratch: a fresh 0700 folder outside the tree that lives as long as the iteration.
    """

    program: tuple[str, ...]
    permissions: Permissions = "ask-nothing"
    model: str | None = None
    args: tuple[str, ...] = ()
    budget_micro: int | None = None
    max_turns: int | None = None
    as_root: bool = False
    scratch: str = ""


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start it. feed: stdin (prompt bytes as a file), file (argv holds PROMPT_FILE), argument (PROMPT_TEXT).

    env: added to the inherited environment. first, conversed: reserved for agents spoken to over a pipe.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    feed: Literal["stdin", "file", "argument", "conversed"] = "stdin"


PROMPT_FILE = "{ralph:prompt-file}"
PROMPT_TEXT = "{ralph:prompt-text}"
"""Placeholders that the supervisor replaces in `Launch.argv`, each as one whole argument."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What the agent's stream tells and how it can be held; shown by `ralph agents` and the README's table.

    reports_cost: dollars in its stream. reports_tokens: "live", "end" or "never". reports_turns, reports_tools.
    own_cap: the flag that bounds money, "" if none. writes: paths it leaves in the repository by itself.
    idle_rule: whether silence may be judged (off for plain programs).
    """

    reports_cost: bool = False
    reports_tokens: Literal["live", "end", "never"] = "never"
    reports_tools: bool = False
    reports_turns: bool = False
    own_cap: str = ""
    writes: tuple[str, ...] = ()
    idle_rule: bool = True
    note: str = ""


class Reader(Protocol):
    """Parses one run's output. Stateful, pure, never raises, invariant under how the stream was cut into reads."""

    def line(self, stream: Literal["out", "err"], line: bytes) -> tuple[Event, ...]:
        """Return the events of one line (no newline); () for a line that means nothing."""
        ...

    def end(self) -> tuple[Event, ...]:
        """Return what only the end of output tells (a whole JSON document, a half line)."""
        ...


class Adapter(Protocol):
    """One kind of agent."""

    @property
    def name(self) -> str:
        """Return the word the user types after `-a`."""
        ...

    @property
    def programs(self) -> tuple[str, ...]:
        """Return the names to look for on PATH, in order."""
        ...

    @property
    def abilities(self) -> Abilities:
        """Return what it can do."""
        ...

    def launch(self, ask: Ask) -> Launch:
        """Return argv, environment and the way the prompt goes in."""
        ...

    def reader(self) -> Reader:
        """Return a fresh parser for one run."""
        ...

    def diagnose(self, error_tail: bytes) -> tuple[Trouble, str] | None:
        """Return what stderr says about set-up faults that its stream does not tell, and the agent's own words."""
        ...
