"""No bytes make a parser raise, and how the output was cut, wrapped or repeated changes nothing that it tells."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ralph.agents import ADAPTERS
from ralph.agents.copilot_stream import USAGE
from ralph.agents.fields import TEXT_CAP, canonical, count, micro, seconds, shortened
from ralph.agents.lines import PENDING_CAP
from ralph.agents.mini_trajectory import TRAJECTORY
from ralph.facts.event import (
    Event,
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
from tests.agents.captures import Capture, archived, captures, events_of

STREAMING = ("claude", "codex", "gemini", "opencode", "copilot", "qwen", "amp", "cursor")
FILES = {TRAJECTORY: b"", USAGE: b""}
RUNS = [pytest.param(c, id=c.name) for c in captures() if c.agent in STREAMING and c.out.startswith(b"{")]
LINES = sorted({line for c in captures() for line in c.out.split(b"\n") if line.startswith(b"{") and len(line) < 3000})
WORDS = sorted({line for c in captures() for line in c.out.split(b"\n") if c.agent in ("aider", "mini")})
DOCUMENTS = [
    ("copilot", USAGE, next(data for name, data in archived().items() if name.endswith("usage_output_file.json"))),
    *(("mini", TRAJECTORY, data) for c in captures() for data in c.files.values()),
]
WILD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
FEW = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)


def put(value: object, path: list[int], wild: object) -> object:
    """Return the value with what stands at the end of the path replaced."""
    if not path or not isinstance(value, dict | list) or not value:
        return wild
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = keys[path[0] % len(keys)]
    changed = dict(value) if isinstance(value, dict) else dict(enumerate(value))
    changed[key] = put(changed[key], path[1:], wild)
    return changed if isinstance(value, dict) else list(changed.values())


def check(events: list[Event]) -> None:
    """Every text can be hashed and written, every figure is a sane number."""
    for event in events:
        for name in event.__slots__:
            value = getattr(event, name)
            if isinstance(value, str):
                value.encode("utf-8")
                assert len(value) <= TEXT_CAP + 64
        if isinstance(event, UsageSeen):
            assert event.micro is None or event.micro >= 0
            assert event.tokens is None or min(event.tokens.input, event.tokens.output) >= 0


@FEW
@given(st.sampled_from(LINES), st.lists(st.integers(0, 40), max_size=5), WILD, st.sampled_from(STREAMING))
def test_b5_any_value_in_any_place_is_no_exception(line: bytes, path: list[int], wild: object, agent: str) -> None:
    changed = json.dumps(put(json.loads(line), path, wild)).encode()
    check(events_of(agent, [changed, line, changed]))


@FEW
@given(
    st.lists(st.binary(max_size=60) | st.sampled_from(LINES) | st.sampled_from(WORDS), max_size=8),
    st.sampled_from(list(ADAPTERS)),
    st.none() | st.integers(0, 255),
)
def test_b5_any_bytes_are_no_exception(lines: list[bytes], agent: str, code: int | None) -> None:
    left = dict.fromkeys(FILES, b"\n".join(lines))
    check(events_of(agent, lines, lines, files=left, code=code))


@FEW
@given(st.lists(st.integers(0, 40), max_size=7), WILD, st.sampled_from(DOCUMENTS))
def test_b5_any_value_in_any_place_of_a_file_is_no_exception(
    path: list[int], wild: object, document: tuple[str, str, bytes]
) -> None:
    agent, name, data = document
    changed = json.dumps(put(json.loads(data), path, wild)).encode()
    check(events_of(agent, [], files={name: changed}, code=0))


@pytest.mark.parametrize("document", DOCUMENTS[:3])
@pytest.mark.parametrize(
    "data", [b"", b"{", b"null", b"[1]", b"[" * 100_000, b"\xff", b'{"messages":[{"role":"exit"}]}']
)
def test_b5_a_file_that_is_no_document_tells_nothing(document: tuple[str, str, bytes], data: bytes) -> None:
    agent, name, _ = document
    assert events_of(agent, [], files={name: data}) == []


@pytest.mark.parametrize("agent", ["aider", "mini"])
@pytest.mark.parametrize("line", [b"x" * (1 << 20), b"\xff" * 5000, b"```", b"Tool:", b"litellm.X: " + b"y" * 99_999])
def test_text_without_end_is_held_up_to_a_cap(agent: str, line: bytes) -> None:
    reader = ADAPTERS[agent].reader()
    starts = (b"Repo-map: x", b"mini-swe-agent (step 1, $0.00):")
    events = [e for piece in (*starts, *([line] * 300)) for e in reader.line("out", piece)]
    check([*events, *reader.end()])
    held = (getattr(reader, name, ()) for name in ("_said", "_block", "_error", "_exit", "_open"))
    assert sum(sum(map(len, part)) if part else 0 for part in held) < 1 << 20


@pytest.mark.parametrize("agent", STREAMING)
@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"result","usage":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"type":"result","num_turns":1' + b"0" * 5000 + b"}",
        b'{"type":"result","total_cost_usd":NaN,"is_error":false}',
        b'{"type":"result","total_cost_usd":-1e999,"is_error":false}',
        b'{"type":"item.completed","item":{"id":1e400,"type":"agent_message","text":"\\ud800"}}',
        b'{"type":"assistant","message":{"content":"\\udfff"}}',
        b'{"type":{},"uuid":[]}',
        b'{"type":"assistant","message":{"content":[{"type":"text","text":"' + b"x" * 300_000 + b'"}]}}',
        b"\xef\xbb\xbf{}",
        b"null",
        b"[1,2,[]]",
        b'{"type":"result"} trailing',
        b"{" * 5000,
    ],
    ids=lambda line: line[:24].decode("latin-1") if isinstance(line, bytes) else None,
)
def test_b5_hostile_json_is_no_exception(agent: str, line: bytes) -> None:
    check(events_of(agent, [line] * 2))


@pytest.mark.parametrize("capture", RUNS)
def test_r017_an_array_a_document_and_lines_tell_the_same(capture: Capture) -> None:
    records = [json.loads(line) for line in capture.out.split(b"\n") if line]
    told = events_of(capture.agent, capture.out.split(b"\n"))
    array = json.dumps(records).encode()
    assert events_of(capture.agent, [array]) == told
    assert events_of(capture.agent, json.dumps(records, indent=1).encode().split(b"\n")) == told
    assert events_of(capture.agent, [b"starting up", array]) == told


@pytest.mark.parametrize("capture", RUNS)
def test_blank_lines_carriage_returns_and_noise_change_nothing(capture: Capture) -> None:
    lines = capture.out.split(b"\n")
    noisy = [piece for line in lines for piece in (line + b"\r", b"", b"npm notice", b"{half", b'{"type":"new"}')]
    assert events_of(capture.agent, noisy) == events_of(capture.agent, lines)


@pytest.mark.parametrize("capture", [p for p in RUNS if str(p.id).startswith("claude")])
def test_an_event_printed_twice_counts_once(capture: Capture) -> None:
    lines = capture.out.split(b"\n")
    assert events_of("claude", [line for line in lines for _ in range(2)]) == events_of("claude", lines)


def test_output_that_is_no_json_is_held_up_to_a_cap() -> None:
    reader = ADAPTERS["claude"].reader()
    for _ in range(3 * PENDING_CAP // (1 << 20)):
        assert reader.line("out", b"x" * (1 << 20)) == ()
    assert reader.end() == ()


def test_a_long_text_keeps_both_ends_and_differs_where_its_middle_does() -> None:
    one, cut = shortened("a" * 100_000 + "b" + "a" * 100_000)
    other, _ = shortened("a" * 100_000 + "c" + "a" * 100_000)
    assert cut
    assert len(one) <= TEXT_CAP
    assert one != other


def test_long_arguments_keep_their_short_ones() -> None:
    args = canonical({"file_path": "/repo/a.py", "content": "x" * 200_000})
    assert args is not None
    assert json.loads(args)["file_path"] == "/repo/a.py"
    assert len(args) <= TEXT_CAP
    assert canonical({"a": ["x" * 200_000]}) != canonical({"a": ["y" * 200_000]})
    assert canonical({"b": 1, "a": 2}) == '{"a":2,"b":1}'


@pytest.mark.parametrize("reading", [count, micro, seconds])
@pytest.mark.parametrize("value", [None, True, "5", -1, float("nan"), float("inf"), 10**400, 1e300, [5], {}])
def test_a_figure_that_is_none_is_unknown(reading: Callable[[object], object], value: object) -> None:
    assert reading(value) is None


@pytest.mark.parametrize(
    ("dollars", "micros"), [(0.022000000000000002, 22_000), (0.0000001, 1), (0, 0), (1.5, 1_500_000)]
)
def test_dollars_become_whole_micro_dollars_rounded_up(dollars: float, micros: int) -> None:
    assert micro(dollars) == micros


def claude(*records: object) -> list[Event]:
    return events_of("claude", [json.dumps(r).encode() for r in records])


def result(**fields: object) -> dict[str, object]:
    return {"type": "result", "subtype": "success", "is_error": False, **fields}


def test_r016_two_results_are_both_told_and_their_dollars_are_the_session_s() -> None:
    events = claude(
        result(result="good", total_cost_usd=0.40), result(is_error=True, result="API Error: 500", total_cost_usd=0)
    )
    assert [(e.how, e.answer) for e in events if isinstance(e, Finished)] == [
        (Finish.OK, "good"),
        (Finish.FAILED, None),
    ]
    money = [(e.scope, e.micro) for e in events if isinstance(e, UsageSeen)]
    assert money == [(Scope.SESSION, 400_000), (Scope.SESSION, 0)]


def test_results_that_each_tell_their_own_part_add_up() -> None:
    part = {"usage": {"input_tokens": 10, "output_tokens": 1}, "total_cost_usd": 99}
    one = {**part, "model_usage_since_last_result": {"m": {"costUSD": 0.25}, "n": {"costUSD": 0.25}}}
    events = claude(result(uuid="a", **one), result(uuid="b", **one), result(uuid="b", **one))
    assert [e.micro for e in events if isinstance(e, UsageSeen)] == [500_000, 1_000_000]
    assert events[-2] == UsageSeen(Scope.RUN, "", Tokens(20, 2), 1_000_000)


def test_a_call_s_usage_only_grows_and_keeps_its_model() -> None:
    start = {"type": "message_start", "message": {"id": "m1", "model": "o", "usage": {"input_tokens": 7}}}
    delta = {"type": "message_delta", "usage": {"output_tokens": 30}}
    partial = [{"type": "stream_event", "event": e, "parent_tool_use_id": None} for e in (start, delta)]
    final = {"type": "assistant", "message": {"id": "m1", "usage": {"input_tokens": 7, "output_tokens": 1}}}
    assert claude(*partial, final) == [
        UsageSeen(Scope.CALL, "m1", Tokens(7, 0), None, "o"),
        UsageSeen(Scope.CALL, "m1", Tokens(7, 30), None, "o"),
    ]


def test_a_sub_agent_has_a_stream_of_its_own() -> None:
    use = {"type": "tool_use", "id": "t", "name": "Read", "input": {}}
    back = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "ok"}, {"type": "image"}]}
    events = claude(
        {"type": "assistant", "parent_tool_use_id": "task1", "message": {"id": "m", "content": [use]}},
        {"type": "user", "parent_tool_use_id": "task1", "message": {"content": [back]}},
        {
            "type": "assistant",
            "parent_tool_use_id": "task1",
            "error": "server_error",
            "message": {"content": "Overloaded"},
        },
    )
    assert events[0] == ToolCalled("t", "Read", "{}", "m", "task1")
    assert isinstance(events[1], ToolReturned)
    assert events[1].stream == "task1"
    assert isinstance(events[2], Troubled)
    assert not events[2].final


def test_a_denial_told_only_by_the_result_is_told() -> None:
    denial = {"tool_name": "Write", "tool_use_id": "t"}
    events = claude(result(permission_denials=[denial, "junk", None]))
    assert events[0] == ToolReturned("t", "", Known.UNKNOWN, failed=True, denied=True)


def test_an_old_rate_limit_text_is_a_quota_with_the_event_s_reset() -> None:
    """Older versions call a used-up plan `rate_limit`."""
    event = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1796018803}}
    said = {"type": "assistant", "error": "rate_limit", "message": {"content": "Claude AI usage limit reached"}}
    final = [e for e in claude(event, said) if isinstance(e, Troubled) and e.final]
    assert [(e.kind.value, e.until and e.until.timestamp()) for e in final] == [("quota", 1796018803.0)]


def test_r023_words_in_a_good_answer_are_no_trouble() -> None:
    events = claude(result(result="handles RateLimitError, 401 and 'usage limit reached'; is_error: true"))
    assert not [e for e in events if isinstance(e, Troubled)]


@pytest.mark.parametrize(
    "words",
    [
        "Claude AI usage limit reached|1796018803",
        "You've hit your 5-hour limit · resets 6:06am (UTC)",
        "5-hour limit reached ∙ resets 3pm",
        "You’re out of extra usage · resets 6pm (UTC)",
    ],
)
def test_r055_r063_a_limit_notice_told_as_a_success_is_a_quota(words: str) -> None:
    troubles = [e for e in claude(result(result=words)) if isinstance(e, Troubled)]
    assert [(t.kind, t.final, t.until is not None) for t in troubles] == [(Trouble.QUOTA, True, "|" in words)]
    assert [e for e in events_of("plain", [b"working", words.encode()]) if isinstance(e, Troubled)]
    assert ADAPTERS["plain"].diagnose(words.encode() + b"\n") == (Trouble.QUOTA, words)


@pytest.mark.parametrize("words", ["I made 'usage limit reached' a constant.", "usage limit reached handling: done"])
def test_r023_an_answer_about_limits_is_no_notice(words: str) -> None:
    assert not [e for e in claude(result(result=words)) if isinstance(e, Troubled)]
    assert not [e for e in events_of("plain", [words.encode()]) if isinstance(e, Troubled)]


def test_r073_the_sum_of_the_models_counts_where_it_is_larger() -> None:
    models = {"a": {"costUSD": 0.50}, "b": {"costUSD": 0.05}, "c": "junk"}
    events = claude(result(total_cost_usd=0.10, modelUsage=models))
    assert [e.micro for e in events if isinstance(e, UsageSeen)] == [550_000]


def codex(*records: object, err: tuple[bytes, ...] = ()) -> list[Event]:
    return events_of("codex", [json.dumps(r).encode() for r in records], err)


@pytest.mark.parametrize(
    ("wrapped", "command"),
    [
        ("/bin/bash -lc 'echo hi; ls'", "echo hi; ls"),
        ("/bin/bash -lc \"python3 -c 'x' & wait\"", "python3 -c 'x' & wait"),
        ('bash -lc "echo \\"$HOME\\" \\$x"', 'echo "$HOME" $x'),
        ("/usr/bin/zsh -lc 'a\nb'", "a\nb"),
        ("ls -l", "ls -l"),
    ],
)
def test_the_shell_around_a_command_is_taken_off(wrapped: str, command: str) -> None:
    item = {"id": "i", "type": "command_execution", "command": wrapped, "status": "in_progress"}
    called = codex({"type": "item.started", "item": item})[0]
    assert isinstance(called, ToolCalled)
    assert json.loads(called.args or "") == {"command": command}


def test_r014_a_failed_turn_is_a_failure_whatever_the_exit_code() -> None:
    assert codex({"type": "turn.failed", "error": {"message": "boom"}}) == [Finished(Finish.FAILED, None, "boom")]


def test_an_error_that_no_closing_event_followed_is_told_at_the_end() -> None:
    events = codex({"type": "error", "message": "unexpected status 503 Service Unavailable"})
    assert [(e.kind.value, e.final) for e in events if isinstance(e, Troubled)] == [("outage", True)]
    recovered = codex({"type": "error", "message": "503"}, {"type": "turn.completed", "usage": {}})
    assert not [e for e in recovered if isinstance(e, Troubled)]


def test_r022_an_edit_refused_on_stderr_only_is_a_denied_call() -> None:
    line = (
        b"2026-11-30T03:10:06Z ERROR codex_core::tools::router: error=patch rejected: writing is blocked by read-only"
    )
    called, returned = codex(err=(line,))
    assert isinstance(called, ToolCalled)
    assert isinstance(returned, ToolReturned)
    assert returned.denied


def test_a_finished_item_that_never_started_is_call_and_return() -> None:
    item = {"id": "i", "type": "mcp_tool_call", "server": "s", "tool": "t", "arguments": {"a": 1}, "result": {"b": 2}}
    assert codex({"type": "item.completed", "item": {**item, "status": "declined"}}) == [
        ToolCalled("i", "s:t", '{"a":1}', "turn_1"),
        ToolReturned("i", '[{"b":2},null]', Known.KNOWN, failed=True, denied=True),
    ]


def test_a_plain_program_s_tail_is_its_answer() -> None:
    lines = [b"line %d" % n for n in range(20_000)]
    (said,) = events_of("plain", [*lines, b"<done/>\xff"], [b"noise"])
    assert isinstance(said, Said)
    assert said.text.endswith("line 19999\n<done/>\ufffd")
    assert len(said.text) <= 16 << 10
    assert events_of("plain", [b"", b"  "]) == []
