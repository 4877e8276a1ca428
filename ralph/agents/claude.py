"""Claude Code, headless: `claude -p --output-format stream-json --verbose`, prompt on stdin.

Source: its own output, versions 2.1.197 and 2.1.332; the stream is read by `claude_stream`.
"""

from __future__ import annotations

from ralph.agents.adapter import Abilities, Ask, Launch
from ralph.agents.claude_stream import ClaudeReader
from ralph.agents.limits import diagnosis
from ralph.facts.event import Trouble
from ralph.facts.usage import MICRO

PERMISSIONS = {
    "ask-nothing": ("--dangerously-skip-permissions",),
    "edits": ("--permission-mode", "acceptEdits"),
    "own": (),
}


class Claude:
    """Claude Code."""

    name = "claude"
    programs: tuple[str, ...] = ("claude",)
    abilities = Abilities(
        reports_cost=True,
        reports_tokens="live",
        reports_tools=True,
        reports_turns=True,
        own_cap="--max-budget-usd",
        note="as root it refuses to ask nothing unless IS_SANDBOX=1; ralph sets it only when it runs as root",
    )

    def launch(self, ask: Ask) -> Launch:
        """Return argv; partial messages are on because only they carry the tokens of each call as it ends."""
        argv = [*ask.program, "-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"]
        argv += PERMISSIONS[ask.permissions]
        if ask.model is not None:
            argv += ["--model", ask.model]
        if ask.max_turns is not None:
            argv += ["--max-turns", str(ask.max_turns)]
        if ask.budget_micro is not None:
            argv += ["--max-budget-usd", f"{max(1, ask.budget_micro) / MICRO:.6f}"]
        sandboxed = ask.as_root and ask.permissions == "ask-nothing"
        return Launch((*argv, *ask.args), {"IS_SANDBOX": "1"} if sandboxed else {})

    def reader(self) -> ClaudeReader:
        """Return a fresh reader."""
        return ClaudeReader()

    def diagnose(self, error_tail: bytes) -> tuple[Trouble, str] | None:
        """Return what it says on stderr when it cannot even start: root refused, unknown flag, not logged in."""
        return diagnosis(error_tail)
