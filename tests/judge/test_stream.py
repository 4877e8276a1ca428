"""One agent's events folded: what is open, what is used, what was said last, and nothing that grows."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.facts.event import (
    Event,
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
from ralph.judge import stream, usage_fold
from ralph.judge.stream import RunMemory, StreamFacts, StreamFold
from tests.builders import START


def fold(*events: Event, memory: RunMemory | None = None) -> StreamFold:
    made = StreamFold(memory)
    for event in events:
        made.see(event)
    return made


def facts(*events: Event, memory: RunMemory | None = None) -> StreamFacts:
    return fold(*events, memory=memory).facts()


def call(id: str, *, turn: str = "", of: str = "") -> ToolCalled:  # noqa: A002 - the word of the event
    return ToolCalled(id, "Bash", None, turn, of)


def test_an_empty_stream_tells_nothing() -> None:
    assert facts() == StreamFacts()


def test_the_start_is_kept() -> None:
    told = facts(Started("s1", "m1"), Started(None, "m2", "2.0"))
    assert (told.session, told.model, told.version) == ("s1", "m1", "2.0")


def test_silence_is_excused_while_a_tool_is_open() -> None:
    made = fold(call("1"), call("2"), ToolReturned("1", "x"))
    assert made.excused()
    made.see(ToolReturned("2", "x"))
    assert not made.excused()
    made.see(ToolReturned("never called", "x"))
    assert not made.excused()


def test_silence_is_excused_after_an_announced_wait_until_the_next_event() -> None:
    made = fold(Retrying("overloaded", 60.0))
    assert made.excused()
    made.see(Said("back"))
    assert not made.excused()


def test_nothing_is_open_after_the_terminal_event() -> None:
    made = fold(call("1"), Finished(Finish.OK))
    assert (made.excused(), made.finished()) == (False, True)


def test_turns_are_model_responses() -> None:
    told = facts(Said("a", "t1"), call("1", turn="t1"), call("2", turn="t1"), ToolReturned("1", "x"), Said("b", "t2"))
    assert (told.turns, told.tools) == (2, 2)


def test_turns_without_ids_begin_after_a_result() -> None:
    told = facts(Said("a"), call("1"), ToolReturned("1", "x"), ToolReturned("2", "x"), call("3"), call("4"))
    assert told.turns == 2


def test_turns_of_sub_agents_count_on_their_own() -> None:
    assert facts(call("1", turn="a"), call("2", turn="b", of="sub"), call("3", turn="a")).turns == 2
    assert fold(call("1", turn="a")).turns == 1


def test_turns_that_are_told_count_upward_only() -> None:
    assert facts(Finished(Finish.OK, turns=7)).turns == 7
    assert facts(call("1", turn="a"), Finished(Finish.OK, turns=0)).turns == 1


def test_the_answer_is_the_final_message_or_the_last_words() -> None:
    assert facts(Said("first"), Said("last")).answer == "last"
    assert facts(Said("la", "t"), Said("st", "t")).answer == "last"
    assert facts(Said("x"), Said("of a helper", stream="sub")).answer == "x"
    assert facts(Said("x"), Finished(Finish.OK, "told")).answer == "told"
    assert facts(Said("x"), Finished(Finish.OK)).answer == "x"
    assert facts(Finished(Finish.OK)).answer is None


def test_the_end_of_long_words_is_kept() -> None:
    """A promise stands on the last line."""
    long = "x" * (stream.TEXT_CAP + 5) + "DONE"
    for told in (facts(Said(long)), facts(Finished(Finish.OK, long))):
        assert told.answer is not None
        assert len(told.answer) == stream.TEXT_CAP
        assert told.answer.endswith("DONE")


@pytest.mark.parametrize(
    ("endings", "kept", "conflicting"),
    [
        ([Finish.OK, Finish.FAILED], Finish.OK, True),
        ([Finish.FAILED, Finish.OK], Finish.OK, True),
        ([Finish.OK, Finish.OK], Finish.OK, False),
        ([Finish.FAILED, Finish.REFUSED], Finish.REFUSED, True),
    ],
)
def test_the_first_good_result_stands_against_a_later_error(
    endings: list[Finish], kept: Finish, conflicting: bool
) -> None:
    """R016."""
    told = facts(*(Finished(how) for how in endings))
    assert told.finish is not None
    assert (told.finish.how, told.conflicting) == (kept, conflicting)


def test_cost_goes_upward_only() -> None:
    """R016: 0.40, never 0.80 and never 0."""
    told = facts(UsageSeen(Scope.RUN, micro=400_000), UsageSeen(Scope.RUN, micro=0))
    assert told.micro == 400_000


def test_calls_add_up_and_the_same_call_replaces_itself() -> None:
    told = facts(
        UsageSeen(Scope.CALL, "1", Tokens(10, 1)),
        UsageSeen(Scope.CALL, "1", Tokens(10, 5)),
        UsageSeen(Scope.CALL, "2", Tokens(20, 5), micro=7),
        UsageSeen(Scope.CALL, "2", Tokens(0, 0), micro=-7),
    )
    assert (told.tokens, told.micro) == (Tokens(30, 10), 7)


def test_the_larger_of_sum_and_total_counts() -> None:
    """R073."""
    assert facts(UsageSeen(Scope.RUN, micro=100), UsageSeen(Scope.CALL, "a", micro=550)).micro == 550


def test_a_resumed_session_counts_from_where_it_stood() -> None:
    """R074: a cumulative series is not added up."""
    memory = RunMemory()
    assert facts(UsageSeen(Scope.SESSION, "s", Tokens(2000), 20), memory=memory).tokens == Tokens(2000)
    second = facts(
        UsageSeen(Scope.SESSION, "s", Tokens(2500)), UsageSeen(Scope.SESSION, "s", Tokens(3000), 30), memory=memory
    )
    assert (second.tokens, second.micro) == (Tokens(1000), 10)
    assert facts(UsageSeen(Scope.SESSION, "s", Tokens(50)), memory=memory).tokens == Tokens(50)


def test_a_trouble_stays_until_the_agent_works_on() -> None:
    limit = Troubled(Trouble.OUTAGE, "529")
    assert facts(limit, Said("sorry")).trouble == limit
    recovered = facts(limit, call("1"))
    assert (recovered.trouble, recovered.warnings) == (None, 1)
    assert facts(limit, call("1", of="sub")).trouble == limit


def test_a_warning_is_no_trouble() -> None:
    told = facts(Troubled(Trouble.QUOTA, "80 % used", final=False), Retrying())
    assert (told.trouble, told.warnings) == (None, 2)


def test_what_follows_a_usage_limit_is_its_echo() -> None:
    until = START + timedelta(hours=1)
    told = facts(Troubled(Trouble.QUOTA, "limit", until), Troubled(Trouble.OUTAGE, "429"), Troubled(Trouble.QUOTA))
    assert told.trouble == Troubled(Trouble.QUOTA, "limit", until)
    assert facts(Troubled(Trouble.OUTAGE), Troubled(Trouble.QUOTA)).trouble == Troubled(Trouble.QUOTA)


def test_denied_tools_are_named() -> None:
    """R021."""
    told = facts(call("1"), ToolReturned("1", "no", denied=True), ToolReturned("?", "no", denied=True))
    assert told.denied == ("(a tool)", "Bash")
    assert told.new_results == 0


def test_a_result_is_news_once_in_a_run() -> None:
    memory = RunMemory()
    assert facts(ToolReturned("1", "x"), ToolReturned("2", "x"), ToolReturned("3", "y"), memory=memory).new_results == 2
    assert facts(ToolReturned("1", "x"), ToolReturned("2", "z"), memory=memory).new_results == 1


@pytest.mark.parametrize(
    "result",
    [ToolReturned("1", " "), ToolReturned("1", "x", Known.TRUNCATED), ToolReturned("1", "x", failed=True)],
)
def test_what_is_empty_cut_or_failed_is_no_research(result: ToolReturned) -> None:
    assert facts(result).new_results == 0


TEXT = st.text(st.characters(codec=None), max_size=5)
EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(Said, TEXT, TEXT, TEXT),
    st.builds(ToolCalled, TEXT, TEXT, st.none(), TEXT, TEXT),
    st.builds(ToolReturned, TEXT, TEXT, failed=st.sampled_from([None, True, False]), denied=st.booleans()),
    st.builds(
        UsageSeen,
        st.sampled_from(Scope),
        TEXT,
        st.none() | st.builds(Tokens, *[st.integers(0, 10**15)] * 4),
        st.none() | st.integers(-(10**30), 10**30),
    ),
    st.builds(Retrying, TEXT),
    st.builds(Troubled, st.sampled_from(Trouble), TEXT, final=st.booleans()),
    st.builds(Finished, st.sampled_from(Finish), TEXT, turns=st.none() | st.integers(0, 9)),
)


@given(st.lists(EVENTS, max_size=40))
def test_any_stream_is_folded_and_what_is_used_never_falls(events: list[Event]) -> None:
    made, micro, tokens = StreamFold(), 0, 0
    for event in events:
        made.see(event)
        used = made.used
        assert (used.micro or 0) >= micro
        micro, tokens = used.micro or 0, used.tokens.counted if used.tokens else 0
    assert made.facts().events == len(events)
    assert tokens >= 0


def test_memory_is_capped_whatever_the_agent_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for room, name in [
        (stream, "RESULTS_KEPT"),
        (stream, "CALLS_KEPT"),
        (stream, "DENIED_KEPT"),
        (stream, "STREAMS_KEPT"),
        (usage_fold, "CALLS_OPEN"),
        (usage_fold, "SESSIONS_KEPT"),
    ]:
        monkeypatch.setattr(room, name, 3)
    made = StreamFold(memory := RunMemory())
    for i in range(10):
        made.see(ToolCalled(f"c{i}", f"tool{i}", None, f"t{i}", f"s{i}"))
        made.see(ToolReturned(f"c{i}", f"result {i}"))
        made.see(ToolCalled(f"d{i}", f"tool{i}", None))
        made.see(ToolReturned(f"d{i}", "", denied=True))
        made.see(ToolCalled(f"open{i}", "x", None))
        made.see(UsageSeen(Scope.CALL, f"k{i}", Tokens(1), 1))
        made.see(UsageSeen(Scope.SESSION, f"k{i}", Tokens(1), 1))
    fold(UsageSeen(Scope.SESSION, "later", Tokens(1)), memory=memory)
    told = made.facts()
    assert (told.micro, told.tokens, len(told.denied), len(memory.results)) == (10, Tokens(10), 3, 3)
    assert (len(made._calls), len(made._turns), len(memory.sessions.marks)) == (3, 3, 3)  # the caps themselves
