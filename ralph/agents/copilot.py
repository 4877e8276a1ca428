"""GitHub Copilot CLI, headless: `copilot --output-format json`, prompt on stdin, tokens in a file of their own.

Source: its own output, version 1.0.102; the stream is read by `copilot_stream`.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import replace

from ralph.agents.adapter import Abilities, Ask, Launch
from ralph.agents.copilot_stream import USAGE, CopilotReader
from ralph.agents.fields import canonical, word
from ralph.agents.hooks import TIMEOUT_S
from ralph.agents.lanes import Lane
from ralph.agents.limits import diagnosis
from ralph.facts.event import Trouble
from ralph.facts.steer import Answer, Asked, Moment

PERMISSIONS = {"ask-nothing": ("--yolo",), "edits": ("--allow-tool", "write"), "own": ()}
PLUGIN = "copilot-plugin"
"""Folder of our plug-in: nothing of it is installed, it is named at the start."""
MANIFEST = json.dumps({"name": "ralph", "version": "1.0.0", "hooks": "hooks.json"}).encode()
EVENTS: dict[str, Moment] = {"preToolUse": "before", "postToolUse": "after"}


class Copilot:
    """GitHub Copilot CLI."""

    name = "copilot"
    programs: tuple[str, ...] = ("copilot",)
    advises: tuple[Moment, ...] = ("before", "after")
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

    def hooked(self, ask: Ask, hook: tuple[str, ...]) -> Lane:
        """Return the start with our plug-in folder. A hook that fails denies its call here: ours never fails."""
        launch = self.launch(ask)
        argv = (*ask.program, "--plugin-dir", f"{ask.scratch}/{PLUGIN}", *launch.argv[len(ask.program) :])
        files = {f"{PLUGIN}/plugin.json": MANIFEST, f"{PLUGIN}/hooks.json": json.dumps(_hooks(hook)).encode()}
        return Lane(replace(launch, argv=argv), files)

    def asked(self, moment: Moment, payload: Mapping[str, object]) -> Asked | None:
        """Return the call that a hook is told of; it has no id here."""
        tool = word(payload.get("toolName"))
        args = canonical(payload["toolArgs"]) if "toolArgs" in payload else None
        return Asked(moment, tool, args, "", word(payload.get("agentId"))) if tool else None

    def answered(self, asked: Asked, answer: Answer) -> str:
        """Return what the hook prints."""
        if answer.act == "advise":
            return json.dumps({"additionalContext": answer.text})
        if answer.act == "deny" and asked.moment == "before":
            return json.dumps({"permissionDecision": "deny", "permissionDecisionReason": answer.text})
        return ""

    def files(self, scratch: str) -> Mapping[str, str]:
        """Return where it writes its token counts, {} without a scratch folder."""
        return {USAGE: f"{scratch}/copilot-usage.json"} if scratch else {}

    def reader(self) -> CopilotReader:
        """Return a fresh reader."""
        return CopilotReader()

    def diagnose(self, error_tail: bytes) -> tuple[Trouble, str] | None:
        """Return what it says on stderr when it cannot even start: not logged in, unknown flag."""
        return diagnosis(error_tail)


def _hooks(hook: tuple[str, ...]) -> Mapping[str, object]:
    line = shlex.join(hook)
    return {
        "version": 1,
        "hooks": {
            event: [{"type": "command", "bash": f"{line} {moment} || true", "timeoutSec": TIMEOUT_S}]
            for event, moment in EVENTS.items()
        },
    }
