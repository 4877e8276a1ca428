"""The moving parts of one run: what the loop carries from one iteration to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ralph.facts.finding import Finding
from ralph.facts.run import Moment, Opening
from ralph.facts.tree import Tree
from ralph.journal import entries
from ralph.judge.history import History
from ralph.judge.stream import RunMemory
from ralph.loop.testing import TestStep
from ralph.loop.world import World
from ralph.prompt import Frozen


@dataclass(slots=True)
class Run:
    """One run. number: of the newest iteration started. start, tree: as the run found it, and as it is now.

    test_owned: paths that a test step changed and no agent step has; agent_paths: those an agent step has.
    memory: tool results and sessions seen. findings: all so far, in order.
    unsaid: advice of the last iteration that the agent has not been given. hashes: of the files it obeys.
    """

    world: World
    history: History
    opening: Opening
    prompt: Frozen
    start: Tree
    tree: Tree
    tests: TestStep
    hashes: Mapping[Path, str | None]
    blocked_token: str
    number: int = 0
    unsaid: tuple[str, ...] = ()
    test_owned: frozenset[str] = frozenset()
    agent_paths: frozenset[str] = frozenset()
    memory: RunMemory = field(default_factory=RunMemory)
    findings: dict[Finding, None] = field(default_factory=dict)

    def moment(self) -> Moment:
        """Return how long the run has lasted and how much time is left."""
        now, deadline = self.world.clock.real(), self.world.deadline_s
        up_s = self.world.up_before_s + now - self.world.started_s
        return Moment(up_s, None if deadline is None else deadline - now)

    def record(self, entry: entries.Entry) -> None:
        """Put one record on disk before what it announces happens; the journal shows it to machines."""
        self.world.journal.append(*entry)

    def is_ending(self) -> bool:
        """Return whether a signal, `stop --now` or damage asks for nothing more to be started."""
        world = self.world
        asked = world.processes.interruption() is not None or world.control.stop == "now"
        return asked or world.damage() is not None

    def streak(self) -> str:
        """Return how far the run is on the way to a stop, "" where it is not."""
        return self.history.stretch.words()

    def look(self) -> Tree:
        """Return the tree as it is now."""
        return self.world.repo.look(test_owned=self.test_owned)

    def changed_watched(self) -> tuple[Path, ...]:
        """Return which of the prompt and configuration files differ from the last time this was asked."""
        before, self.hashes = self.hashes, self.world.hashes()
        return tuple(path for path, sha in self.hashes.items() if before.get(path) != sha)

    def note_findings(self, found: tuple[Finding, ...]) -> tuple[Finding, ...]:
        """Remember what was found, say what is new, and return all of it."""
        for finding in found:
            if finding not in self.findings:
                self.findings[finding] = None
                self.world.console.say(f"finding: {finding.kind}: {finding.detail}")
        return found
