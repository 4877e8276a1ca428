"""Claude Code's control channel: each hook is answered at once, and its result is the end of the conversation."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.agents.adapter import Ask
from ralph.agents.claude import Claude
from ralph.facts.steer import ALLOW, Answer, Asked

RESULT = b'{"duration_ms":1,"is_error":false,"type":"result","subtype":"success","result":"done"}'


def allow(asked: Asked) -> Answer:
    return ALLOW


def callback(event: str, **more: object) -> bytes:
    told = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1", "hook_event_name": event, **more}
    request = {"subtype": "hook_callback", "callback_id": event, "input": told}
    return json.dumps({"type": "control_request", "request_id": "r1", "request": request}).encode()


def decoded(data: bytes) -> list[dict[str, Any]]:
    assert data == b"" or data.endswith(b"\n")
    return [json.loads(line) for line in data.splitlines()]


def test_it_begins_with_our_hooks_and_the_prompt() -> None:
    hello, prompt = decoded(Claude().talk().first("Do it – «now».\nTwice.\xff".encode("latin-1", "replace")))
    assert hello["request"]["subtype"] == "initialize"
    assert set(hello["request"]["hooks"]) == {"PreToolUse", "PostToolUse", "PostToolUseFailure"}
    assert prompt["type"] == "user"
    assert prompt["message"]["content"][0]["text"].endswith("now\ufffd.\nTwice.\ufffd")


def test_a_call_is_refused_with_the_reason() -> None:
    heard: list[Asked] = []

    def decide(asked: Asked) -> Answer:
        heard.append(asked)
        return Answer("deny", "you did that")

    (reply,) = decoded(Claude().talk().hear(callback("PreToolUse", agent_id="sub"), decide))
    assert heard == [Asked("before", "Bash", '{"command":"ls"}', "t1", "sub", "PreToolUse")]
    assert (reply["type"], reply["response"]["request_id"]) == ("control_response", "r1")
    assert reply["response"]["response"]["hookSpecificOutput"] == {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "you did that",
    }


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse", "PostToolUseFailure"])
def test_advice_goes_with_the_answer(event: str) -> None:
    (reply,) = decoded(Claude().talk().hear(callback(event), lambda asked: Answer("advise", "try this")))
    told = reply["response"]["response"]["hookSpecificOutput"]
    assert told == {"hookEventName": event, "additionalContext": "try this"}


def test_every_request_is_answered_also_one_we_do_not_know() -> None:
    """An unanswered hook is a denied call."""
    talk = Claude().talk()
    (allowed,) = decoded(talk.hear(callback("PreToolUse"), allow))
    assert allowed["response"] == {"subtype": "success", "request_id": "r1", "response": {}}
    (odd,) = decoded(talk.hear(callback("PreToolUse", tool_name=7), allow))
    assert odd["response"]["subtype"] == "success"
    other = b'{"type":"control_request","request_id":"r2","request":{"subtype":"can_use_tool"}}'
    (unknown,) = decoded(talk.hear(other, allow))
    assert (unknown["response"]["subtype"], unknown["response"]["request_id"]) == ("error", "r2")


def test_its_result_is_the_end() -> None:
    talk = Claude().talk()
    for line in (b'{"type":"assistant","message":{"content":"the \\"result\\""}}', b'{"type":"user","x":"result"}'):
        assert talk.hear(line, allow) == b""
    assert not talk.is_over()
    assert decoded(talk.says("mind the gap"))[0]["message"]["content"][0]["text"] == "mind the gap"
    assert decoded(talk.interrupts())[0]["request"] == {"subtype": "interrupt"}
    assert talk.hear(RESULT, allow) == b""
    assert talk.is_over()
    assert (talk.says("too late"), talk.interrupts()) == (b"", b"")


def test_a_sub_agent_s_result_is_not_the_end() -> None:
    talk = Claude().talk()
    talk.hear(b'{"type":"result","parent_tool_use_id":"t9"}', allow)
    assert not talk.is_over()


@given(st.binary(max_size=200), st.sampled_from([b'"control_request"', b'"result"', b""]))
def test_no_line_makes_it_fail(line: bytes, mark: bytes) -> None:
    Claude().talk().hear(line + mark, allow)
    Claude().talk().hear(b'{"type":"control_request","request":' + line + b"}" + mark, allow)


def test_control_lines_are_no_events() -> None:
    reader = Claude().reader()
    assert reader.line("out", callback("PreToolUse")) == ()
    assert reader.line("out", b'{"type":"control_response","response":{"subtype":"success","response":{}}}') == ()


@pytest.mark.parametrize("args", [("--input-format=text",), ("--output-format", "json"), ("--bare",)])
def test_arguments_of_the_user_s_own_close_the_channel(args: tuple[str, ...]) -> None:
    lane = Claude().conversed(Ask(("claude",), args=args))
    assert not lane.is_open
    assert Claude().conversed(Ask(("claude",), args=("--effort", "high"))).is_open


def test_the_channel_is_the_plain_start_and_one_argument() -> None:
    ask = Ask(("claude",), model="big", budget_micro=5, max_turns=3, as_root=True)
    lane, plain = Claude().conversed(ask), Claude().launch(ask)
    assert lane.launch.feed == "conversed"
    words = [w for w in lane.launch.argv if w not in ("--input-format",)]
    words.remove("stream-json")
    assert sorted(words) == sorted(plain.argv)
