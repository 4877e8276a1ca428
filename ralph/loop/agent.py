"""The agent step: starts the agent on the prompt, listens until it and all it started are gone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ralph.advice import advice
from ralph.agents.adapter import PROMPT_FILE, PROMPT_TEXT, Ask, files_of
from ralph.agents.limits import reset_of
from ralph.facts.ending import Cut, Ended
from ralph.facts.finding import Signal
from ralph.facts.job import Job, Logs, StdinBytes, StdinPipe, TimeRules
from ralph.facts.settings import Settings
from ralph.facts.usage import Price
from ralph.journal.steps import StepsFile
from ralph.judge.budget import Hold, live_cut
from ralph.judge.steering import Steering
from ralph.judge.stream import StreamFacts, StreamFold
from ralph.loop.lanes import Opened, closed, left, opened, removed
from ralph.loop.listening import Listener
from ralph.loop.record import Record
from ralph.loop.run import Run
from ralph.loop.world import World


@dataclass(frozen=True, slots=True)
class Spell:
    """What the agent step gave: how the process ended and what its stream told.

    signals: loops noticed. unsaid: advice that could not be given inside the turn.
    """

    ended: Ended
    facts: StreamFacts
    signals: tuple[Signal, ...] = ()
    unsaid: tuple[str, ...] = ()


def spell(run: Run, *, sent: bytes, held: Hold) -> Spell:
    """Run the agent once on these bytes."""
    world = run.world
    lane = opened(world, asked(world, held))
    files = {} if world.crew.given else files_of(world.crew.adapter, str(world.scratch))
    removed(files)
    steering = steering_of(run, lane)
    listener = listening(run, lane, steering=steering)
    with world.control.hooks(listener.hook):
        ended = world.processes.run(job_of(run, lane, sent=sent), listener, sides=(world.channel,))
    facts = listener.end(ended, left(files))
    closed(lane)
    return Spell(ended, dated(world, facts), steering.account(), (*steering.unsaid(), *listener.unread))


def listening(run: Run, lane: Opened, *, steering: Steering) -> Listener:
    """Return what hears this iteration's agent."""
    world = run.world
    reader = lane.reader or world.crew.adapter.reader()
    return Listener(
        reader,
        StreamFold(run.memory),
        steering,
        clock=world.clock,
        steps=StepsFile(world.paper.made(world.paper.iteration(run.number))),
        lane=lane,
        control=world.control,
        record=Record(reader, {**world.environment, **lane.launch.env}),
        limit=lambda facts: over(run, facts),
        tell=lambda facts: told(run, facts),
    )


def steering_of(run: Run, lane: Opened) -> Steering:
    """Return what watches this iteration for loops and decides what is said."""
    return Steering(
        run.world.settings.detect,
        words=advice,
        laned=lane.is_laned,
        advises=lane.advises,
        root=str(run.world.repo.top),
        look=lambda: run.look().state,
    )


def asked(world: World, held: Hold) -> Ask:
    """Return what this start of the agent is to be."""
    crew, settings = world.crew, world.settings
    return Ask(
        program=crew.program,
        permissions=settings.agent.permissions,
        model=crew.model,
        args=crew.args,
        budget_micro=held.micro,
        max_turns=settings.limits.turns,
        as_root=crew.as_root,
        scratch=str(world.scratch),
        cwd=str(world.repo.top),
    )


def job_of(run: Run, lane: Opened, *, sent: bytes) -> Job:
    """Return the order for the process room."""
    world, launch = run.world, lane.launch
    folder = world.paper.made(world.paper.iteration(run.number))
    prompt_file = world.scratch / "prompt.md"
    prompt_file.write_bytes(sent)
    filled = {PROMPT_FILE: str(prompt_file), PROMPT_TEXT: sent.decode("utf-8", "replace")}
    stdin = StdinBytes({"stdin": sent}.get(launch.feed, b""))
    return Job(
        argv=tuple(filled.get(word, word) for word in launch.argv),
        cwd=world.repo.top,
        env={**world.environment, **launch.env},
        stdin=stdin if lane.talk is None else StdinPipe(lane.talk.first(sent)),
        time=time_rules(world),
        logs=Logs(folder / "agent.out", folder / "agent.err"),
        keep=world.settings.process.keep,
    )


def time_rules(world: World) -> TimeRules:
    """Return the agent's limits of time; silence is judged only where the agent's stream can be read."""
    limits = world.settings.limits
    judged = world.crew.adapter.abilities.idle_rule
    return TimeRules(
        total_s=limits.iteration_time,
        deadline_s=world.deadline_s,
        idle_s=limits.idle if judged else None,
        grace_s=limits.grace,
    )


def over(run: Run, facts: StreamFacts) -> Cut | None:
    """Return why the agent must be ended by what it has used so far."""
    price = live_price(run.world, run.world.settings, facts)
    limits = run.world.settings.limits
    return live_cut(facts.tokens, facts.micro, facts.turns, price=price, limits=limits, spent=run.history.totals)


def live_price(world: World, settings: Settings, facts: StreamFacts) -> Price | None:
    """Return the price to count a running agent's tokens with; looked up only where there is a cost limit."""
    if settings.limits.cost is None or facts.tokens is None:
        return None
    return world.crew.price_of(facts.model or world.crew.model)


def told(run: Run, facts: StreamFacts) -> None:
    """Tell machines that another model turn began."""
    fields: Mapping[str, object] = {
        "run": run.opening.run,
        "iteration": run.number,
        "turn": facts.turns,
        "tools": facts.tools,
        "cost_usd": None if facts.micro is None else facts.micro / 1_000_000,
    }
    run.world.console.event("turn", fields)


def dated(world: World, facts: StreamFacts) -> StreamFacts:
    """Return the facts with the reset time of a usage limit read from its text, where no field gave it."""
    trouble = facts.trouble
    if trouble is None or trouble.until is not None:
        return facts
    return replace(facts, trouble=replace(trouble, until=reset_of(trouble.text, world.clock.now().astimezone())))
