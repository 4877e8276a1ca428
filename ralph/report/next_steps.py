"""The commands a verdict ends with: complete, so that they run as printed."""

from __future__ import annotations

import shlex

from ralph.facts.reason import Reason
from ralph.facts.run import Best

RAISES = {
    Reason.ITERATION_LIMIT: "-n +20",
    Reason.TIME_LIMIT: "--max-time +2h",
    Reason.COST_LIMIT: "--max-cost +5",
    Reason.TOKEN_LIMIT: "--max-tokens +1000000",
}
RESUMABLE = frozenset(Reason) - {Reason.DONE, Reason.USAGE, Reason.REFUSED, Reason.LOCKED, Reason.BUG}


def next_commands(
    reason: Reason, *, run: str, top: str, best: Best | None, last: int, state_dir: str | None = None
) -> tuple[str, ...]:
    """Return up to four commands. top: the work tree; last: number of the newest iteration, 0 if none."""
    place = f"-C {shlex.quote(top)}" + (f" --state-dir {shlex.quote(state_dir)}" if state_dir else "")
    where = f"--run {run} {place}"
    commands = [f"ralph report {where}"]
    if last:
        commands.append(f"ralph diff start now {where}")
    if reason is Reason.REPO_DAMAGED:
        commands.append(f"ralph restore start --git {where}")
    elif best is not None and 0 < best.number < last:
        commands.append(f"ralph restore best {where}")
    if reason in RESUMABLE:
        commands.append(" ".join(filter(None, ["ralph resume", RAISES.get(reason, ""), where])))
    return tuple(commands)
