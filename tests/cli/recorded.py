"""Runs on record for the commands that only look: a real journal in a real state directory, no agent, no repository."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from ralph.cli.app import app
from ralph.facts.iteration import Iteration
from ralph.facts.reason import Reason
from ralph.facts.run import Conclusion, Opening, Stop, Totals
from ralph.facts.settings import Settings
from ralph.journal import entries
from ralph.journal.log import Log
from ralph.journal.places import Places, RunDir
from ralph.journal.steps import StepsFile
from tests.builders import START, opening
from tests.journal.examples import StillClock

Row = Sequence[object]


class Ground:
    """A work tree's place in a state directory."""

    def __init__(self, root: Path) -> None:
        self.top, self.state = root / "repo", root / "state"
        self.top.mkdir()
        self.places = Places.of(self.top, state_dir=str(self.state), environ={})
        self.count = 0

    def run(
        self,
        iterations: Iterable[Iteration],
        *,
        stop: Stop | None = None,
        settings: Settings | None = None,
        first: str = "A",
        steps: dict[int, Iterable[Row]] | None = None,
        days_ago: float = 0.0,
    ) -> RunDir:
        """Record a run; stop None: it was cut off. steps: rows of tool calls by iteration."""
        self.count += 1
        begun = START - timedelta(days=days_ago) + timedelta(minutes=self.count)
        paper = self.places.new_run(begun)
        start = replace(opening(first), run=paper.id, started_at=begun)
        with Log.create(paper.journal, clock=StillClock()) as log:
            log.append(*begin(start, settings or Settings()))
            for one in iterations:
                log.append(*entries.iteration_started(one.number, hold_micro=None, prompt_hash="", note=""))
                log.append(*entries.iteration_finished(one))
            if stop is not None:
                log.append(*entries.run_stopped(Conclusion(paper.id, stop, Totals()), exit_code=stop.reason.exit_code))
        for number, rows in (steps or {}).items():
            file = StepsFile(paper.made(paper.iteration(number)))
            for row in rows:
                file.add(row)
            file.close()
        return paper

    def command(self, *words: str) -> Result:
        """Run a command of ralph on this place."""
        argv = [words[0], "-C", str(self.top), "--state-dir", str(self.state), *words[1:]]
        return CliRunner().invoke(app, argv, standalone_mode=False, catch_exceptions=False)

    def data(self, *words: str) -> dict[str, Any]:
        """Return what a command prints with --json."""
        found = json.loads(self.command(*words, "--json").output)
        assert isinstance(found, dict)
        return found


def begin(start: Opening, settings: Settings) -> entries.Entry:
    agent = {"name": "claude", "argv": ["claude"], "names": ["claude"]}
    return entries.run_started(start, settings=settings, origins={}, prompt_hash="", agent=agent, repo={"top": "/"})


def stopped(reason: Reason, *numbers: int, detail: str = "as recorded") -> Stop:
    return Stop(reason, detail, iterations=numbers)
