"""When a run must end: one file a rule, and the table that ranks them (design 2.3).

Storage, a damaged repository and signals come before all of these and are seen by those who meet them.
"""

from __future__ import annotations

from ralph.facts.run import Moment, Stop
from ralph.facts.settings import Settings
from ralph.judge.history import History
from ralph.judge.stops.agent_failing import agent_failing
from ralph.judge.stops.agent_hang import agent_hang
from ralph.judge.stops.agent_missing import agent_missing
from ralph.judge.stops.agent_quota import agent_quota
from ralph.judge.stops.agent_setup import agent_setup
from ralph.judge.stops.blocked import blocked
from ralph.judge.stops.circle_of_tests import circle_of_tests
from ralph.judge.stops.claims import claims
from ralph.judge.stops.cost_limit import cost_limit
from ralph.judge.stops.done import done
from ralph.judge.stops.file_flip_flop import file_flip_flop
from ralph.judge.stops.iteration_limit import iteration_limit
from ralph.judge.stops.net_zero import net_zero
from ralph.judge.stops.no_progress import no_progress
from ralph.judge.stops.oscillation import oscillation
from ralph.judge.stops.reverse_hunks import reverse_hunks
from ralph.judge.stops.rule import Rule
from ralph.judge.stops.side_matter import side_matter
from ralph.judge.stops.tests_changed import tests_changed
from ralph.judge.stops.tests_stuck import tests_stuck
from ralph.judge.stops.time_limit import time_limit
from ralph.judge.stops.token_limit import token_limit

RULES: tuple[Rule, ...] = (
    done,
    blocked,
    agent_missing,
    agent_setup,
    agent_quota,
    agent_failing,
    agent_hang,
    cost_limit,
    token_limit,
    time_limit,
    tests_changed,
    no_progress,
    claims,
    side_matter,
    oscillation,
    circle_of_tests,
    file_flip_flop,
    reverse_hunks,
    net_zero,
    tests_stuck,
    iteration_limit,
)


def decide(history: History, settings: Settings, moment: Moment) -> Stop | None:
    """Return why the run ends now, by the first rule that says so; None: on with the next iteration."""
    return next((stop for rule in RULES if (stop := rule(history, settings, moment)) is not None), None)
