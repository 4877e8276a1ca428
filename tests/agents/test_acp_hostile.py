"""No bytes of an agent break the conversation over the Agent Client Protocol, flood it, or command us."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ralph.agents import adapter
from ralph.agents.acp import Acp
from ralph.agents.acp_call import CALLS_CAP, Standing
from ralph.agents.acp_stream import AcpReader
from ralph.agents.fields import TEXT_CAP
from ralph.facts.event import (
    Said,
)
from ralph.facts.steer import ALLOW, Answer
from tests.agents.acp_line import ASK, HELLO, OPENED, Line, Table, call, done, opened, permission, result, said, update

EXAMPLES: list[Table] = [
    HELLO,
    OPENED,
    said("I look."),
    call(1, "pending", rawInput={}),
    call(1, sessionUpdate="tool_call_update"),
    permission(1),
    permission(2, kind="edit", content=[{"type": "diff", "path": "/a", "oldText": None, "newText": "x"}]),
    done(1, rawOutput={"output": "x", "metadata": {"exit": 1}}),
    update(sessionUpdate="usage_update", used=1, size=2, cost={"amount": 1.5, "currency": "USD"}),
    {"id": 9, "method": "fs/read_text_file", "params": {}},
    result(usage={"inputTokens": 1, "outputTokens": 2}),
    {"id": 5, "error": {"code": -32000, "message": "no"}},
]
WILD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
FEW = settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)


def put(value: object, path: list[int], wild: object) -> object:
    """Return the value with what stands at the end of the path replaced."""
    if not path or not isinstance(value, dict | list) or not value:
        return wild
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = keys[path[0] % len(keys)]
    changed = dict(value) if isinstance(value, dict) else dict(enumerate(value))
    changed[key] = put(changed[key], path[1:], wild)
    return changed if isinstance(value, dict) else list(changed.values())


@FEW
@given(
    st.lists(
        st.tuples(st.sampled_from(EXAMPLES), st.lists(st.integers(0, 9), max_size=6), WILD, st.booleans()), max_size=12
    ),
    st.sampled_from([ALLOW, Answer("deny", "no"), Answer("advise", "hm")]),
)
def test_no_message_makes_it_raise_and_all_it_writes_is_json_lines(
    messages: list[tuple[Table, list[int], object, bool]], answer: Answer
) -> None:
    line = opened(answer=lambda _: answer)
    for message, path, wild, whole in messages:
        line.hear(message if whole else put(message, path, wild))
        line.says("advice")
    line.events += line.reader.end()
    assert all(m["jsonrpc"] == "2.0" for m in line.sent)
    assert all(len(e.text) <= TEXT_CAP for e in line.told(Said))


@FEW
@given(st.lists(st.binary(max_size=60) | st.sampled_from([json.dumps(m).encode() for m in EXAMPLES]), max_size=20))
def test_no_bytes_make_it_raise(lines: list[bytes]) -> None:
    line = Line().hear(*lines)
    line.events += line.reader.end()
    assert line.methods[0] == "initialize"


@given(st.lists(st.integers(1, 40), max_size=30))
def test_how_words_are_cut_into_pieces_changes_nothing(cuts: list[int]) -> None:
    text = "The quick brown fox jumps over the lazy dog. " * 4
    pieces: list[str] = []
    for size in [*cuts, len(text)]:
        pieces, text = [*pieces, text[:size]], text[size:]
    line = opened().hear(*map(said, filter(None, pieces)), result())
    assert [s.text for s in line.told(Said)] == ["The quick brown fox jumps over the lazy dog. " * 4]


def test_what_an_agent_leaves_open_is_bounded() -> None:
    standing = Standing()
    reader = AcpReader(standing)
    for n in range(3 * CALLS_CAP):
        reader.line("out", json.dumps(call(n, title="t" * 100_000)).encode())
    assert len(standing.calls) == CALLS_CAP
    assert max(len(c.title) for c in standing.calls.values()) <= 4096


def test_a_forged_answer_opens_no_second_session_and_ids_that_cannot_be_echoed_get_none() -> None:
    line = opened().hear(HELLO, OPENED, {"id": 1, "result": {"protocolVersion": 1}})
    assert line.methods.count("session/new") == line.methods.count("session/prompt") == 1
    before = len(line.sent)
    for id_ in (None, True, 1.5, [1], {"a": 1}, 1 << 70, "x" * 9000):
        line.hear({"id": id_, "method": "fs/read_text_file"})
    assert len(line.sent) == before


def test_it_is_started_as_typed_and_is_no_agent_that_is_looked_for() -> None:
    lane = Acp().conversed(ASK)
    assert lane.launch.argv == ("/opt/agent", "--acp", "--own")
    assert (lane.launch.feed, lane.asks) == ("conversed", False)
    assert adapter("acp").programs == ()
