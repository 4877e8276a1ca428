"""Gemini CLI, headless: `gemini --output-format stream-json`, prompt on stdin.

Source: its own output, version 0.61.0; the stream is read by `gemini_stream`.
"""

from __future__ import annotations

from ralph.agents.adapter import Abilities, Ask, Launch
from ralph.agents.gemini_stream import GeminiReader
from ralph.agents.lanes import Lane, by_shell
from ralph.agents.limits import diagnosis
from ralph.facts.event import Trouble

PERMISSIONS = {
    "ask-nothing": ("--yolo", "--skip-trust"),
    "edits": ("--approval-mode", "auto_edit", "--skip-trust"),
    "own": (),
}


class Gemini:
    """Gemini CLI."""

    name = "gemini"
    programs: tuple[str, ...] = ("gemini",)
    abilities = Abilities(
        reports_tokens="end",
        reports_tools=True,
        reports_turns=True,
        deny="--policy FILE",
        steered="shell lane",
        note="reports no dollars, tokens only with a result, and no exit code of a shell command: "
        "a failed command looks like any other; an answer cut off at its length looks like a whole one",
    )

    def launch(self, ask: Ask) -> Launch:
        """Return argv; without the relaunch there is no wrapper process between us and the agent."""
        argv = [*ask.program, "--output-format", "stream-json", *PERMISSIONS[ask.permissions]]
        if ask.model is not None:
            argv += ["-m", ask.model]
        return Launch((*argv, *ask.args), {"GEMINI_CLI_NO_RELAUNCH": "true", "NO_COLOR": "1"})

    def shelled(self, ask: Ask, script: str) -> Lane:
        """Return the start with the shell lane: its hooks work from a file that root owns alone."""
        return by_shell(self.launch(ask), script)

    def reader(self) -> GeminiReader:
        """Return a fresh reader."""
        return GeminiReader()

    def diagnose(self, error_tail: bytes) -> tuple[Trouble, str] | None:
        """Return what it says on stderr when it cannot even start: no key, untrusted folder, unknown flag."""
        return diagnosis(error_tail)
