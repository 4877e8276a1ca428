"""opencode, headless: `opencode run --format json`, prompt on stdin.

Source: its own output, version 1.18.33; the stream is read by `opencode_stream`.
"""

from __future__ import annotations

import json

from ralph.agents.adapter import Abilities, Ask, Launch
from ralph.agents.lanes import Lane, by_shell
from ralph.agents.limits import diagnosis
from ralph.agents.opencode_stream import OpencodeReader
from ralph.facts.event import Trouble

EDITS_ONLY = json.dumps({"permission": {"edit": "allow", "bash": "deny", "webfetch": "deny"}})


class Opencode:
    """opencode."""

    name = "opencode"
    programs: tuple[str, ...] = ("opencode",)
    abilities = Abilities(
        reports_cost=True,
        reports_tokens="live",
        reports_tools=True,
        reports_turns=True,
        deny='OPENCODE_CONFIG_CONTENT {"permission": {TOOL: "deny"}}',
        steered="shell lane",
        note="has no terminal event and no limit of its own, retries and compacts in silence, "
        "and tells of a tool only when it has returned; a model without a price counts as cost unknown",
    )

    def launch(self, ask: Ask) -> Launch:
        """Return argv; a model is PROVIDER/MODEL."""
        argv = [*ask.program, "run", "--format", "json"]
        env = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "NO_COLOR": "1"}
        if ask.permissions == "ask-nothing":
            argv.append("--auto")
        elif ask.permissions == "edits":
            env["OPENCODE_CONFIG_CONTENT"] = EDITS_ONLY
        if ask.model is not None:
            argv += ["-m", ask.model]
        return Launch((*argv, *ask.args), env)

    def shelled(self, ask: Ask, script: str) -> Lane:
        """Return the start with the shell lane.

        Its server could refuse with a reason, but has no place for advice, would have each tool call wait for us, and
        `run` is what people use; a plug-in would have it install packages into the user's settings folder.
        """
        return by_shell(self.launch(ask), script)

    def reader(self) -> OpencodeReader:
        """Return a fresh reader."""
        return OpencodeReader()

    def diagnose(self, error_tail: bytes) -> tuple[Trouble, str] | None:
        """Return what it says on stderr when it cannot even start: unknown model, unknown session."""
        return diagnosis(error_tail)
