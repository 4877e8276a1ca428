"""What the conversation over the Agent Client Protocol says, and when: handshake, permissions, advice."""

from __future__ import annotations

import pytest

from ralph.agents.acp_talk import SAID_CAP
from ralph.agents.adapter import Ask, Permissions
from ralph.facts.event import (
    Finish,
    Finished,
    Started,
    ToolCalled,
    ToolReturned,
    Trouble,
    Troubled,
)
from ralph.facts.steer import Answer, Asked
from tests.agents.acp_line import HELLO, OPENED, Line, Table, call, done, opened, permission, result, said


def test_the_prompt_follows_the_session() -> None:
    line = Line()
    assert line.methods == ["initialize"]
    assert line.sent[0]["params"]["clientCapabilities"]["fs"] == {"readTextFile": False, "writeTextFile": False}
    assert line.hear(HELLO).methods[-1] == "session/new"
    assert line.sent[-1]["params"] == {"cwd": "/repo", "mcpServers": []}
    line.hear(OPENED)
    assert (line.methods[-1], line.prompts) == ("session/prompt", ["Do it."])
    assert line.events == [Started("s", None, "1.2")]


MODES = [("default", "d"), ("autoEdit", "a"), ("yolo", "y"), ("plan", "p")]
AS_MODES = {"modes": {"currentModeId": "default", "availableModes": [{"id": m, "name": n} for m, n in MODES]}}
OPTION = {"id": "m", "category": "mode", "type": "select", "options": [{"value": m, "name": n} for m, n in MODES]}


@pytest.mark.parametrize(("permissions", "mode"), [("ask-nothing", "yolo"), ("edits", "autoEdit"), ("own", None)])
@pytest.mark.parametrize("as_option", [False, True])
def test_the_session_is_put_into_the_mode_of_these_permissions(
    permissions: Permissions, mode: str | None, as_option: bool
) -> None:
    offered: Table = {"configOptions": [OPTION]} if as_option else AS_MODES
    line = Line(Ask((), permissions=permissions)).hear(HELLO, {"id": 2, "result": {"sessionId": "s", **offered}})
    if mode is None:
        assert line.methods[-1] == "session/prompt"
        return
    params = {"configId": "m", "value": mode} if as_option else {"modeId": mode}
    assert line.sent[-1]["params"] == {"sessionId": "s", **params}
    assert line.hear({"id": 4, "result": None}).methods[-1] == "session/prompt"


def test_a_mode_that_is_refused_is_a_warning_and_the_work_begins() -> None:
    """Gemini in a folder nobody trusts."""
    line = Line().hear(HELLO, {"id": 2, "result": {"sessionId": "s", **AS_MODES}})
    line.hear(
        {"id": 4, "error": {"code": -32603, "message": "Internal error", "data": {"details": "untrusted folder"}}}
    )
    assert line.methods[-1] == "session/prompt"
    assert line.told(Troubled) == [Troubled(Trouble.MISCONFIGURED, "Internal error: untrusted folder", final=False)]


MODELS = {"models": {"currentModelId": "small", "availableModels": [{"modelId": "b|1", "name": "big"}]}}
MODEL_OPTION = {"configOptions": [{"id": "mo", "category": "model", "options": [{"value": "b|1", "name": "big"}]}]}


@pytest.mark.parametrize(
    ("offered", "method", "params"),
    [
        (MODELS, "session/set_model", {"modelId": "b|1"}),
        (MODEL_OPTION, "session/set_config_option", {"configId": "mo", "value": "b|1"}),
    ],
)
@pytest.mark.parametrize("named", ["big", "b|1"])
def test_a_model_is_chosen_by_id_or_name(offered: Table, method: str, params: Table, named: str) -> None:
    line = Line(Ask((), model=named)).hear(HELLO, {"id": 2, "result": {"sessionId": "s", **offered}})
    assert (line.sent[-1]["method"], line.sent[-1]["params"]) == (method, {"sessionId": "s", **params})
    assert line.hear({"id": 3, "result": {}}).methods[-1] == "session/prompt"


@pytest.mark.parametrize(
    ("messages", "kind", "words"),
    [
        ([HELLO, {"id": 2, "error": {"code": -32000, "message": "Auth"}}], Trouble.AUTH, "Auth"),
        ([HELLO, {"id": 2, "error": {"code": -32603, "message": "?"}}], Trouble.MISCONFIGURED, "?"),
        ([HELLO, {"id": 2, "result": {}}], Trouble.MISCONFIGURED, "without an id"),
        ([{"id": 1, "result": {"protocolVersion": 2}}], Trouble.MISCONFIGURED, "version 2"),
        ([{"id": 1, "result": {}}], Trouble.MISCONFIGURED, "version null"),
        ([HELLO, {"id": 2, "result": {"sessionId": "s", **MODELS}}], Trouble.MISCONFIGURED, "it offers b|1"),
        ([HELLO, OPENED], Trouble.MISCONFIGURED, "lets nobody choose"),
    ],
)
def test_a_session_that_cannot_be_had_is_told_and_the_conversation_is_over(
    messages: list[Table], kind: Trouble, words: str
) -> None:
    line = Line(Ask((), model="huge")).hear(*messages)
    (trouble,) = line.told(Troubled)
    assert (trouble.kind, trouble.final) == (kind, True)
    assert words in trouble.text
    assert line.talk.is_over()
    assert line.prompts == []


