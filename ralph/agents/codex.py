"""Codex, headless: `codex exec --json … -`, prompt on stdin.

Source: its own output, version 0.171.0; the stream is read by `codex_stream`.
"""

from __future__ import annotations

from ralph.agents.adapter import Abilities, Ask, Launch
from ralph.agents.codex_stream import CodexReader
from ralph.agents.limits import diagnosis
from ralph.facts.event import Trouble

PERMISSIONS = {
    "ask-nothing": ("--dangerously-bypass-approvals-and-sandbox",),
    "edits": ("--sandbox", "workspace-write"),
    "own": (),
}


class Codex:
    """Codex."""

    name = "codex"
    programs: tuple[str, ...] = ("codex",)
    abilities = Abilities(
        reports_tokens="end",
        reports_tools=True,
        reports_turns=True,
        note="reports no dollars and no model, and tokens only of a turn that ended well; "
        "without a permission of its own it is read-only and says so on stderr alone",
    )

    def launch(self, ask: Ask) -> Launch:
        """Return argv; ralph checks the work tree itself, so Codex's own repository check is off."""
        argv = [*ask.program, "exec", "--json", "--skip-git-repo-check", *PERMISSIONS[ask.permissions]]
        if ask.model is not None:
            argv += ["--model", ask.model]
        return Launch((*argv, *ask.args, "-"), {"NO_COLOR": "1"})

    def reader(self) -> CodexReader:
        """Return a fresh reader."""
        return CodexReader()

    def diagnose(self, error_tail: bytes) -> tuple[Trouble, str] | None:
        """Return what it says on stderr when it cannot even start: untrusted folder, unknown flag, no login."""
        return diagnosis(error_tail)
