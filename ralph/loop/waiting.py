"""Waiting between iterations: on record, shown with its end, and ended early by a signal, `stop` or `wake`."""

from __future__ import annotations

from ralph.facts.run import Pause
from ralph.journal import entries
from ralph.loop.run import Run


def wait(run: Run, pause: Pause) -> None:
    """Wait as long as the pause says, in real time."""
    run.world.repo.forget_look()
    run.record(entries.waiting(pause))
    until = f" (until {pause.until.astimezone():%Y-%m-%d %H:%M %Z})" if pause.until else ""
    run.world.console.say(f"{pause.why}{until}; `ralph wake` goes on at once")
    run.world.publish(None)
    with run.world.control.waiting():
        run.world.processes.wait(pause.seconds, sides=(run.world.channel,))
