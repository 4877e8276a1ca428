"""Claude Code, headless: `claude -p --output-format stream-json --verbose`, prompt on stdin.

Source: its own output, versions 2.1.197 and 2.1.332; the stream is read by `claude_stream`, `claude_talk` speaks to it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from ralph.agents import hooks
from ralph.agents.adapter import Abilities, Ask, Launch
from ralph.agents.claude_stream import ClaudeReader
from ralph.agents.claude_talk import ClaudeTalk
from ralph.agents.lanes import Lane
from ralph.agents.limits import diagnosis
from ralph.facts.event import Trouble
from ralph.facts.steer import Answer, Asked, Moment
from ralph.facts.usage import MICRO

PERMISSIONS = {
    "ask-nothing": ("--dangerously-skip-permissions",),
    "edits": ("--permission-mode", "acceptEdits"),
    "own": (),
}
OWN_STREAM = ("--input-format", "--output-format", "--permission-prompt-tool", "--bare")
"""Arguments of the user with which the control channel would be another one, or dead."""
OWN_HOOKS = ("--settings", "--bare", "--safe-mode")


class Claude:
    """Claude Code."""

    name = "claude"
    programs: tuple[str, ...] = ("claude",)
    advises: tuple[Moment, ...] = ("before", "after")
    abilities = Abilities(
        reports_cost=True,
        reports_tokens="live",
        reports_tools=True,
        reports_turns=True,
        own_cap="--max-budget-usd",
        steered="control channel",
        note="as root it refuses to ask nothing unless IS_SANDBOX=1; ralph sets it only when it runs as root",
    )

    def launch(self, ask: Ask) -> Launch:
        """Return argv; partial messages are on because only they carry the tokens of each call as it ends."""
        return _launch(ask, ())

    def conversed(self, ask: Ask) -> Lane:
        """Return the start with the control channel."""
        launch = replace(_launch(ask, ("--input-format", "stream-json")), feed="conversed")
        return Lane(launch, is_open=not hooks.clashes(ask.args, OWN_STREAM))

    def talk(self) -> ClaudeTalk:
        """Return a fresh conversation."""
        return ClaudeTalk()

    def hooked(self, ask: Ask, hook: tuple[str, ...]) -> Lane:
        """Return the start with hooks by `--settings`: the second choice. They add to the user's own."""
        given = json.dumps({"disableAllHooks": False, "hooks": hooks.settings(hook)})
        return Lane(_launch(ask, ("--settings", given)), is_open=not hooks.clashes(ask.args, OWN_HOOKS))

    def asked(self, moment: Moment, payload: Mapping[str, object]) -> Asked | None:
        """Return the call that a hook is told of."""
        return hooks.asked_of(moment, payload)

    def answered(self, asked: Asked, answer: Answer) -> str:
        """Return what the hook prints."""
        return hooks.printed(asked, answer)

    def reader(self) -> ClaudeReader:
        """Return a fresh reader."""
        return ClaudeReader()

    def diagnose(self, error_tail: bytes) -> tuple[Trouble, str] | None:
        """Return what it says on stderr when it cannot even start: root refused, unknown flag, not logged in."""
        return diagnosis(error_tail)


def _launch(ask: Ask, more: tuple[str, ...]) -> Launch:
    argv = [*ask.program, "-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages", *more]
    argv += PERMISSIONS[ask.permissions]
    if ask.model is not None:
        argv += ["--model", ask.model]
    if ask.max_turns is not None:
        argv += ["--max-turns", str(ask.max_turns)]
    if ask.budget_micro is not None:
        argv += ["--max-budget-usd", f"{max(1, ask.budget_micro) / MICRO:.6f}"]
    sandboxed = ask.as_root and ask.permissions == "ask-nothing"
    return Launch((*argv, *ask.args), {"IS_SANDBOX": "1"} if sandboxed else {})
