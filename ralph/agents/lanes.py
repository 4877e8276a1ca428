"""How an agent can be spoken to while it works: what a lane carries, and what an adapter tells of its own lane.

One decision function in the supervisor answers all lanes (`judge/steering.py`); what stands here is transport. Every
lane fails open: no answer, a late one or an odd one means that the call runs and nothing is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

from ralph.agents.adapter import Ask, Launch, Reader
from ralph.facts.steer import Answer, Asked, Decide, Moment


@dataclass(frozen=True, slots=True)
class Lane:
    """A start of the agent with its lane open. files: to write below `Ask.scratch` first, by relative name.

    is_open: the user's own arguments leave room for this lane; if not, the next best is tried. takes: environment
    variables it needs, each with the file that is read where it is not set: a lane takes nobody's settings away.
    talk, reader: of this start, where they have to know the `Ask` or each other; None: those the adapter gives.
    asks: the agent asks before each call; where it does not, what would be refused is said in the turn instead.
    """

    launch: Launch
    files: Mapping[str, bytes] = field(default_factory=dict)
    is_open: bool = True
    takes: Mapping[str, str] = field(default_factory=dict)
    talk: Talk | None = None
    reader: Reader | None = None
    asks: bool = True


@runtime_checkable
class Hooked(Protocol):
    """An adapter whose agent calls a program of ours before and after its tools."""

    @property
    def advises(self) -> tuple[Moment, ...]:
        """Return the moments at which advice can be put without refusing the call."""
        ...

    def hooked(self, ask: Ask, hook: tuple[str, ...]) -> Lane:
        """Return the start with our hook in it. hook: argv prefix; "before" or "after" is to be its last word."""
        ...

    def asked(self, moment: Moment, payload: Mapping[str, object]) -> Asked | None:
        """Return what the agent tells its hook on stdin, None where it is no tool call. Never raises."""
        ...

    def answered(self, asked: Asked, answer: Answer) -> str:
        """Return what the hook prints for the agent, "" for nothing."""
        ...


@runtime_checkable
class Shelled(Protocol):
    """An adapter whose agent runs its commands with a bash that reads BASH_ENV: a lane for shell tools only."""

    def shelled(self, ask: Ask, script: str) -> Lane:
        """Return the start with BASH_ENV set. script: absolute path of the file that bash is to read."""
        ...


def by_shell(launch: Launch, script: str) -> Lane:
    """Return a start whose shells read our file first."""
    return Lane(replace(launch, env={**launch.env, "BASH_ENV": script}))


class Talk(Protocol):
    """One run's conversation with an agent that reads what we write while it works. Pure but for its own state."""

    def first(self, prompt: bytes) -> bytes:
        """Return what is written at once: the handshake and the prompt."""
        ...

    def hear(self, line: bytes, decide: Decide) -> bytes:
        """Take one line of its stdout; return what to write back. Its events are the `Reader`'s business."""
        ...

    def says(self, text: str) -> bytes:
        """Return a user message for the middle of the turn, b"" where that is not possible."""
        ...

    def interrupts(self) -> bytes:
        """Return what ends the turn from outside, b"" where that is not possible."""
        ...

    def is_over(self) -> bool:
        """Return whether the agent has nothing more to do: stdin is closed then, and it leaves."""
        ...


@runtime_checkable
class Conversed(Protocol):
    """An adapter whose agent is spoken to over its stdin."""

    def conversed(self, ask: Ask) -> Lane:
        """Return the start that reads its conversation from stdin (`Launch.feed` is "conversed")."""
        ...

    def talk(self) -> Talk:
        """Return a fresh conversation."""
        ...


@runtime_checkable
class Advises(Protocol):
    """A conversed adapter whose answers to calls can carry advice; without it, advice goes as a message of its own."""

    @property
    def advises(self) -> tuple[Moment, ...]:
        """Return the moments at which advice can be put without refusing the call."""
        ...


@runtime_checkable
class SpeaksToAny(Protocol):
    """An adapter of a protocol instead of a program: a COMMAND that was typed is spoken to like an agent it found."""

    @property
    def takes_command(self) -> bool:
        """Return whether it does."""
        ...


@runtime_checkable
class KeepsUnsaid(Protocol):
    """A conversation that may end before it could say what it was given; advice is then for the next prompt's note."""

    def unsaid(self) -> tuple[str, ...]:
        """Return the texts that nobody has read."""
        ...
