"""How each agent's hooks are put in, what they are told, and what they are answered."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from ralph.agents import adapter
from ralph.agents.adapter import Ask
from ralph.agents.codex_hooks import trusted_hash
from ralph.agents.lanes import Hooked, Lane, Shelled
from ralph.facts.steer import ALLOW, Answer, Asked, Moment

ASK = Ask(("/opt/agent",), scratch="/scratch dir")
HOOK = ("/usr/bin/python3", "-I", "-S", "/scratch dir/hook.py")
LINE = "/usr/bin/python3 -I -S '/scratch dir/hook.py'"
DENY, ADVISE = Answer("deny", 'no "more"'), Answer("advise", "try ü")


def hooked(name: str) -> Hooked:
    found = adapter(name)
    assert isinstance(found, Hooked)
    return found


def lane(name: str, *args: str) -> Lane:
    return hooked(name).hooked(replace(ASK, args=args), HOOK)


def config(found: Lane) -> dict[str, Any]:
    """Return what Codex makes of its `-c` arguments."""
    argv = found.launch.argv
    return tomllib.loads("\n".join(value for flag, value in pairwise(argv) if flag == "-c"))


def test_codex_is_told_our_hooks_and_trusts_exactly_these() -> None:
    hooks = config(lane("codex"))["hooks"]
    for event, moment in (("PreToolUse", "before"), ("PostToolUse", "after")):
        (group,) = hooks[event]
        assert group == {"matcher": "*", "hooks": [{"type": "command", "command": f"{LINE} {moment}", "timeout": 10}]}
    assert hooks["state"] == {
        "/<session-flags>/config.toml:pre_tool_use:0:0": {
            "trusted_hash": trusted_hash("pre_tool_use", f"{LINE} before")
        },
        "/<session-flags>/config.toml:post_tool_use:0:0": {
            "trusted_hash": trusted_hash("post_tool_use", f"{LINE} after")
        },
    }


def test_the_hash_is_the_one_that_codex_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recorded from `codex app-server`, `hooks/list` of 0.171.0, for a hook with a time-out of 5 s."""
    monkeypatch.setattr("ralph.agents.hooks.TIMEOUT_S", 5)
    command = "/usr/bin/python3 -I -S /tmp/x/hook.py before"
    assert trusted_hash("pre_tool_use", command) == (
        "sha256:ec5264d6c4fedcc02447690f9dbd8c65e363d66e596dfef4382d54ce8ed9ff0a"
    )
    assert trusted_hash("post_tool_use", command) == (
        "sha256:7ce2bcca66ecab0a9f5daaf84e4c58efd0f611f00d2a570b08bada236a04f6b0"
    )


def test_a_command_of_codex_s_hook_is_the_call_of_its_stream() -> None:
    """Its hooks say Bash where its stream has a command execution, wrapped in a login shell."""
    out = {"id": "item_0", "type": "command_execution", "command": "/bin/bash -lc 'echo bad; exit 3'"}
    line = json.dumps({"type": "item.started", "item": out}).encode()
    (called,) = adapter("codex").reader().line("out", line)
    payload = {"tool_name": "Bash", "tool_input": {"command": "echo bad; exit 3"}, "tool_use_id": "call_1"}
    asked = hooked("codex").asked("before", payload)
    assert asked is not None
    assert (asked.tool, asked.args) == (called.name, called.args)  # type: ignore[union-attr]


def test_claude_s_second_choice_is_a_settings_argument() -> None:
    argv = lane("claude").launch.argv
    given = json.loads(argv[argv.index("--settings") + 1])
    assert given["disableAllHooks"] is False
    assert {e: g[0]["hooks"][0]["command"] for e, g in given["hooks"].items()} == {
        "PreToolUse": f"{LINE} before",
        "PostToolUse": f"{LINE} after",
        "PostToolUseFailure": f"{LINE} after",
    }


def test_qwen_reads_our_hooks_from_a_file_of_ours() -> None:
    found = lane("qwen")
    assert found.launch.env["QWEN_CODE_SYSTEM_DEFAULTS_PATH"] == "/scratch dir/qwen-hooks.json"
    assert set(json.loads(found.files["qwen-hooks.json"])) == {"hooks"}
    assert found.takes == {"QWEN_CODE_SYSTEM_DEFAULTS_PATH": "/etc/qwen-code/system-defaults.json"}


