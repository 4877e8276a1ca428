"""The loop: until something says stop, wait if need be and do one iteration. Everything it knows it asks."""

from __future__ import annotations

from ralph.facts.run import Conclusion, Pause, Stop
from ralph.journal import entries
from ralph.judge.budget import overshoot
from ralph.judge.interruption import interruption, wished
from ralph.judge.retry import pause_before
from ralph.judge.stops import decide
from ralph.loop.iteration import iterate
from ralph.loop.run import Run
from ralph.loop.waiting import wait


def supervise(run: Run) -> Conclusion:
    """Run to the end and return how it ended. Raises: UserError (storage) if the record cannot be kept."""
    while True:
        stop = ended(run) or paused(run) or iterate(run)
        if stop is not None:
            return concluded(run, stop)


def ended(run: Run) -> Stop | None:
    """Return why nothing more is to be started: damage, a signal, a rule, an operator's wish."""
    control, iterations = run.world.control, (run.number,) if run.number else ()
    interrupted = interruption(
        damage=run.world.damage(),
        signal_number=run.world.processes.interruption(),
        wish=control.stop,
        iterations=iterations,
    )
    decided = interrupted or decide(run.history, run.world.settings, run.moment())
    return decided or wished(control.stop, iterations=iterations)


def paused(run: Run) -> Stop | None:
    """Wait if need be, then ask again whether anything is to be started; None: on with the next iteration."""
    world = run.world
    now, jitter = world.clock.now(), world.jitter()
    pause = pause_before(run.history, world.settings, run.moment(), now=now, jitter=jitter)
    if not isinstance(pause, Pause):
        return pause
    wait(run, pause)
    return ended(run)


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
