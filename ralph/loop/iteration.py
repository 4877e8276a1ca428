"""One iteration, in order: look, announce, start the agent, look, test, look, settle. Decides nothing."""

from __future__ import annotations

from ralph.facts.iteration import Iteration
from ralph.facts.job import Logs
from ralph.facts.run import Stop
from ralph.facts.settings import Command, PromiseGate
from ralph.facts.tree import Tree
from ralph.journal import entries, suites
from ralph.judge.budget import Hold, hold
from ralph.judge.warnings import warnings
from ralph.loop import prompting
from ralph.loop.agent import spell
from ralph.loop.plan import Plan
from ralph.loop.relieving import relieve
from ralph.loop.run import Run
from ralph.loop.weighing import weighed
from ralph.report.lines import iteration_line

HOOK_TIME_S = 300.0


def iterate(run: Run) -> Stop | None:
    """Do one iteration and add it to the history; return the end of the run where it may not even start."""
    relieve(run)
    held = hold(run.history, run.world.settings)
    if isinstance(held, Stop):
        return held
    run.number += 1
    plan = planned(run, held)
    hook(run, "hook-before", run.world.settings.hooks.before_iteration)
    iteration = weighed(run, plan, done=spell(run, sent=plan.sent, held=held))
    settle(run, iteration)
    hook(run, "hook-after", run.world.settings.hooks.after_iteration)
    return None


def planned(run: Run, held: Hold) -> Plan:
    """Look, build the prompt, and put the start on record before anything is spent."""
    before = run.look()
    outside = noticed_outside(run, before)
    prompting.announce(run, run.changed_watched(), when="while no agent was running")
    prompting.refresh(run)
    promise = promise_token(run)
    text = prompting.note_text(run, promise)
    sha = run.prompt.sha256
    world = run.world
    name, clock = world.crew.adapter.name, world.clock
    run.record(entries.iteration_started(run.number, hold_micro=held.micro, prompt_hash=sha, note=text, agent=name))
    return Plan(clock.now(), clock.awake(), before, outside, held, promise, prompting.bytes_sent(run, text))


def noticed_outside(run: Run, before: Tree) -> bool:
    """Return whether somebody else changed the tree since the last iteration; credited to nobody."""
    if before.id == run.tree.id:
        return False
    run.world.repo.save(before, f"{run.number}.before")
    paths = run.world.repo.changes(run.tree, before).paths
    run.record(entries.changed_outside(run.number, paths=paths))
    run.history.outside(before)
    return True


def promise_token(run: Run) -> str | None:
    """Return this iteration's done token: the user's, or a fresh one that no earlier text can hold."""
    gate = next((g for g in run.world.settings.done if isinstance(g, PromiseGate)), None)
    return None if gate is None else gate.token or f"DONE-{run.world.nonce()}"


def settle(run: Run, iteration: Iteration) -> None:
    """Put the finished iteration on record, then tell everyone, while git looks at what the next one begins with."""
    run.world.repo.begin_look()
    for suite in iteration.suites:
        suites.keep(run.world.paper.suites, suite)
    run.record(entries.iteration_finished(iteration))
    run.history.add(iteration)
    run.tree = iteration.trees.tests
    run.note_findings(iteration.findings)
    for finding in run.note_findings(warnings(run.history)):
        run.record(entries.finding_made(run.number, finding=finding))
    run.world.console.say(iteration_line(iteration, streak=run.streak()))
    run.world.publish(None)


def hook(run: Run, name: str, command: Command) -> None:
    """Run one of the user's hook commands; that it fails is said and changes nothing."""
    if not command or run.is_ending():
        return
    run.world.repo.forget_look()
    folder = run.world.paper.made(run.world.paper.iteration(run.number))
    logs = Logs(folder / f"{name}.out", folder / f"{name}.err")
    result = run.world.runner.run(
        name, command, report="exit", timeout_s=HOOK_TIME_S, deadline_s=run.world.deadline_s, logs=logs
    )
    run.world.console.say(f"{name}: {getattr(result, 'exit', 'interrupted')}")
