"""The environment of agents and tests: what is inherited, what is not and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

DENIED = (
    # our own git, a repo's hooks, a CI job: would point the child's git at another tree or name its committer
    "GIT_*",
    # workflow commands are given by writing to the files these name; tokens
    "GITHUB_*",
    "ACTIONS_*",
    "RUNNER_*",
    # would let the agent's Python load ours or ours load theirs
    "PYTHON*",
    # ours: settings, notification secrets, the marks of an outer run
    "RALPH_*",
    # marks of an agent session around us: with them a child refuses to start, or reports to that session
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_CODE_SESSION_*",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_MESSAGING_*",
    "CLAUDE_CODE_EXECPATH",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PLUGIN_ROOT",
    "CODEX_SANDBOX*",
    "CODEX_THREAD_ID",
    "CODEX_CI",
    "CODEX_MANAGED_*",
    "CODEX_INTERNAL_*",
    "GEMINI_CLI",
    "QWEN_CODE",
    "OPENCODE",
    "OPENCODE_PID",
    "OPENCODE_CALLER",
    "OPENCODE_RUN_ID",
    "OPENCODE_PROCESS_ROLE",
    "OPENCODE_SERVER_*",
    "COPILOT_CLI",
    "COPILOT_AGENT_*",
    "CURSOR_AGENT",
    "CURSOR_TRACE_ID",
    "GOOSE_TERMINAL",
    "AMP_CURRENT_THREAD_ID",
    "CRUSH",
    "AGENT",
    # a descriptor or a notification address of whoever started us is not the child's
    "NOTIFY_SOCKET",
    "LISTEN_FDS",
    "LISTEN_PID",
    "LISTEN_FDNAMES",
)
"""Names (fnmatch patterns, case matters) that a child does not inherit."""


def child_environment(
    inherited: Mapping[str, str],
    *,
    passes: Iterable[str] = (),
    drops: Iterable[str] = (),
    extra: Mapping[str, str],
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the environment of a child and the sorted names it did not inherit.

    passes: patterns that win over `DENIED`. drops: patterns that win over everything inherited. extra: set on top,
    whatever the patterns say; a name in it does not count as dropped.
    """
    passed, dropped = tuple(passes), tuple(drops)

    def inherits(name: str) -> bool:
        if _matches(name, dropped):
            return False
        return _matches(name, passed) or not _matches(name, DENIED)

    kept = {name: value for name, value in inherited.items() if inherits(name)}
    gone = sorted(name for name in inherited if name not in kept and name not in extra)
    return {**kept, **extra}, tuple(gone)


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
