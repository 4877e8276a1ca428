"""How a run can end: the closed list of reasons and their exit codes, both public interfaces."""

from __future__ import annotations

from enum import Enum


class Reason(Enum):
    """Why a run (or a command) ended; the value is the public word."""

    DONE = "done"
    BUG = "bug"
    USAGE = "usage"
    NO_PROGRESS = "no-progress"
    OSCILLATION = "oscillation"
    TESTS_STUCK = "tests-stuck"
    BLOCKED = "blocked"
    ITERATION_LIMIT = "iteration-limit"
    TIME_LIMIT = "time-limit"
    COST_LIMIT = "cost-limit"
    TOKEN_LIMIT = "token-limit"  # noqa: S105 - a word, not a secret
    AGENT_MISSING = "agent-missing"
    AGENT_AUTH = "agent-auth"
    AGENT_QUOTA = "agent-quota"
    AGENT_FAILING = "agent-failing"
    AGENT_HANG = "agent-hang"
    REFUSED = "refused"
    LOCKED = "locked"
    REPO_DAMAGED = "repo-damaged"
    STORAGE = "storage"
    HANGUP = "hangup"
    INTERRUPTED = "interrupted"
    TERMINATED = "terminated"

    @property
    def exit_code(self) -> int:
        """Return the public exit code of this reason."""
        return EXIT_CODES[self]


EXIT_CODES: dict[Reason, int] = {
    Reason.DONE: 0,
    Reason.BUG: 1,
    Reason.USAGE: 2,
    Reason.NO_PROGRESS: 10,
    Reason.OSCILLATION: 11,
    Reason.TESTS_STUCK: 12,
    Reason.BLOCKED: 13,
    Reason.ITERATION_LIMIT: 20,
    Reason.TIME_LIMIT: 21,
    Reason.COST_LIMIT: 22,
    Reason.TOKEN_LIMIT: 23,
    Reason.AGENT_MISSING: 30,
    Reason.AGENT_AUTH: 31,
    Reason.AGENT_QUOTA: 32,
    Reason.AGENT_FAILING: 33,
    Reason.AGENT_HANG: 34,
    Reason.REFUSED: 40,
    Reason.LOCKED: 41,
    Reason.REPO_DAMAGED: 42,
    Reason.STORAGE: 43,
    Reason.HANGUP: 129,
    Reason.INTERRUPTED: 130,
    Reason.TERMINATED: 143,
}

FOUND_SOMETHING = 3
"""Exit code of commands other than run and resume that looked for something and found it."""
