"""Codex, headless: `codex exec --json … -`, prompt on stdin.

Source: its own output, version 0.171.0; the stream is read by `codex_stream`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ralph.agents import codex_hooks, hooks
from ralph.agents.adapter import Abilities, Ask, Launch
from ralph.agents.codex_stream import CodexReader
from ralph.agents.lanes import Lane
from ralph.agents.limits import diagnosis
from ralph.facts.event import Trouble
from ralph.facts.steer import Answer, Asked, Moment

PERMISSIONS = {
    "ask-nothing": ("--dangerously-bypass-approvals-and-sandbox",),
    "edits": ("--sandbox", "workspace-write"),
    "own": (),
}


class Codex:
    """Codex."""

    name = "codex"
    programs: tuple[str, ...] = ("codex",)
    advises: tuple[Moment, ...] = ("before", "after")
    abilities = Abilities(
        reports_tokens="live",
        reports_tools=True,
        reports_turns=True,
        steered="hooks",
        note="reports no dollars and no model; its tokens as it works come from its own session file, "
        "without one (--ephemeral) only with the end of a turn that went well; "
        "without a permission of its own it is read-only and says so on stderr alone",
    )

    def launch(self, ask: Ask) -> Launch:
        """Return argv; ralph checks the work tree itself, so Codex's own repository check is off."""
        return _launch(ask, ())

    def hooked(self, ask: Ask, hook: tuple[str, ...]) -> Lane:
        """Return the start with our hooks, and no others, trusted; hooks of the user's own arguments win."""
        own = any("hooks" in word for word in ask.args)
        return Lane(_launch(ask, codex_hooks.options(hook)), is_open=not own)

    def asked(self, moment: Moment, payload: Mapping[str, object]) -> Asked | None:
        """Return the call that a hook is told of, by the name that the stream has for it."""
        told = hooks.asked_of(moment, payload)
        if told is None:
            return None
        tool, args = codex_hooks.call_of(told.tool, payload)
        return replace(told, tool=tool, args=args)

    def answered(self, asked: Asked, answer: Answer) -> str:
        """Return what the hook prints."""
        return hooks.printed(asked, answer)

    def reader(self) -> CodexReader:
        """Return a fresh reader."""
        return CodexReader()

    def diagnose(self, error_tail: bytes) -> tuple[Trouble, str] | None:
        """Return what it says on stderr when it cannot even start: untrusted folder, unknown flag, no login."""
        return diagnosis(error_tail)


def _launch(ask: Ask, more: tuple[str, ...]) -> Launch:
    argv = [*ask.program, "exec", "--json", "--skip-git-repo-check", *PERMISSIONS[ask.permissions], *more]
    if ask.model is not None:
        argv += ["--model", ask.model]
    return Launch((*argv, *ask.args, "-"), {"NO_COLOR": "1"})
