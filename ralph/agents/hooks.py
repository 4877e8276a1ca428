"""Hooks of the kind that Claude Code brought up and Codex and Qwen Code speak too: what they tell, what they are told.

A hook is told a call as one JSON object on stdin and answers with another, or with nothing. Seen with Claude Code
2.1.332, Codex 0.171.0 and Qwen Code 0.24.4.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping

from ralph.agents.fields import canonical, word
from ralph.facts.steer import Answer, Asked, Moment

BEFORE, AFTER, FAILED = "PreToolUse", "PostToolUse", "PostToolUseFailure"
"""Failed calls come in `FAILED` alone, where an agent knows it."""
MOMENTS: dict[str, Moment] = {BEFORE: "before", AFTER: "after", FAILED: "after"}
TIMEOUT_S = 10
"""Our hook gives up by itself after 4 s; this is for one that cannot even start."""


def asked_of(moment: Moment, payload: Mapping[str, object]) -> Asked | None:
    """Return what a hook is told, None where it is no tool call."""
    tool = word(payload.get("tool_name"))
    if not tool:
        return None
    args = canonical(payload["tool_input"]) if "tool_input" in payload else None
    # Qwen Code has a second id, and it is this one that its stream knows.
    call = word(payload.get("tool_call_id")) or word(payload.get("tool_use_id"))
    return Asked(moment, tool, args, call, word(payload.get("agent_id")), word(payload.get("hook_event_name")))


def reply_of(event: str, answer: Answer) -> Mapping[str, object]:
    """Return the answer to one event, {} for nothing. An answer that names another event is dropped in silence."""
    if answer.act == "deny" and event == BEFORE:
        told = {"permissionDecision": "deny", "permissionDecisionReason": answer.text}
    elif answer.act == "advise":
        told = {"additionalContext": answer.text}
    else:
        return {}
    return {"hookSpecificOutput": {"hookEventName": event, **told}}


def printed(asked: Asked, answer: Answer) -> str:
    """Return what the hook prints, "" for nothing."""
    reply = reply_of(asked.event or (BEFORE if asked.moment == "before" else AFTER), answer)
    return json.dumps(reply) if reply else ""


def settings(hook: tuple[str, ...], events: Iterable[str] = MOMENTS) -> Mapping[str, object]:
    """Return the `hooks` table of a settings file. hook: argv prefix of our program."""
    return {
        event: [{"matcher": "*", "hooks": [{"type": "command", "command": command(hook, event), "timeout": TIMEOUT_S}]}]
        for event in events
    }


def command(hook: tuple[str, ...], event: str) -> str:
    """Return the shell command of our hook for one event."""
    return shlex.join((*hook, MOMENTS[event]))


def clashes(args: tuple[str, ...], flags: Iterable[str]) -> bool:
    """Return whether the user's own arguments hold one of these flags, alone or as `--flag=value`."""
    named = {word.partition("=")[0] for word in args}
    return not named.isdisjoint(flags)
