"""The agents that nobody has run, Amp and Cursor: the examples of their own documentation are read."""

from __future__ import annotations

import pytest

from ralph.facts.event import (
    Finish,
    Finished,
    Known,
    Said,
    Scope,
    Started,
    ToolCalled,
    ToolReturned,
    Trouble,
    UsageSeen,
)
from ralph.facts.usage import Tokens
from tests.agents.telling import finishes, told, troubles


def test_amp_s_documented_example_is_read() -> None:
    usage = {"input_tokens": 12783, "cache_creation_input_tokens": 367, "cache_read_input_tokens": 12416}
    answer = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "2 + 2 equals 4."}],
        "stop_reason": "end_turn",
        "usage": {**usage, "output_tokens": 8, "max_tokens": 224000, "service_tier": "standard"},
    }
    events = told(
        "amp",
        {"type": "system", "subtype": "init", "cwd": "/x", "session_id": "T-1", "tools": ["oracle"], "mcp_servers": []},
        {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "what is 2+2?"}]}},
        {"type": "assistant", "message": answer, "parent_tool_use_id": None, "session_id": "T-1"},
        {"type": "result", "subtype": "success", "is_error": False, "num_turns": 1, "result": "2 + 2 equals 4."},
    )
    assert events == [
        Started("T-1"),
        Said("2 + 2 equals 4.", "turn_1"),
        UsageSeen(Scope.CALL, "message_1", Tokens(367, 8, 12416, 367)),
        Finished(Finish.OK, "2 + 2 equals 4.", "", 1),
    ]


@pytest.mark.parametrize(
    ("result", "how", "kind"),
    [
        (
            {"subtype": "error_during_execution", "is_error": True, "error": "Out of credits"},
            Finish.FAILED,
            Trouble.QUOTA,
        ),
        ({"subtype": "error_max_turns", "is_error": True, "error": "Max turns"}, Finish.OWN_LIMIT, None),
    ],
)
def test_amp_s_errors_are_strings(result: dict[str, object], how: Finish, kind: Trouble | None) -> None:
    events = told("amp", {"type": "result", **result})
    assert finishes(events) == [how]
    assert troubles(events) == ([kind] if kind else [])


def cursor_call(subtype: str, **body: object) -> dict[str, object]:
    return {"type": "tool_call", "subtype": subtype, "call_id": "c", "tool_call": {"shellToolCall": body}}


@pytest.mark.parametrize(
    ("result", "failed", "denied", "known"),
    [
        ({"success": {"exitCode": 0, "stdout": "ok"}}, False, False, Known.KNOWN),
        ({"success": {"exitCode": 3, "stdout": ""}}, True, False, Known.KNOWN),
        ({"error": {"message": "gone"}}, True, False, Known.KNOWN),
        ({"rejected": {"reason": "no"}}, True, True, Known.KNOWN),
        ({}, None, False, Known.UNKNOWN),
    ],
)
def test_cursor_s_documented_tool_call_is_read(
    result: dict[str, object], failed: bool | None, denied: bool, known: Known
) -> None:
    args = {"command": "ls"}
    called, back = told("cursor", cursor_call("started", args=args), cursor_call("completed", args=args, result=result))
    assert called == ToolCalled("c", "shell", '{"command":"ls"}', "turn_1")
    assert isinstance(back, ToolReturned)
    assert (back.failed, back.denied, back.known) == (failed, denied, known)


def test_cursor_s_documented_run_is_read_and_its_failure_has_no_result() -> None:
    said = {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "done"}]}}
    start = {"type": "system", "subtype": "init", "session_id": "s", "model": "Auto", "permissionMode": "default"}
    result = {"type": "result", "subtype": "success", "is_error": False, "result": "done", "session_id": "s"}
    assert told("cursor", start, {"type": "thinking", "subtype": "delta", "text": "hm"}, said, result) == [
        Started("s", "Auto"),
        Said("done", "turn_1"),
        Finished(Finish.OK, "done", "", 1),
    ]
    assert finishes(told("cursor", start, said, code=1)) == []