# permissions


def outcome(line: Line) -> Table:
    found: Table = [m for m in line.sent if m.get("id") == 77][-1]["result"]["outcome"]
    return found


def test_what_may_run_is_allowed_once_and_the_question_is_that_of_the_call() -> None:
    line = opened().hear(call(1, "pending"), permission(1, "allow_always", "allow_once", rawInput={"command": "other"}))
    assert outcome(line) == {"outcome": "selected", "optionId": "allow_once!"}
    assert line.asked == [Asked("before", "shell", '{"command":"run 1"}', "c1")]
    (called,) = line.told(ToolCalled)
    assert (called.name, called.args) == (line.asked[0].tool, line.asked[0].args)


@pytest.mark.parametrize(
    ("permissions", "kind", "allowed"),
    [("own", "read", False), ("edits", "edit", True), ("edits", "execute", False), ("edits", "odd", False)],
)
def test_nobody_allows_what_the_permissions_do_not(permissions: Permissions, kind: str, allowed: bool) -> None:
    line = opened(ask=Ask((), permissions=permissions)).hear(permission(1, kind=kind), said("So."))
    assert outcome(line)["optionId"] == ("allow_once!" if allowed else "reject_once!")
    assert [r.denied for r in line.told(ToolReturned)] == ([] if allowed else [True])
    assert "session/cancel" not in line.methods


def test_a_refusal_is_the_reject_option_and_its_reason_the_next_prompt() -> None:
    line = opened(answer=lambda _: Answer("deny", "Not that again.")).hear(permission(1))
    assert outcome(line) == {"outcome": "selected", "optionId": "reject_once!"}
    assert line.methods[-1] == "session/cancel"
    line.hear(result(stop="end_turn"))
    assert line.prompts == ["Do it.", "Not that again."]
    assert line.told(Finished) == []
    assert [(r.denied, r.failed) for r in line.told(ToolReturned)] == [(True, True)]
    line.hear(said("Fine."), result(6))
    assert [f.how for f in line.told(Finished)] == [Finish.OK]
    assert line.talk.is_over()


def test_the_same_reason_is_said_once() -> None:
    line = opened(answer=lambda _: Answer("deny", "No."))
    line.hear(permission(1), result(stop="cancelled"), permission(2), permission(3))
    assert line.prompts == ["Do it.", "No."]
    assert line.methods.count("session/cancel") == 1
    assert outcome(line)["optionId"] == "reject_once!"


def test_an_agent_without_a_fitting_option_is_answered_all_the_same() -> None:
    assert outcome(opened().hear(permission(1, "reject_once"))) == {"outcome": "cancelled"}


def test_requests_that_nobody_serves_are_declined() -> None:
    for method in ("fs/read_text_file", "terminal/create", "craft/drainMidTurnQueue", "anything"):
        line = opened().hear({"id": "x", "method": method, "params": {}})
        assert (line.sent[-1]["id"], line.sent[-1]["error"]["code"]) == ("x", -32601)


# advice


def test_an_agent_that_does_not_ask_is_cut_at_once_and_hears_its_task_again() -> None:
    line = opened().hear(call(1), done(1))
    line.says("Look elsewhere.")
    assert line.sent[-1] == {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s"}}
    line.hear(call(2), result(stop="cancelled"))
    assert line.prompts[1].startswith("Look elsewhere.\n\n")
    assert line.prompts[1].endswith("Do it.")
    assert line.told(Finished) == []
    last = line.told(ToolReturned)[-1]
    assert (last.id, last.failed, last.result) == ("c2", True, "interrupted by the user")


@pytest.mark.parametrize("next_call", [permission(2), call(2, kind="read")])
def test_an_agent_that_asks_is_cut_at_its_next_call(next_call: Table) -> None:
    """Gemini forgets a turn that is cut while its model answers."""
    line = opened().hear(permission(1), done(1))
    line.says("Look elsewhere.")
    assert "session/cancel" not in line.methods
    line.hear(said("Once more."), next_call)
    assert line.methods[-1] == "session/cancel"
    line.hear(result(stop="cancelled"))
    assert line.prompts == ["Do it.", "Look elsewhere."]


def test_advice_that_comes_too_late_is_left_for_the_next_iteration() -> None:
    line = opened().hear(permission(1), done(1))
    line.says("Look elsewhere.")
    line.hear(said("Done."), result())
    assert line.talk.is_over()
    assert [f.how for f in line.told(Finished)] == [Finish.OK]
    assert line.talk.unsaid() == ("Look elsewhere.",)
    assert line.talk.says("More.") == b""


def test_a_cancelled_prompt_may_end_as_an_error() -> None:
    line = opened().hear(call(1), done(1))
    line.says("Look elsewhere.")
    line.hear({"id": 5, "error": {"code": -32603, "message": "aborted"}})
    assert len(line.prompts) == 2
    assert line.told(Troubled) == line.told(Finished) == []


def test_no_more_than_so_many_prompts_are_ours() -> None:
    line = opened()
    for n in range(SAID_CAP + 10):
        line.says(f"advice {n}")
        line.hear(result(5 + n, "cancelled"))
    assert len(line.prompts) == SAID_CAP + 1
