"""Who works next, where several agents were named: asked before each start, on record and said when it changes."""

from __future__ import annotations

from ralph.journal import entries
from ralph.loop.run import Run


def relieve(run: Run) -> None:
    """Let the agent whose turn it is take over, `judge/relay.py` knowing whose that is."""
    world = run.world
    change = run.history.relay.handover(world.crew.adapter.name, now=world.clock.now())
    if change is None:
        return
    number, back_at = run.number + 1, change.back_at
    run.record(
        entries.agent_changed(number, agent=change.agent, relieved=change.relieved, why=change.why, back_at=back_at)
    )
    world.roster.take(change.agent)
    until = f" (tried again from {back_at.astimezone():%Y-%m-%d %H:%M %Z})" if back_at else ""
    world.console.say(f"{change.why}{until}: {change.agent} works from iteration {number} on")
