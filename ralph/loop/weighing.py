"""After the agent: look at what it left, let `judge` say how it ended, test it, and put the iteration together."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ralph.facts.ending import NotStarted
from ralph.facts.finding import Finding
from ralph.facts.iteration import Iteration, Spent
from ralph.facts.tree import Changes, Tree, Trees
from ralph.facts.usage import Price
from ralph.journal import entries
from ralph.judge import budget
from ralph.judge.gates import claims
from ralph.judge.outcome import Ruling, classify
from ralph.loop import prompting
from ralph.loop.agent import Spell
from ralph.loop.plan import Plan
from ralph.loop.proof import Proof, proof, settled_tree
from ralph.loop.run import Run
from ralph.steer.blocked import blocked_from_answer

ANSWER_CAP = 8 << 10


@dataclass(frozen=True, slots=True)
class Left:
    """What the agent left and how that is ruled."""

    agent: Tree
    changes: Changes
    ruling: Ruling
    spent: Spent
    claimed: bool


def weighed(run: Run, plan: Plan, *, done: Spell) -> Iteration:
    """Return the whole iteration."""
    left = left_behind(run, plan, done=done)
    run.unsaid = done.unsaid
    for signal in done.signals:
        run.record(entries.signal_raised(run.number, signal=signal))
    run.record(
        entries.agent_ended(
            run.number,
            outcome=left.ruling.outcome.value,
            exit=str(done.ended.how),
            elapsed_s=done.ended.elapsed_s,
            spent=left.spent,
        )
    )
    found = watched_findings(run, "agent") + run.world.repo.vanished(run.start, left.agent)
    is_over = run.is_ending()
    proved = Proof(settled_tree(run, left.agent)) if is_over else proof(run, left.agent, claimed=left.claimed)
    run.record(entries.tests_ended(run.number, suites=proved.suites))
    found += watched_findings(run, "test") + run.world.repo.findings() + proved.findings
    return assembled(run, plan, done=done, left=left, proved=proved, found=found)


def left_behind(run: Run, plan: Plan, *, done: Spell) -> Left:
    """Look at the tree and rule how the iteration ended and what it cost."""
    agent = run.look()
    run.world.repo.save(agent, str(run.number))
    changes = run.world.repo.changes(plan.before, agent, closely=True)
    run.agent_paths |= frozenset(changes.paths)
    run.test_owned -= run.agent_paths
    claimed = plan.promise is not None and claims(done.facts.answer or "", plan.promise)
    return Left(agent, changes, ruled(run, plan, done=done, agent=agent), charged(run, plan, done=done), claimed)


def ruled(run: Run, plan: Plan, *, done: Spell, agent: Tree) -> Ruling:
    """Return how the iteration ended."""
    adapter = run.world.crew.adapter
    return classify(
        done.ended,
        done.facts,
        diagnosis=adapter.diagnose(done.ended.error_tail),
        new_state=run.history.is_new(agent),
        moved=agent.state != plan.before.state,
        plain=not adapter.abilities.idle_rule,
    )


def charged(run: Run, plan: Plan, *, done: Spell) -> Spent:
    """Return what the iteration used and is charged."""
    facts, settings = done.facts, run.world.settings
    model = facts.model or run.world.crew.model
    charge = budget.charged(
        facts,
        price(run, done, model=model),
        plan.held,
        started=not isinstance(done.ended.how, NotStarted),
        capped=settings.limits.cost is not None,
    )
    return Spent(charge, facts.tokens, facts.turns or None, facts.tools, model)


def price(run: Run, done: Spell, *, model: str | None) -> Price | None:
    """Return the price of the tokens; not asked where the agent tells dollars and no cap is set."""
    facts = done.facts
    if facts.tokens is None or (facts.micro is not None and run.world.settings.limits.cost is None):
        return None
    return run.world.crew.price_of(model)


def watched_findings(run: Run, step: str) -> tuple[Finding, ...]:
    """Return that the prompt or a configuration file changed during a step: what tomorrow's run must know."""
    changed = run.changed_watched()
    prompting.announce(run, changed, when=f"while the {step} was running")
    return tuple(
        Finding(f"{step}-changed-{'prompt' if path == run.world.prompt_path else 'config'}", str(path), (str(path),))
        for path in changed
    )


def assembled(run: Run, plan: Plan, *, done: Spell, left: Left, proved: Proof, found: tuple[Finding, ...]) -> Iteration:
    """Return the finished iteration."""
    bare = Iteration(run.number, plan.started_at, Trees(plan.before, left.agent, proved.tree), left.ruling.outcome)
    answer = done.facts.answer
    return replace(
        with_agent(bare, done),
        elapsed_s=run.world.clock.awake() - plan.began_s,
        detail=left.ruling.detail,
        until=left.ruling.until,
        changes=left.changes,
        suites=proved.suites,
        change=proved.change,
        spent=left.spent,
        claimed=left.claimed,
        gates=proved.gates,
        findings=found,
        blocked=run.world.control.take_blocked() or blocked_from_answer(answer, run.blocked_token),
        outside=plan.outside,
        prompt_hash=run.prompt.sha256,
        agent=run.world.crew.adapter.name,
    )


def with_agent(iteration: Iteration, done: Spell) -> Iteration:
    """Return the iteration with what the process and its stream told."""
    ended, facts = done.ended, done.facts
    return replace(
        iteration,
        exit=str(ended.how),
        new_results=facts.new_results,
        answer=None if facts.answer is None else facts.answer[-ANSWER_CAP:],
        swept=tuple(survivor.name for survivor in ended.survivors),
        denied=facts.denied,
        signals=done.signals,
        printed=ended.bytes_out + ended.bytes_err,
    )
