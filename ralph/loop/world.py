"""Everything a run works with, built and checked by `wiring` before the first start."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ralph.agents.adapter import Adapter
from ralph.facts.run import Conclusion
from ralph.facts.settings import Settings
from ralph.facts.usage import Price
from ralph.journal.places import RunDir
from ralph.loop.control import Control
from ralph.ports import Clock, Console, Journal, Processes, Repo, Side
from ralph.prompt import Frozen
from ralph.testrun import TestRunner


@dataclass(frozen=True, slots=True)
class Crew:
    """The agent of this run. program: argv prefix, absolute path first; given: COMMAND was typed, used as it is.

    price_of: price by model name, looked up at most once a name; None if unknown. model, args: of the configuration;
    an agent that only stands in has neither, since they are another's words.
    """

    adapter: Adapter
    program: tuple[str, ...]
    given: bool
    as_root: bool
    price_of: Callable[[str | None], Price | None]
    model: str | None = None
    args: tuple[str, ...] = ()


class Roster:
    """The agents that may work, in order of preference, and the one that does."""

    def __init__(self, crews: Sequence[Crew]) -> None:
        self.crews = tuple(crews)
        self.current = self.crews[0]

    @property
    def names(self) -> tuple[str, ...]:
        """Return their names."""
        return tuple(crew.adapter.name for crew in self.crews)

    def take(self, name: str) -> None:
        """Let the agent of this name work from now on."""
        self.current = next(crew for crew in self.crews if crew.adapter.name == name)


@dataclass(frozen=True, slots=True)
class World:
    """The run's surroundings.

    environment: of the agent, from nothing. deadline_s: reading of `Clock.real`, None without one. up_before_s: real
    seconds of earlier sessions. scratch: a folder outside the tree. watched: the files whose change is announced,
    with the hash of each as obeyed. damage: why this is no longer the run's repository. nonce: fresh random text.
    keep_owned, keep_prompt: put test-owned paths and a prompt where a resume finds them.
    complete: adds the next commands to a conclusion. exit_code: what ralph leaves with, `--accept` counted in.
    publish: writes the summary from what the journal holds; told the conclusion at the end.
    """

    settings: Settings
    clock: Clock
    processes: Processes
    repo: Repo
    journal: Journal
    console: Console
    roster: Roster
    runner: TestRunner
    control: Control
    channel: Side
    paper: RunDir
    environment: Mapping[str, str]
    prompt_path: Path | None
    started_s: float
    up_before_s: float
    deadline_s: float | None
    scratch: Path
    hashes: Callable[[], Mapping[Path, str | None]]
    damage: Callable[[], str | None]
    keep_owned: Callable[[frozenset[str]], None]
    keep_prompt: Callable[[Frozen], None]
    nonce: Callable[[], str]
    jitter: Callable[[], float]
    complete: Callable[[Conclusion], Conclusion]
    exit_code: Callable[[Conclusion], int]
    publish: Callable[[Conclusion | None], None]

    @property
    def crew(self) -> Crew:
        """Return the agent that works now."""
        return self.roster.current
