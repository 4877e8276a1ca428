"""Codex's hooks by the command line, and the trust they need: without it they are skipped in silence.

Trust is `hooks.state.KEY.trusted_hash`: a digest of exactly this hook, so that nothing else becomes trusted with it.
Hash and key are those that Codex 0.171.0 lists for the same hook (`app-server`, `hooks/list`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from ralph.agents import hooks
from ralph.agents.codex_stream import unwrapped
from ralph.agents.fields import canonical, mapping, word

EVENTS = {hooks.BEFORE: "pre_tool_use", hooks.AFTER: "post_tool_use"}
"""Events, and what they are called in its keys."""


def options(hook: tuple[str, ...]) -> tuple[str, ...]:
    """Return the `-c` arguments that put our hook in and have exactly it trusted. hook: argv prefix."""
    words: list[str] = []
    trusted: list[str] = []
    for event, name in EVENTS.items():
        line = hooks.command(hook, event)
        handler = f'{{type="command",command={_toml(line)},timeout={hooks.TIMEOUT_S}}}'
        words += ["-c", f'hooks.{event}=[{{matcher="*",hooks=[{handler}]}}]']
        trusted.append(f'"/<session-flags>/config.toml:{name}:0:0"={{trusted_hash="{trusted_hash(name, line)}"}}')
    return (*words, "-c", f"hooks.state={{{','.join(trusted)}}}")


def trusted_hash(name: str, command: str) -> str:
    """Return the digest of one hook of ours: of its canonical JSON, keys sorted, no blanks."""
    handler = {"type": "command", "command": command, "timeout": hooks.TIMEOUT_S, "async": False}
    identity = {"event_name": name, "matcher": "*", "hooks": [handler]}
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode('utf-8')).hexdigest()}"


def call_of(tool: str, payload: Mapping[str, object]) -> tuple[str, str | None]:
    """Return name and arguments of a call as its stream has them: hooks know the shell by another name."""
    given = mapping(payload.get("tool_input"))
    if tool == "Bash" and isinstance(given.get("command"), str):
        return "shell", canonical({"command": unwrapped(str(given["command"]))})
    return word(tool), canonical(payload["tool_input"]) if "tool_input" in payload else None


def _toml(text: str) -> str:
    """Return a TOML string: JSON spells it alike, as long as other characters stay as they are."""
    return json.dumps(text, ensure_ascii=False)