def test_a_hook_of_copilot_never_fails() -> None:
    """There a hook that fails denies every call."""
    found = lane("copilot")
    argv = found.launch.argv
    assert argv[argv.index("--plugin-dir") + 1] == "/scratch dir/copilot-plugin"
    hooks = json.loads(found.files["copilot-plugin/hooks.json"])["hooks"]
    assert [h["bash"] for each in hooks.values() for h in each] == [f"{LINE} before || true", f"{LINE} after || true"]
    assert json.loads(found.files["copilot-plugin/plugin.json"])["hooks"] == "hooks.json"


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("claude", ("--settings", "mine.json")),
        ("claude", ("--bare",)),
        ("codex", ("-c", "hooks.PreToolUse=[]")),
        ("qwen", ("--safe-mode",)),
    ],
)
def test_the_user_s_own_arguments_win(name: str, args: tuple[str, ...]) -> None:
    assert not lane(name, *args).is_open
    assert lane(name).is_open


CLAUDE_LIKE = {"tool_name": "Bash", "tool_input": {"b": 1, "a": "x"}, "tool_use_id": "t1", "agent_id": "sub"}
ANSWERS: dict[str, tuple[object, object, object]] = {
    "before": (
        {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": 'no "more"'},
        {"hookEventName": "PreToolUse", "additionalContext": "try ü"},
        None,
    ),
    "after": (None, {"hookEventName": "PostToolUse", "additionalContext": "try ü"}, None),
}


@pytest.mark.parametrize("name", ["claude", "codex", "qwen"])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_hook_s_answers(name: str, moment: Moment) -> None:
    asked = Asked(moment, "Bash", None)
    printed = [hooked(name).answered(asked, answer) for answer in (DENY, ADVISE, ALLOW)]
    said = [json.loads(text)["hookSpecificOutput"] if text else None for text in printed]
    assert tuple(said) == ANSWERS[moment]


def test_an_answer_names_the_event_that_asked() -> None:
    """An answer with another event's name is dropped in silence."""
    payload = {**CLAUDE_LIKE, "hook_event_name": "PostToolUseFailure"}
    asked = hooked("qwen").asked("after", payload)
    assert asked is not None
    assert "PostToolUseFailure" in hooked("qwen").answered(asked, ADVISE)


def test_copilot_s_answers_are_flat() -> None:
    before, after = Asked("before", "bash", None), Asked("after", "bash", None)
    copilot = hooked("copilot")
    assert json.loads(copilot.answered(before, DENY)) == {
        "permissionDecision": "deny",
        "permissionDecisionReason": 'no "more"',
    }
    assert json.loads(copilot.answered(after, ADVISE)) == {"additionalContext": "try ü"}
    assert [copilot.answered(after, DENY), copilot.answered(before, ALLOW)] == ["", ""]


def test_a_hook_is_told_call_arguments_and_stream() -> None:
    assert hooked("claude").asked("before", CLAUDE_LIKE) == Asked("before", "Bash", '{"a":"x","b":1}', "t1", "sub")
    both = {**CLAUDE_LIKE, "tool_call_id": "call_1"}
    assert hooked("qwen").asked("before", both) == Asked("before", "Bash", '{"a":"x","b":1}', "call_1", "sub")
    flat = {"toolName": "bash", "toolArgs": {"command": "ls"}, "agentId": "a1"}
    assert hooked("copilot").asked("before", flat) == Asked("before", "bash", '{"command":"ls"}', "", "a1")


@pytest.mark.parametrize("name", ["claude", "codex", "qwen", "copilot"])
@pytest.mark.parametrize("payload", [{}, {"tool_name": 1, "toolName": None}, {"tool_name": "", "tool_input": []}])
def test_what_is_no_call_is_nothing(name: str, payload: dict[str, object]) -> None:
    assert hooked(name).asked("before", payload) is None


@pytest.mark.parametrize("name", ["gemini", "opencode", "qwen"])
def test_the_shell_lane_is_the_plain_start_with_a_file_for_bash(name: str) -> None:
    found = adapter(name)
    assert isinstance(found, Shelled)
    lane, plain = found.shelled(ASK, "/scratch/lane.sh"), found.launch(ASK)
    assert lane.launch == replace(plain, env={**plain.env, "BASH_ENV": "/scratch/lane.sh"})
