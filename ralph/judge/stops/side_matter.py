"""Every iteration has a new state, but only the plan file, lock files or noise such as logs make it new."""

from __future__ import annotations

from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Stop
from ralph.facts.settings import Settings
from ralph.judge.history import History
from ralph.judge.words import some, span


def side_matter(history: History, settings: Settings, _moment: Moment) -> Stop | None:
    """Stop after five such iterations in a row, eight where lock files are among them."""
    rows = list(history.side.asides)
    if settings.stop.no_progress is None or history.step is None or not rows:
        return None
    newest = rows[-1]
    limit = max(aside.limit for aside in rows[-newest.limit :])
    if newest.number != history.step.number or len(rows) < limit:
        return None
    row = rows[-limit:]
    numbers = tuple(aside.number for aside in row)
    paths = sorted({path for aside in row for path in aside.paths})
    return Stop(
        Reason.NO_PROGRESS,
        f"{span(numbers)} changed nothing but {some(paths)}; if that is the work, give --no-progress-after off",
        iterations=numbers,
    )
