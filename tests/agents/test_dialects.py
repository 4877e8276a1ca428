"""What is particular to the streams of Gemini, opencode, Copilot and Qwen: exits, files, compaction, retries."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from ralph.agents import ADAPTERS
from ralph.agents.adapter import afterword
from ralph.facts.event import (
    Compacted,
    Finish,
    Finished,
    Known,
    Retrying,
    Said,
    Scope,
    Started,
    ToolCalled,
    ToolReturned,
    Trouble,
    Troubled,
    UsageSeen,
)
from ralph.facts.usage import Tokens
from tests.agents.captures import Capture, archived, captures, heard, outcome
from tests.agents.telling import finishes, returned, text, told, troubles

REPEATED = [pytest.param(c, id=c.name) for c in captures() if c.name.endswith("/repeat") and c.agent != "aider"]


@pytest.mark.parametrize("capture", REPEATED)
def test_the_same_call_with_the_same_result_is_told_the_same(capture: Capture) -> None:
    """Numbers that the agent adds by itself (process groups, shells) would hide every loop."""
    events = heard(capture)
    assert len({(e.name, e.args) for e in events if isinstance(e, ToolCalled)}) == 1
    assert len({(e.result, e.failed) for e in returned(events)}) == 1
    assert len(returned(events)) == 4


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (41, Trouble.AUTH),
        (42, Trouble.MISCONFIGURED),
        (52, Trouble.MISCONFIGURED),
        (55, Trouble.MISCONFIGURED),
        (429 % 256, Trouble.OUTAGE),
        (529 % 256, Trouble.OUTAGE),
        (500 % 256, Trouble.OUTAGE),
        (503 % 256, Trouble.OUTAGE),
        (401 % 256, Trouble.AUTH),
        (403 % 256, Trouble.AUTH),
        (402 % 256, Trouble.QUOTA),
        (404 % 256, Trouble.MISCONFIGURED),
    ],
)
def test_gemini_s_exit_code_tells_where_its_stream_does_not(code: int, kind: Trouble) -> None:
    """Its exit codes are its own, or HTTP statuses of which eight bits are left."""
    assert text("gemini", "", "the reason", code=code) == [Troubled(kind, "the reason")]


@pytest.mark.parametrize("code", [0, 1, 144])
def test_gemini_s_other_exit_codes_say_nothing(code: int) -> None:
    assert text("gemini", "", "the reason", code=code) == []


def test_gemini_s_own_turn_limit_is_no_failure() -> None:
    assert text("gemini", "", "Reached max session turns", code=53) == [
        Finished(Finish.OWN_LIMIT, None, "Reached max session turns")
    ]


def test_an_exit_code_adds_nothing_to_a_result() -> None:
    assert told("gemini", {"type": "result", "status": "success"}, code=41) == [Finished(Finish.OK)]


def test_gemini_s_pieces_are_put_together_as_one_text_a_turn() -> None:
    def piece(words: str) -> dict[str, object]:
        return {"type": "message", "role": "assistant", "content": words, "delta": True}

    call = {"type": "tool_use", "tool_name": "t", "tool_id": "i", "parameters": {"b": 1, "a": 2}}
    events = told("gemini", piece("one "), piece("two"), call, {"type": "tool_result", "tool_id": "i"}, piece("three"))
    assert events == [
        Said("one two", "turn_1"),
        ToolCalled("i", "t", '{"a":2,"b":1}', "turn_1"),
        ToolReturned("i", "", Known.UNKNOWN, failed=False),
        Said("three", "turn_2"),
    ]


def test_gemini_does_not_know_whether_a_command_failed() -> None:
    call = {"type": "tool_use", "tool_name": "run_shell_command", "tool_id": "i", "parameters": {}}
    (back,) = returned(told("gemini", call, {"type": "tool_result", "tool_id": "i", "status": "success", "output": ""}))
    assert back == ToolReturned("i", "", Known.KNOWN, failed=None)


@pytest.mark.parametrize(
    ("line", "delay"),
    [
        ("Attempt 1 failed with status 429. Retrying with backoff... _ApiError: {}", None),
        ("Suggested retry after 2s.. Retrying after 5468ms...", 5.468),
    ],
)
def test_gemini_announces_its_retries_on_stderr(line: str, delay: float | None) -> None:
    assert text("gemini", "", line) == [Retrying(line, delay)]


def step(kind: str, **part: object) -> dict[str, object]:
    return {"type": kind, "timestamp": 1796008339514, "sessionID": "s", "part": part}


def failure(name: str, **data: object) -> dict[str, object]:
    return {"type": "error", "timestamp": 1796008339514, "sessionID": "s", "error": {"name": name, "data": data}}


OVERFLOW = failure("ContextOverflowError", message="prompt is too long")
SYNTHETIC = step("text", id="t", text="go on", synthetic=True, metadata={"compaction_continue": True})
STOP = step("step_finish", id="p", reason="stop")


def test_opencode_ends_with_its_last_step_and_only_at_the_end() -> None:
    assert finishes(told("opencode", STOP)) == [Finish.OK]
    assert finishes(told("opencode", STOP, step("step_start"))) == []
    assert finishes(told("opencode", step("step_finish", id="p", reason="tool-calls"))) == []
    assert ADAPTERS["opencode"].reader().line("out", json.dumps(STOP).encode()) == (Started("s"),)


def test_opencode_s_compaction_is_no_end_and_announces_more() -> None:
    """It compacts and goes on, without end where that does not help: 643 requests in two minutes."""
    events = told("opencode", OVERFLOW, step("step_start"), STOP, SYNTHETIC)
    assert finishes(events) == []
    assert [type(e) for e in events] == [Started, Troubled, Compacted, Retrying]
    assert finishes(told("opencode", OVERFLOW, step("step_start"), STOP)) == []
    assert finishes(
        told("opencode", OVERFLOW, step("step_start"), STOP, SYNTHETIC, {**STOP, "part": {"reason": "stop"}})
    )


def test_an_error_that_nothing_followed_is_opencode_s_end() -> None:
    events = told("opencode", failure("APIError", message="no", statusCode=503))
    assert troubles(events) == [Trouble.OUTAGE]
    assert finishes(events) == [Finish.FAILED]


def test_opencode_s_retry_after_is_a_time() -> None:
    limit = failure("APIError", message="slow down", statusCode=429, responseHeaders={"retry-after": "90"})
    (trouble,) = [e for e in told("opencode", limit) if isinstance(e, Troubled)]
    assert trouble.until == datetime(2026, 11, 30, 3, 13, 49, 514000, UTC)
    for header in ("-1", "Wed, 21 Oct", "9" * 16, "²"):
        forged = failure("APIError", message="slow down", statusCode=429, responseHeaders={"retry-after": header})
        assert [e.until for e in told("opencode", forged) if isinstance(e, Troubled)] == [None]


def test_a_quota_behind_a_429_is_a_quota() -> None:
    events = told("opencode", failure("APIError", message="You exceeded your current quota", statusCode=429))
    assert troubles(events) == [Trouble.QUOTA]


def test_opencode_counts_its_cache_and_thoughts_and_a_free_step_is_of_unknown_cost() -> None:
    tokens = {"input": 10, "output": 37, "reasoning": 40, "cache": {"read": 5000, "write": 7}}
    events = told(
        "opencode",
        step("step_finish", id="a", reason="stop", cost=0.00128, tokens=tokens),
        step("step_finish", id="b", reason="stop", cost=0, tokens=tokens),
    )
    used = Tokens(17, 77, 5000, 7)
    assert [e for e in events if isinstance(e, UsageSeen)] == [
        UsageSeen(Scope.CALL, "a", used, 1280),
        UsageSeen(Scope.CALL, "b", used, None),
    ]


@pytest.mark.parametrize(
    ("state", "told_as"),
    [
        ({"status": "completed", "output": "x", "metadata": {"exit": 3}}, ("x", Known.KNOWN, True, False)),
        ({"status": "completed", "output": "x", "metadata": {"exit": None}}, ("x", Known.KNOWN, True, False)),
        ({"status": "completed", "output": "x", "metadata": {"truncated": True}}, ("x", Known.TRUNCATED, False, False)),
        ({"status": "error", "error": "gone"}, ("gone", Known.KNOWN, True, False)),
        ({"status": "completed"}, ("", Known.UNKNOWN, False, False)),
        (
            {"status": "error", "error": "The user rejected permission to use this specific tool call"},
            ("The user rejected permission to use this specific tool call", Known.KNOWN, True, True),
        ),
    ],
)
def test_opencode_s_tools_tell_by_structure(state: dict[str, object], told_as: tuple[str, Known, bool, bool]) -> None:
    part = {"tool": "bash", "callID": "c", "messageID": "m", "state": {"input": {"command": "x"}, **state}}
    (back,) = returned(told("opencode", step("tool_use", **part)))
    assert (back.result, back.known, back.failed, back.denied) == told_as


def test_another_session_in_opencode_s_stream_is_a_sub_agent() -> None:
    child = {**step("text", id="x", text="found it", messageID="m"), "sessionID": "child"}
    events = told("opencode", step("step_start"), child, STOP)
    assert Said("found it", "m", "child") in events
    assert [e.answer for e in events if isinstance(e, Finished)] == [None]


def test_copilot_s_usage_file_tells_its_tokens() -> None:
    (name,) = [n for n in archived() if n.endswith("usage_output_file.json")]
    reader = ADAPTERS["copilot"].reader()
    events = afterword(reader, {"usage": archived()[name]}, code=0)
    assert events == (UsageSeen(Scope.RUN, "", Tokens(10, 77, 5000), None, "gpt-4.1"),)
    assert afterword(reader, {"usage": b"{", "other": b"{}"}, code=0) == ()


def test_copilot_s_sub_agent_is_a_stream_of_its_own() -> None:
    message = {"type": "assistant.message", "agentId": "a1", "data": {"turnId": "0", "content": "x", "messageId": "m"}}
    error = {"type": "session.error", "agentId": "a1", "data": {"message": "429", "statusCode": 429}}
    assert told("copilot", message, error) == [
        Said("x", "0", "a1"),
        Troubled(Trouble.OUTAGE, "429", None, final=False),
    ]


def test_copilot_denies_by_the_structure_of_the_result() -> None:
    asked = {"toolRequests": [{"toolCallId": "c", "name": "bash", "arguments": {"command": "x"}}], "turnId": "0"}
    refusal = {"toolCallId": "c", "success": False, "error": {"message": "Denied by preToolUse hook: no"}}
    events = told(
        "copilot",
        {"type": "assistant.message", "data": asked},
        {"type": "tool.execution_start", "data": {"toolCallId": "c", "toolName": "bash", "arguments": {}}},
        {"type": "tool.execution_complete", "data": refusal},
    )
    assert events == [
        ToolCalled("c", "bash", '{"command":"x"}', "0"),
        ToolReturned("c", "Denied by preToolUse hook: no", Known.KNOWN, failed=True, denied=True),
    ]


@pytest.mark.parametrize("code", [53, 55])
def test_qwen_s_own_limits_are_told_by_its_exit_code(code: int) -> None:
    words = "Run aborted: tool-call budget of 2 exceeded (--max-tool-calls); observed 3."
    assert text("qwen", "", f"noise\n{words}", code=code) == [Finished(Finish.OWN_LIMIT, None, words)]
    assert finishes(told("qwen", {"type": "result", "subtype": "success", "is_error": False}, code=code)) == [Finish.OK]


def test_qwen_s_untrusted_folder_is_no_limit_of_its_own() -> None:
    events = text("qwen", "", "Qwen Code is not running in a trusted directory.", code=55)
    assert troubles(events) == [Trouble.MISCONFIGURED]
    assert finishes(events) == []


def test_qwen_s_parts_of_one_response_are_one_turn() -> None:
    write = next(c for c in captures() if c.name == "qwen-code-0.24.4/write")
    turns = [e.turn for e in heard(write) if isinstance(e, Said | ToolCalled)]
    assert turns == ["turn_1", "turn_1", "turn_2"]


def test_qwen_s_sub_agent_is_a_stream_of_its_own() -> None:
    call = {"type": "tool_use", "id": "c", "name": "read_file", "input": {}}
    back = {"type": "tool_result", "tool_use_id": "c", "is_error": True, "content": "gone"}
    events = told(
        "qwen",
        {"type": "assistant", "parent_tool_use_id": "task", "message": {"content": [call]}},
        {"type": "user", "parent_tool_use_id": "task", "message": {"content": [back]}},
    )
    assert events == [
        ToolCalled("c", "read_file", "{}", "turn_1", "task"),
        ToolReturned("c", "gone", Known.KNOWN, failed=True, stream="task"),
    ]


def test_qwen_announces_how_long_it_waits() -> None:
    data = {"reason": "retry", "attempt": 1, "maxRetries": 10, "delayMs": 60000}
    assert told("qwen", {"type": "system", "subtype": "retry", "data": data}) == [Retrying("retry", 60.0)]


def test_qwen_s_error_in_the_place_of_words_is_not_what_the_model_said() -> None:
    said = {"type": "assistant", "message": {"content": [{"type": "text", "text": "[API Error: 529 Overloaded]"}]}}
    assert told("qwen", said) == []


def test_an_agent_that_leaves_and_tells_nothing_after_its_end_has_no_afterword() -> None:
    for name in ("claude", "codex", "plain"):
        assert afterword(ADAPTERS[name].reader(), {"usage": b"{}"}, code=1) == ()


def test_outcomes_follow_the_table_of_each_agent() -> None:
    """The harder ones of the recordings, by name: exit codes alone would get each of these wrong."""
    wrong = {
        "aider-0.86.2/error429": "outage",
        "aider-0.86.2/refusal": "refused",
        "aider-0.86.2/max_tokens": "truncated",
        "copilot-cli-1.0.102/sigint": "failed",
        "gemini-cli-0.61.0/quota_per_day": "quota",
        "gemini-cli-0.61.0/sigterm_group": "failed",
        "mini-swe-agent-2.4.6/step_limit_cost": "own-limit",
        "opencode-1.18.33/max_tokens": "truncated",
        "qwen-code-0.24.4/max_tool_calls": "own-limit",
    }
    assert {c.name: outcome(c, heard(c)) for c in captures() if c.name in wrong} == wrong
