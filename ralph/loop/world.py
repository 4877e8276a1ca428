"""Everything a run works with, built and checked by `wiring` before the first start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ralph.agents.adapter import Adapter
from ralph.facts.run import Conclusion
from ralph.facts.settings import Settings
from ralph.facts.usage import Price
from ralph.loop.control import Control
from ralph.ports import Clock, Console, Journal, Processes, Repo, Side
from ralph.testrun import TestRunner


@dataclass(frozen=True, slots=True)
class Crew:
    """The agent of this run. program: argv prefix, absolute path first; given: COMMAND was typed, used as it is.

    price: of the configured or reported model, None if unknown; asked anew when the agent names its model.
    """

    adapter: Adapter
    program: tuple[str, ...]
    given: bool
    price_of: Callable[[str | None], Price | None]


class Paper(Protocol):
    """Where the files of a run lie."""

    @property
    def id(self) -> str:
        """Return the run's id."""
        ...

    @property
    def path(self) -> Path:
        """Return the run's folder."""
        ...

    def iteration(self, number: int) -> Path:
        """Return the folder of one iteration, made if it is not there."""
        ...


@dataclass(frozen=True, slots=True)
class World:
    """The run's surroundings. environment: of the agent, from nothing. deadline_s: on `Clock.real`, None = none.

    publish: writes the summary from what the journal holds; told the conclusion at the end.
    """

    settings: Settings
    clock: Clock
    processes: Processes
    repo: Repo
    journal: Journal
    console: Console
    crew: Crew
    runner: TestRunner
    control: Control
    channel: Side
    paper: Paper
    environment: Mapping[str, str]
    prompt_path: Path | None
    deadline_s: float | None
    scratch: Path
    publish: Callable[[Conclusion | None], None]
