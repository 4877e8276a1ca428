"""The rules that keep healthy work from looking like a loop, one by one: without any of them a test here fails."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from ralph.facts.event import Known
from ralph.facts.settings import Detect
from ralph.judge.signals.sighting import Level
from tests.judge.signals.scripts import Call, Turns, bash, edit, events, name, news, play, prose, read

RNG = Random(5)
TEXT = prose(RNG)
KNOWN = read("known", TEXT)
FAILS = bash("make all", f"make: *** no rule to make {prose(RNG, 6)}", failed=True)


def test_calls_of_one_turn_count_once() -> None:
    assert play([[KNOWN] * 9]).seen == []
    assert play([[FAILS] * 9]).seen == []


def test_results_are_compared_without_what_changes_by_itself() -> None:
    turns: Turns = [[bash("make", f"12:00:{n:02} failed after {n}.5s, pid {4000 + n}", failed=True)] for n in range(5)]
    assert "end" in play(turns).by("identical")


def test_results_that_differ_in_a_line_number_are_different() -> None:
    turns: Turns = [[bash("make lint", f"src/core.py:{n}: too long, see line {n} of it")] for n in range(9)]
    assert play(turns).seen == []


def test_an_accepted_change_starts_all_counts_anew() -> None:
    rounds: Turns = [turn for n in range(9) for turn in ([edit("core", f"x{n}")], [FAILS])]
    assert play(rounds).seen == []
    refused: Turns = [turn for n in range(9) for turn in ([edit("core", f"x{n}", failed=True)], [FAILS])]
    assert play(refused).reached(Level.END)


def test_polling_is_left_out() -> None:
    for poll in (Call("BashOutput", {"bash_id": "1"}, TEXT), bash("sleep 20", TEXT), bash("gh run watch 5", TEXT)):
        assert play([[poll]] * 40).seen == []


def test_more_tools_and_commands_can_be_named_as_polling() -> None:
    polling = Detect(polling=("queue_*", "make wait"))
    for poll in (Call("Queue_Peek", {"q": 1}, TEXT), bash("make wait", TEXT), bash("make wait -j2", TEXT)):
        assert play([[poll]] * 12, polling).seen == []
    assert play([[bash("make waiter", TEXT)]] * 12, polling).reached(Level.END)


def test_polling_does_not_break_a_streak() -> None:
    turns: Turns = [turn for _ in range(6) for turn in ([FAILS], [bash("sleep 5")])]
    assert play(turns).reached(Level.END)


def test_bookkeeping_is_left_out() -> None:
    for tool in ("TodoWrite", "update_plan", "think", "AskUserQuestion", "Skill"):
        assert play([[Call(tool, {"items": ["a"]}, TEXT)]] * 40).seen == []


def test_empty_answers_are_weak_evidence() -> None:
    searches: Turns = [[Call("Grep", {"pattern": prose(RNG, 3)}, "No files found")] for _ in range(6)]
    assert play(searches).seen == []
    assert play([[Call("Grep", {"pattern": f"a{n}"}, "")] for n in range(12)]).by("no-op") == []


def test_a_loop_beside_work_that_gets_on_is_weak_evidence() -> None:
    turns: Turns = [turn for _ in range(5) for turn in ([KNOWN], [news(RNG)], [news(RNG)])]
    assert play(turns).seen == []


def test_sub_agents_are_streams_of_their_own() -> None:
    files = [news(RNG) for _ in range(8)]
    one_after_the_other: Turns = [[replace(call, stream=f"a{n}")] for n in range(6) for call in files]
    assert play(one_after_the_other).seen == []
    assert play([[replace(call, stream="")] for turn in one_after_the_other for call in turn]).reached(Level.END)


def test_agents_that_speak_at_once_in_one_stream_are_one_turn() -> None:
    files = [news(RNG) for _ in range(8)]
    turns: Turns = [[replace(call, agent=f"a{n}") for n in range(6)] for call in files]
    assert play(turns).seen == []
    assert len({step.turn for step in play(turns).steps}) == len(files)


def test_a_result_that_got_lost_does_not_stop_the_counting_of_turns() -> None:
    from ralph.judge.signals.steps import StepMaker

    maker, turns = StepMaker(), []
    for number, (at, event) in enumerate(events([[KNOWN]] * 40)):
        step = maker.see(event, at=at) if number != 1 else None
        turns += [step.turn] if step is not None else []
    assert turns[-1] > 20


def test_a_compaction_makes_known_files_new_again() -> None:
    files = [news(RNG) for _ in range(9)]
    again = [replace(files[0], compacted=True), *files[1:]]
    assert play([[call] for call in files + again]).seen == []
    assert play([[call] for call in files + files]).seen != []


def test_outages_and_other_calls_errors_are_no_evidence() -> None:
    for words in ("API Error: 529 overloaded", "Error: 429 Too Many Requests", "Sibling tool call errored"):
        assert play([[bash("x", words, failed=True)]] * 9).seen == []
    assert play([[bash("cat server.log", "status 429 for /api")]] * 9).reached(Level.END)


def test_what_a_person_refused_is_no_evidence() -> None:
    words = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    assert play([[replace(bash("rm x", words, failed=True), denied=True)]] * 9).seen == []


def test_an_unknown_result_equals_nothing() -> None:
    turns: Turns = [[replace(bash("make"), known=Known.UNKNOWN)] for _ in range(19)]
    assert play(turns).seen == []


def test_a_cut_result_with_the_digest_of_the_whole_is_known() -> None:
    from ralph.agents.fields import shortened

    cut, was_cut = shortened(prose(RNG, 20_000))
    assert was_cut
    assert play([[replace(bash("make", cut), known=Known.TRUNCATED)]] * 5).reached(Level.END)


def test_missing_arguments_of_a_shell_command_equal_nothing() -> None:
    assert play([[replace(bash("", TEXT), args=None)]] * 19).seen == []


def test_paging_is_progress_even_where_the_answer_is_the_same() -> None:
    pages: Turns = [[read("gen", "\n".join(["0, 0, 0"] * 20) + f"\n{n}", offset=20 * n, limit=20)] for n in range(25)]
    assert play(pages).seen == []


def test_a_test_run_again_after_a_change_is_news() -> None:
    test = bash("pytest -q", "9 passed in 0.1s")
    assert play([turn for n in range(9) for turn in ([edit("a", f"{n}")], [test])]).seen == []
    assert play([turn for _ in range(9) for turn in ([edit("a", "same")], [test])], Detect(off=("cycle",))).seen == []


def test_arguments_that_only_explain_do_not_tell_calls_apart() -> None:
    turns: Turns = [
        [Call("Bash", {"timeout": n, "description": name(RNG), "command": "make  all"}, TEXT, failed=True)]
        for n in range(5)
    ]
    assert "end" in play(turns).by("identical")


def test_sorted_arguments_are_the_same_call() -> None:
    """The first loop shape of the field's write-ups: identical repeat, whatever the order of keys."""
    turns: Turns = [
        [Call("mcp:q", dict(sorted({"a": 1, "b": [2]}.items(), reverse=bool(n % 2))), TEXT)] for n in range(5)
    ]
    assert "end" in play(turns).by("identical")


def test_the_user_can_say_what_makes_two_calls_equal() -> None:
    turns: Turns = [[Call("mcp:query", {"sql": "select 1", "nonce": name(RNG)}, TEXT)] for _ in range(5)]
    detect = Detect(off=("no-op", "stale", "drift"))
    assert play(turns, detect).seen == []
    assert "end" in play(turns, replace(detect, identity={"mcp:query": ("sql",)})).by("identical")


@pytest.mark.parametrize("seconds", [5.0, 90.0])
def test_a_poll_whose_answer_changes_is_never_too_long(seconds: float) -> None:
    polls: Turns = [[Call("TaskOutput", {"id": 1}, f"{n} of 90 done", seconds=seconds)] for n in range(80)]
    assert play(polls).seen == []


def test_eighty_quick_polls_are_a_real_wait() -> None:
    assert play([[Call("TaskOutput", {"id": 1}, "running", seconds=5.0)]] * 80).seen == []
