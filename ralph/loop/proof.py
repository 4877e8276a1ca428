"""The test step: what ralph itself finds out about the tree the agent left, before anything counts as done."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ralph.facts.finding import Finding
from ralph.facts.iteration import GateResult
from ralph.facts.settings import ChecklistGate
from ralph.facts.suite import Suite, SuiteChange
from ralph.facts.tree import Changes, Tree
from ralph.judge.gates import asks_commands, gate_results
from ralph.judge.suites import change
from ralph.judge.tampering import is_runner_config, is_test_path, tampering
from ralph.loop.run import Run
from ralph.testrun import Interrupted

CHECKLIST_CAP = 1 << 20


@dataclass(frozen=True, slots=True)
class Proof:
    """What the test step gave; tree: the work tree after it."""

    tree: Tree
    suites: tuple[Suite, ...] = ()
    change: SuiteChange | None = None
    gates: tuple[GateResult, ...] = ()
    findings: tuple[Finding, ...] = ()


def proof(run: Run, agent: Tree, *, claimed: bool) -> Proof:
    """Test the agent's tree and ask every gate on it; an interrupted test step proves nothing."""
    logs, ran = run.world.paper.made(run.world.paper.iteration(run.number)), run.tests.ran
    suites = run.tests.suites(agent, logs)
    if isinstance(suites, Interrupted):
        return Proof(settled_tree(run, agent))
    findings = tampered(run, agent, suites)
    gates, commands = asked(run, agent, suites=suites, claimed=claimed)
    # Where nothing was run, what moves from here on is an outside change: the next iteration's look will tell.
    tree = agent if run.tests.ran == ran else settled_tree(run, agent)
    return Proof(tree, (*suites, *commands), changed(run, suites), gates, findings)


def asked(
    run: Run, agent: Tree, *, suites: tuple[Suite, ...], claimed: bool
) -> tuple[tuple[GateResult, ...], tuple[Suite, ...]]:
    """Return every gate's answer, and the results of the command gates, which run only when all others hold."""
    results = answers(run, suites, claimed=claimed, commands={})
    if not asks_commands(results, run.world.settings):
        return results, ()
    commands = run.tests.gates(agent, run.world.paper.iteration(run.number))
    if isinstance(commands, Interrupted):
        return results, ()
    return answers(run, suites, claimed=claimed, commands={s.name: s for s in commands}), commands


def answers(
    run: Run, suites: tuple[Suite, ...], *, claimed: bool, commands: Mapping[str, Suite]
) -> tuple[GateResult, ...]:
    """Return the gates' answers from what is known."""
    return gate_results(
        run.world.settings,
        suites=suites,
        baseline_green=run.history.baseline_green,
        claimed=claimed,
        checklist=checklists(run),
        commands=commands,
        boxes_at_start=run.opening.boxes,
    )


def checklists(run: Run) -> dict[str, str | None]:
    """Return the text of each checklist gate's file now."""
    paths = [gate.path for gate in run.world.settings.done if isinstance(gate, ChecklistGate)]
    return {path: plain_text(run.world.repo.top / path) for path in paths}


def plain_text(path: Path) -> str | None:
    """Return the text of a regular file of at most 1 MiB, None otherwise; a planted link or pipe is not followed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    with open(descriptor, "rb", closefd=True) as file:
        return file.read(CHECKLIST_CAP).decode("utf-8", "replace")


def changed(run: Run, suites: tuple[Suite, ...]) -> SuiteChange | None:
    """Return what moved in the tests since the last time they ran."""
    now = next((suite for suite in suites if suite.name == "tests"), None)
    return None if now is None else change(run.history.tests_last, now, frozenset(run.history.known_tests))


def tampered(run: Run, agent: Tree, suites: tuple[Suite, ...]) -> tuple[Finding, ...]:
    """Return what was done to the tests, their configuration and protected files since the start of the run."""
    whole = run.world.repo.changes(run.start, agent)
    watched = [path for path in whole.paths if is_test_path(path) or is_runner_config(path)]
    before = run.world.repo.contents(run.start, watched)
    after = run.world.repo.contents(agent, watched)
    return tampering(
        run.opening.tests,
        next((suite for suite in suites if suite.name == "tests"), None),
        files={path: (before[path], after[path]) for path in watched},
        changed=whole.paths,
        protect=run.world.settings.tree.protect,
        known=frozenset(run.history.known_tests),
        boxes_at_start=run.opening.boxes,
        checklist=checklists(run),
    )


def settled_tree(run: Run, agent: Tree) -> Tree:
    """Return the tree after the test step, with the paths that only test steps change left out of its state."""
    tree = run.look()
    if tree.id == agent.id:
        return tree
    run.world.repo.save(tree, f"{run.number}.tests")
    moved: Changes = run.world.repo.changes(agent, tree)
    owned = frozenset(moved.paths) - run.agent_paths - run.test_owned
    if not owned:
        return tree
    run.test_owned |= owned
    run.world.keep_owned(run.test_owned)
    run.world.console.say(f"changed by a test step alone, left out of every state: {', '.join(sorted(owned)[:5])}")
    return replace(tree, state=run.look().state)
