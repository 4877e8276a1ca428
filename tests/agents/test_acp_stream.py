"""What an agent tells over the Agent Client Protocol: stop reasons, errors, words, calls, results, usage."""

from __future__ import annotations

import pytest

from ralph.facts.event import (
    Finish,
    Finished,
    Known,
    Said,
    Scope,
    ToolCalled,
    ToolReturned,
    Trouble,
    Troubled,
    UsageSeen,
)
from ralph.facts.usage import Tokens
from tests.agents.acp_line import Table, call, done, opened, permission, result, said, update


@pytest.mark.parametrize(
    ("stop", "how"),
    [
        ("end_turn", Finish.OK),
        ("max_tokens", Finish.TRUNCATED),
        ("max_turn_requests", Finish.OWN_LIMIT),
        ("refusal", Finish.REFUSED),
        ("cancelled", Finish.INTERRUPTED),
        ("made_up", Finish.FAILED),
    ],
)
def test_a_stop_reason_ends_it_as_itself(stop: str, how: Finish) -> None:
    line = opened().hear(said("Hm."), result(stop=stop))
    assert [f.how for f in line.told(Finished)] == [how]
    assert line.talk.is_over()


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": -32000, "message": "Authentication required"}, Trouble.AUTH),
        ({"code": 429, "message": "busy"}, Trouble.OUTAGE),
        ({"code": 500, "message": "You've hit your usage limit."}, Trouble.QUOTA),
        ({"code": -32603, "message": "Internal error", "data": {"details": "prompt is too long"}}, Trouble.CONTEXT),
    ],
)
def test_an_error_of_the_prompt_is_its_trouble(error: Table, kind: Trouble) -> None:
    line = opened().hear({"id": 5, "error": error})
    assert [t.kind for t in line.told(Troubled)] == [kind]
    assert [f.how for f in line.told(Finished)] == [Finish.FAILED]
    assert line.talk.is_over()


def test_words_in_pieces_are_one_message_and_results_begin_turns() -> None:
    line = opened().hear(said("I "), said("look."), call(1), done(1), said("Done."), result())
    assert line.told(Said) == [Said("I look.", "turn_1"), Said("Done.", "turn_2")]
    assert line.told(ToolCalled) == [ToolCalled("c1", "shell", '{"command":"run 1"}', "turn_1")]
    assert line.told(ToolReturned) == [ToolReturned("c1", "out", Known.KNOWN, None)]
    assert line.told(Finished)[0].turns == 2


def test_a_call_is_told_once_its_command_is_known_and_no_earlier() -> None:
    """opencode tells the folder first: all its commands would be the same call."""
    line = opened().hear(call(1, "pending", rawInput={"cwd": "/repo"}))
    assert line.told(ToolCalled) == []
    line.hear(call(1, sessionUpdate="tool_call_update", rawInput={"command": "ls", "cwd": "/repo"}))
    assert [c.args for c in line.told(ToolCalled)] == ['{"command":"ls","cwd":"/repo"}']


def test_without_arguments_title_and_place_stand_for_them() -> None:
    """Gemini."""
    place = [{"path": "/repo/a.py"}]
    line = opened().hear(permission(1), call(2, kind="read", title="a.py", rawInput=None, locations=place))
    assert [c.args for c in line.told(ToolCalled)] == ['{"command":"run 1"}', '{"path":"/repo/a.py","title":"a.py"}']


def test_two_edits_of_one_file_are_two_calls_unless_they_are_the_same() -> None:
    def edit(number: int, new: str) -> Table:
        content = [{"type": "diff", "path": "/repo/a.py", "oldText": "", "newText": new}]
        return call(number, kind="edit", title="Writing", rawInput=None, content=content)

    args = [c.args for c in opened().hear(edit(1, "a"), edit(2, "b"), edit(3, "a")).told(ToolCalled)]
    assert args[0] == args[2] != args[1]


def test_what_describes_a_call_is_not_its_result() -> None:
    """Gemini describes the call where it asks, and tells no result of a command."""
    about = [{"type": "content", "content": {"type": "text", "text": "[current working directory /repo]"}}]
    line = opened().hear(permission(1, content=about), done(1, None))
    assert [(r.result, r.known) for r in line.told(ToolReturned)] == [("", Known.UNKNOWN)]


@pytest.mark.parametrize(
    ("fields", "failed"),
    [
        ({"rawOutput": {"metadata": {"exit": 3}}}, True),
        ({"rawOutput": {"exitCode": 0}}, False),
        ({"rawOutput": {"contents": [{"exitCode": 3}]}}, True),
        ({}, None),
        ({"status": "failed"}, True),
    ],
)
def test_a_completed_command_may_have_failed(fields: Table, failed: bool | None) -> None:
    fields = {"text": "x", **fields}
    line = opened().hear(call(1), done(1, **fields))
    assert [r.failed for r in line.told(ToolReturned)] == [failed]


def test_numbers_that_agents_add_do_not_make_results_differ() -> None:
    endings = ("\nProcess Group PGID: {n}", "\n<shellId: {n} completed with exit code 0>")
    for ending in endings:
        line = opened().hear(*(m for n in (1, 2) for m in (call(n), done(n, f"out{ending.format(n=n)}"))))
        assert len({r.result for r in line.told(ToolReturned)}) == 1


def test_usage_is_taken_in_every_way_in_which_it_is_told() -> None:
    meta = {"usage": {"inputTokens": 100, "outputTokens": 7, "cachedReadTokens": 40, "totalTokens": 107}}
    line = opened().hear(
        update(sessionUpdate="usage_update", used=5, size=9, cost={"amount": 0.0052, "currency": "USD"}),
        update(sessionUpdate="usage_update", used=5, size=9, cost={"amount": 3, "currency": "EUR"}),
        update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": ""}, _meta=meta),
        result(
            usage={"inputTokens": 50, "outputTokens": 2, "totalTokens": 52},
            _meta={"quota": {"token_count": {"input_tokens": 30, "output_tokens": 1}}},
        ),
    )
    assert line.told(UsageSeen) == [
        UsageSeen(Scope.RUN, "", None, 5200),
        UsageSeen(Scope.CALL, "call 1", Tokens(60, 7, 40)),
        UsageSeen(Scope.RUN, "", Tokens(50, 2)),
        UsageSeen(Scope.CALL, "prompt 5", Tokens(30, 1)),
    ]


def test_events_of_another_session_are_a_stream_of_their_own() -> None:
    other = {"method": "session/update", "params": {"sessionId": "sub", "update": said("In.")["params"]["update"]}}
    line = opened().hear(said("Out."), other, result())
    assert [(s.text, s.stream) for s in line.told(Said)] == [("Out.", ""), ("In.", "sub")]
