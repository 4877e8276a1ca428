"""The test step: runs the test command, the checks and the command gates on one tree, no more often than needed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

from ralph.facts.job import Logs
from ralph.facts.settings import Command, CommandGate, Settings
from ralph.facts.suite import Suite
from ralph.facts.tree import Tree
from ralph.judge.gates import gate_name
from ralph.judge.suites import TESTS, needs_rerun, reusable, settled
from ralph.testrun import Interrupted, TestRunner

REMEMBERED = 12
"""Results kept by (tree, command); an older tree's commands are simply run again."""


class TestStep:
    """Runs what the configuration names and remembers each result by the tree it was got on. ran: commands so far."""

    __test__ = False  # its name would make pytest collect it

    def __init__(self, settings: Settings, runner: TestRunner, *, deadline_s: float | None) -> None:
        self._settings = settings
        self._runner = runner
        self._deadline_s = deadline_s
        self._runs: OrderedDict[tuple[str, str], list[Suite]] = OrderedDict()
        self.ran = 0

    def remember(self, tree: Tree, suites: Sequence[Suite]) -> None:
        """Take results got elsewhere (the baseline) as run on this tree; one that was got here counts once."""
        for suite in suites:
            runs = self._runs_of(tree, suite.name)
            if suite not in runs:
                runs.append(suite)

    def suites(self, tree: Tree, logs: Path) -> tuple[Suite, ...] | Interrupted:
        """Return the result of the tests and of each check on this tree, run or reused."""
        test = self._settings.test
        commands = [(TESTS, test.command)] if test.command else []
        return self._all(tree, [*commands, *((c.name, c.command) for c in self._settings.checks)], logs=logs)

    def gates(self, tree: Tree, logs: Path) -> tuple[Suite, ...] | Interrupted:
        """Return the result of each command gate on this tree, run or reused."""
        gates = [(gate_name(g), g.command) for g in self._settings.done if isinstance(g, CommandGate)]
        return self._all(tree, gates, logs=logs)

    def _all(
        self, tree: Tree, commands: Sequence[tuple[str, Command]], *, logs: Path
    ) -> tuple[Suite, ...] | Interrupted:
        results: list[Suite] = []
        for name, command in commands:
            result = self._one(tree, name, command=command, logs=logs)
            if isinstance(result, Interrupted):
                return result
            results.append(result)
        return tuple(results)

    def _one(self, tree: Tree, name: str, *, command: Command, logs: Path) -> Suite | Interrupted:
        runs = self._runs_of(tree, name)
        known = reusable(runs) if self._settings.test.when == "changed" else None
        while known is None:
            result = self._run(name, command, logs=logs, nth=len(runs))
            if isinstance(result, Interrupted):
                return result
            runs.append(result)
            known = None if needs_rerun(runs) else settled(runs)
        return known

    def _run(self, name: str, command: Command, *, logs: Path, nth: int) -> Suite | Interrupted:
        self.ran += 1
        word = "".join(c if c.isalnum() or c in "-_" else "-" for c in name)[:40]
        stem = f"{word}.{nth + 1}" if nth else word
        test = self._settings.test
        return self._runner.run(
            name,
            command,
            report=test.report if name == TESTS else "exit",
            timeout_s=test.timeout,
            deadline_s=self._deadline_s,
            logs=Logs(logs / f"{stem}.out", logs / f"{stem}.err"),
        )

    def _runs_of(self, tree: Tree, name: str) -> list[Suite]:
        runs = self._runs.setdefault((tree.state, name), [])
        self._runs.move_to_end((tree.state, name))
        while len(self._runs) > REMEMBERED:
            self._runs.popitem(last=False)
        return runs
