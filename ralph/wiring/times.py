"""When a run must be over, on the clock that runs through suspension."""

from __future__ import annotations

from datetime import datetime, timedelta

from ralph.facts.settings import Limits
from ralph.ports import Clock


def deadline(limits: Limits, clock: Clock, *, up_before_s: float = 0.0) -> float | None:
    """Return the reading of `Clock.real` at which the run ends, None without a limit. up_before_s: already used."""
    ends = []
    if limits.time is not None:
        ends.append(limits.time - up_before_s)
    if limits.until is not None:
        ends.append(seconds_until(limits.until, clock.now().astimezone()))
    return clock.real() + min(ends) if ends else None


def seconds_until(time_of_day: str, now: datetime) -> float:
    """Return the seconds from now (local, aware) to the next "HH:MM" on the wall; a changed clock that night counts."""
    hour, minute = (int(part) for part in time_of_day.split(":"))
    local = now.replace(hour=hour, minute=minute, second=0, microsecond=0, tzinfo=None)
    if local <= now.replace(tzinfo=None):
        local += timedelta(days=1)
    # astimezone on a naive time asks the system's zone for that day, so a change to summer time is in.
    return (local.astimezone() - now).total_seconds()
