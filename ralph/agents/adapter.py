"""What an agent adapter is: pure argv and pure parsing. One file an agent, one row in `agents.ADAPTERS`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from ralph.facts.event import Event, Trouble

Permissions = Literal["ask-nothing", "edits", "own"]


@dataclass(frozen=True, slots=True)
class Ask:
    """What one start of an agent is to be. program: argv prefix, an absolute path first.

    budget_micro: what is left for this iteration, None without a cap. as_root: we run as uid 0.
    scratch: a fresh 0700 folder outside the tree that lives as long as the iteration. cwd: where it works, absolute.
    """

    program: tuple[str, ...]
    permissions: Permissions = "ask-nothing"
    model: str | None = None
    args: tuple[str, ...] = ()
    budget_micro: int | None = None
    max_turns: int | None = None
    as_root: bool = False
    scratch: str = ""
    cwd: str = ""


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
    idle_rule: whether silence may be judged (off for plain programs). deny: how a tool is forbidden from the next
    start on, "" if it cannot be. steered: the lane by which advice reaches it while it works, "" if there is none:
    "control channel", "hooks", "plug-in folder", "server", "shell lane" or "new prompt". documented: nobody has run
    it with this adapter, which follows its documentation only.
    """

    reports_cost: bool = False
    reports_tokens: Literal["live", "end", "never"] = "never"
    reports_tools: bool = False
    reports_turns: bool = False
    own_cap: str = ""
    writes: tuple[str, ...] = ()
    idle_rule: bool = True
    note: str = ""
    deny: str = ""
    steered: str = ""
    documented: bool = False


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


@runtime_checkable
class LeavesFiles(Protocol):
    """An adapter whose agent writes figures into files that its output does not have."""

    def files(self, scratch: str) -> Mapping[str, str]:
        """Return the paths it was told to write below `Ask.scratch`, by a name that the reader knows."""
        ...


@runtime_checkable
class ReadsFiles(Protocol):
    """A reader that understands those files."""

    def file(self, name: str, data: bytes) -> tuple[Event, ...]:
        """Return what a file tells, once the run is over and `end` was called. Never raises on content."""
        ...


@runtime_checkable
class ReadsRecord(Protocol):
    """A reader whose agent keeps a record of its own as it works, which tells sooner what its output tells late."""

    def record(self, environment: Mapping[str, str]) -> tuple[str, str] | None:
        """Return the folder of its records and the pattern of this run's file below it, None while it is not known.

        environment: of the agent. In the pattern only folders are "*", and the newest names are looked at.
        """
        ...

    def recorded(self, line: bytes) -> tuple[Event, ...]:
        """Return the events of one line of it (no newline). Never raises on content."""
        ...


@runtime_checkable
class ReadsExit(Protocol):
    """A reader of an agent that tells by its exit code what its output does not."""

    def exited(self, code: int) -> tuple[Event, ...]:
        """Return what the exit code (0 to 255, never a signal) tells; the last thing a reader is asked."""
        ...


FILE_CAP = 32 << 20
"""Longest such file worth reading, in bytes; a longer one counts as absent, since half a document tells nothing."""


def files_of(adapter: Adapter, scratch: str) -> Mapping[str, str]:
    """Return the files to remove before the start and to read after the end, by name; {} for most agents."""
    return adapter.files(scratch) if isinstance(adapter, LeavesFiles) and scratch else {}


def afterword(reader: Reader, files: Mapping[str, bytes], *, code: int | None) -> tuple[Event, ...]:
    """Return what is told only once the agent is gone; to be asked once, after `Reader.end`.

    files: content of those of `files_of` that exist. code: its exit code, None if a signal ended it.
    """
    found: list[Event] = []
    if isinstance(reader, ReadsFiles):
        for name, data in files.items():
            found += reader.file(name, data)
    if isinstance(reader, ReadsExit) and code is not None:
        found += reader.exited(code)
    return tuple(found)
