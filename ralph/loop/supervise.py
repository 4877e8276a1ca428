"""The loop: until something says stop, wait if need be and do one iteration. Everything it knows it asks."""

from __future__ import annotations

from ralph.facts.run import Conclusion, Pause, Stop
from ralph.journal import entries
from ralph.judge.budget import overshoot
from ralph.judge.interruption import interruption
from ralph.judge.retry import pause_before
from ralph.judge.stops import decide
from ralph.loop.iteration import iterate
from ralph.loop.run import Run
from ralph.loop.waiting import wait


def supervise(run: Run) -> Conclusion:
    """Run to the end and return how it ended. Raises: UserError (storage) if the record cannot be kept."""
    while True:
        stop = interrupted(run) or decide(run.history, run.world.settings, run.moment())
        if stop is None:
            pause = pause_before(
                run.history,
                run.world.settings,
                run.moment(),
                now=run.world.clock.now(),
                jitter=run.world.jitter(),
            )
            stop = waited(run, pause) if isinstance(pause, Pause) else pause
        stop = stop or iterate(run)
        if stop is not None:
            return concluded(run, stop)


def interrupted(run: Run) -> Stop | None:
    """Return the end that comes from outside: damage, a signal, an operator's wish."""
    return interruption(
        damage=run.world.damage(),
        signal_number=run.world.processes.interruption(),
        wish=run.world.control.stop,
        iterations=(run.number,) if run.number else (),
    )


def waited(run: Run, pause: Pause) -> Stop | None:
    """Wait, then ask again what comes from outside."""
    wait(run, pause)
    return interrupted(run)


def concluded(run: Run, stop: Stop) -> Conclusion:
    """Put the ending on record and tell everyone."""
    history, world = run.history, run.world
    bare = Conclusion(
        run.opening.run,
        stop,
        history.totals,
        history.best,
        tuple(run.findings),
        overshoot(history.totals, world.settings, run.moment()),
    )
    conclusion = world.complete(bare)
    run.record(entries.run_stopped(conclusion, exit_code=world.exit_code(conclusion)))
    world.publish(conclusion)
    return conclusion
