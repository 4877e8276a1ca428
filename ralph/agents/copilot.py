"""GitHub Copilot CLI, headless: `copilot --output-format json`, prompt on stdin, tokens in a file of their own.

Source: its own output, version 1.0.102; the stream is read by `copilot_stream`.
"""

from __future__ import annotations

from collections.abc import Mapping

from ralph.agents.adapter import Abilities, Ask, Launch
from ralph.agents.copilot_stream import USAGE, CopilotReader
from ralph.agents.limits import diagnosis
from ralph.facts.event import Trouble

PERMISSIONS = {"ask-nothing": ("--yolo",), "edits": ("--allow-tool", "write"), "own": ()}


class Copilot:
    """GitHub Copilot CLI."""

    name = "copilot"
    programs: tuple[str, ...] = ("copilot",)
    abilities = Abilities(
        reports_tokens="end",
        reports_tools=True,
        reports_turns=True,
        deny="--deny-tool",
        steered="plug-in folder",
        note="reports no dollars; tokens come in a file once it has ended; "
        "a refusal and an answer cut off at its length look like a whole one",
    )

    def launch(self, ask: Ask) -> Launch:
        """Return argv; nobody is there to be asked, so its question tool is off."""
        argv = [*ask.program, "--output-format", "json", *PERMISSIONS[ask.permissions]]
        argv += ["--no-ask-user", "--no-auto-update", "--no-color"]
        if ask.model is not None:
            argv += ["--model", ask.model]
        for path in self.files(ask.scratch).values():
            argv += ["--usage-output-file", path]
        return Launch((*argv, *ask.args), {"COPILOT_AUTO_UPDATE": "false", "NO_COLOR": "1"})

    def files(self, scratch: str) -> Mapping[str, str]:
        """Return where it writes its token counts, {} without a scratch folder."""
        return {USAGE: f"{scratch}/copilot-usage.json"} if scratch else {}

    def reader(self) -> CopilotReader:
        """Return a fresh reader."""
        return CopilotReader()

    def diagnose(self, error_tail: bytes) -> tuple[Trouble, str] | None:
        """Return what it says on stderr when it cannot even start: not logged in, unknown flag."""
        return diagnosis(error_tail)
