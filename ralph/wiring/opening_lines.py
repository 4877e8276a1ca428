"""The first lines of a run: who works, how isolated, what can end it, what is not saved."""

from __future__ import annotations

from collections.abc import Iterator

from ralph.config.describe import shown
from ralph.encode.terminal import one_line
from ralph.facts.run import Opening
from ralph.facts.settings import Settings
from ralph.judge.gates import expected_gates
from ralph.loop.lanes import speaks_to_any
from ralph.loop.world import Crew, Roster
from ralph.report.phrases import suite_words

LIMITS = ("limits.iterations", "limits.time", "limits.until", "limits.cost", "limits.tokens", "limits.iteration_time")
UNTIL = "limits.until"
SHOWN = 5


def agent_line(settings: Settings, crew: Crew) -> str:
    """Return line 1."""
    how = ["as given"] if crew.given else []
    if not crew.given or speaks_to_any(crew):
        how.append(f"permissions {settings.agent.permissions}")
    speaks = f" speaking {crew.adapter.name}" if crew.given else ""
    return f"agent: {one_line(' '.join(crew.program), 160)}{speaks}, {', '.join(how)}, isolation none"


def stand_in_lines(settings: Settings, roster: Roster) -> Iterator[str]:
    """Yield who works when the first agent is out, and who was named and is not there."""
    if settings.agent.command or len(settings.agent.name) < 2:
        return
    for crew in roster.crews[1:]:
        yield f"when it is out of quota or cannot be started: {one_line(' '.join(crew.program), 160)}"
    missing = [name for name in settings.agent.name if name not in roster.names]
    if missing:
        yield f"not found: {', '.join(missing)}"


def limit_lines(settings: Settings) -> Iterator[str]:
    """Yield the limits, each printed, unlimited ones by word."""
    values = dict(shown(settings))
    words = [
        f"{key.partition('.')[2].replace('_', ' ')} {values[key]}"
        for key in LIMITS
        if key != UNTIL or settings.limits.until
    ]
    yield f"limits: {', '.join(words)}"


def goal_lines(settings: Settings, opening: Opening) -> Iterator[str]:
    """Yield what can end the run as done, and how the tests stand."""
    for suite in opening.baseline:
        yield f"baseline: {suite_words(suite)}{' (reused)' if suite.reused else ''}"
    gates = expected_gates(settings, opening.tests)
    if gates:
        yield f"done when: {', '.join(one_line(g) for g in gates)}"
    elif opening.tests is not None:
        yield "the tests are green already: that alone never ends the run; a limit or no progress does"
    else:
        yield "no gate: this run can end by a limit or by no progress only; --test and --done add gates"


def unsaved_lines(unsaved: tuple[str, ...]) -> Iterator[str]:
    """Yield what a restore could not bring back."""
    if unsaved:
        rest = f" and {len(unsaved) - SHOWN} more" if len(unsaved) > SHOWN else ""
        yield f"not saved: {'; '.join(one_line(u, 80) for u in unsaved[:SHOWN])}{rest}"
