"""What a lane asks about a tool call of an agent at work, and what it is answered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Moment = Literal["before", "after"]
"""Before a tool runs, or right after it gave its result."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A tool call at one moment. id: pairs it with the stream, "" where the agent gives none. args: JSON text.

    event: the agent's own name of the moment, for the adapter that answers it.
    """

    moment: Moment
    tool: str
    args: str | None
    id: str = ""
    stream: str = ""
    event: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What to do. allow: nothing. advise: the call stands, the text is read behind its result. deny: it may not run.

    only: the shell commands that are denied, for a lane that cannot ask about each; () = every one.
    """

    act: Literal["allow", "advise", "deny"] = "allow"
    text: str = ""
    only: tuple[str, ...] = ()


ALLOW = Answer()
Decide = Callable[[Asked], Answer]
