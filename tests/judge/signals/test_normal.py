"""What is taken out of results and arguments before they are compared, and what a shell command is taken for."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.facts.event import Compacted, Known, Said, ToolCalled, ToolReturned
from ralph.judge.shares import shown, wilson
from ralph.judge.signals.arguments import canonical, parsed, simhash
from ralph.judge.signals.calls import called
from ralph.judge.signals.results import EDGE, is_malformed, is_void, normalised
from ralph.judge.signals.shell import shell
from ralph.judge.signals.steps import StepMaker

SAME = [
    ("done 2026-01-02T03:04:05.678Z", "done 2025-12-31 23:59:01"),
    ("at 12:34:56 ok", "at 01:02:03 ok"),
    ("Ran 3 tests in 0.101s", "Ran 3 tests in 12.5s"),
    ("took 3m20s", "took 1m2.5s"),
    ("id 123e4567-e89b-12d3-a456-426614174000.", "id abcdef01-e89b-12d3-a456-426614174fff."),
    ("<obj at 0x7f00deadbeef>", "<obj at 0x7f11cafe0000>"),
    ("log: /tmp/tmpa1b2/out.txt", "log: /tmp/tmpzz9/out.txt"),
    ("pid 12 Process 4 exited", "pid 9911 Process 77 exited"),
    ("bash: line 3: foo: not found", "bash: line 41: foo: not found"),
    ("listening on localhost:4011", "listening on localhost:51234"),
    ("\x1b[31mred\x1b[0m text", "red text"),
    ("10%|\u2588  |\r55%|\u2588\u2588 |\rdone", "done"),
    ("a\r\nb  \n\n\nc", "a\nb\nc"),
    ("Exit code 2\nno such file", "no such file"),
    (
        "Output too large. Full output saved to: /home/u/.x/abc.txt",
        "Output too large. Full output saved to: /home/u/.x/q.txt",
    ),
]
OTHER = [
    ("src/core.py:12: error", "src/core.py:13: error"),
    ("see line 12 of it", "see line 13 of it"),
    ("commit 1f2e3d4", "commit 1f2e3d5"),
    ("3 failed", "2 failed"),
    ("/tmp/a/x.py", "/tmp/a/y.py"),
    ("v1.2.3", "v1.2.4"),
    ("10 % covered", "11 % covered"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_changes_by_itself_is_taken_out(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_what_is_state_stays(one: str, other: str) -> None:
    assert normalised(one) != normalised(other)


@given(st.text())
def test_normalising_never_raises_and_says_the_same_twice(text: str) -> None:
    assert normalised(text) == normalised(text)


def test_a_long_result_keeps_both_ends_and_a_digest_of_the_middle() -> None:
    one, other = "a" * 100_000, "a" * 50_000 + "b" + "a" * 49_999
    assert normalised(one) != normalised(other)
    assert len(normalised(one)) < 2 * EDGE + 100


def test_arguments_are_equal_whatever_the_order_of_keys_and_blanks() -> None:
    assert canonical({"b": 1, "a": "x  y\r\n"}) == canonical({"a": "x y", "b": 1, "timeout": 5})


def test_letters_and_paging_keep_calls_apart() -> None:
    assert canonical({"path": "A"}) != canonical({"path": "a"})
    assert canonical({"path": "a", "offset": 0}) != canonical({"path": "a", "offset": 100})


def test_paths_are_told_from_the_work_tree() -> None:
    assert canonical({"p": "/w/r/src/a.py"}, root="/w/r") == canonical({"p": "src/a.py"}, root="/w/r")


def test_a_call_that_has_nothing_but_a_volatile_argument_keeps_it() -> None:
    assert canonical({"title": "a"}) != canonical({"title": "b"})


@given(st.none() | st.text())
def test_arguments_of_any_text_are_taken(args: str | None) -> None:
    found = parsed(args)
    assert (found is None) == (args is None)
    assert found is None or isinstance(canonical(found), str)


def test_reworded_arguments_are_near_and_others_are_far() -> None:
    text = json.dumps({"pattern": " ".join(f"word{n}" for n in range(40))})
    near, far = text.replace("word7 ", "other "), json.dumps({"command": "make -j4 all && ./run --fast"})
    assert (simhash(text) ^ simhash(near)).bit_count() <= 12
    assert (simhash(text) ^ simhash(far)).bit_count() > 12
    assert simhash("") == 0


@pytest.mark.parametrize(
    ("command", "changes", "polls", "program"),
    [
        ("ls -la src | head -3", False, False, "ls"),
        ("cd /w && git status --short", False, False, "git"),
        ("git -C /w log --oneline", False, False, "git"),
        ("git commit -m 'a > b'", True, False, "git"),
        ("git stash list", False, False, "git"),
        ("git stash", True, False, "git"),
        ("git branch -a", False, False, "git"),
        ("git branch new", True, False, "git"),
        ("echo hi > out.txt", True, False, "echo"),
        ("make 2>&1 | tail -5", None, False, "make"),
        ("pytest -q 2>/dev/null", None, False, "pytest"),
        ("grep -rn 'a -> b' src", False, False, "grep"),
        ('rg "x > y" src', False, False, "rg"),
        ("sed -n 1,9p a.py", False, False, "sed"),
        ("sed -i 's/a/b/' a.py", True, False, "sed"),
        ("FOO=1 sudo rm -rf build", True, False, "rm"),
        ("npm install left-pad", True, False, "npm"),
        ("npm test", None, False, "npm"),
        ("pip install -e .", True, False, "pip"),
        ("python -c 'print(1)'", None, False, "python"),
        ("cat > a.py <<'EOF'\nx = 1\nEOF", True, False, "cat"),
        ("cat <<EOF\na > b\nEOF", False, False, "cat"),
        ("find . -name '*.py'", False, False, "find"),
        ("find . -name '*.pyc' -delete", None, False, "find"),
        ("sleep 30", False, True, "sleep"),
        ("sleep 5 && curl -s localhost", None, True, "sleep"),
        ("gh run watch 123", None, True, "gh"),
        ("tail -f build.log", False, True, "tail"),
        ("tail -n 5 build.log", False, False, "tail"),
        ("docker ps", None, True, "docker"),
        ("timeout 60 pytest", None, False, "pytest"),
        ("", False, False, ""),
    ],
)
def test_a_shell_command_is_known_by_its_text(command: str, changes: bool | None, polls: bool, program: str) -> None:
    found = shell(command)
    assert (found.changes, found.polls, found.program) == (changes, polls, program)


@given(st.text())
def test_any_text_is_a_shell_command(text: str) -> None:
    assert shell(text).changes in (True, False, None)


@pytest.mark.parametrize(
    ("tool", "args", "changes", "polls"),
    [
        ("Read", {"file_path": "a"}, False, False),
        ("Write", {"file_path": "a", "content": "x"}, True, False),
        ("apply_patch", {"changes": []}, True, False),
        ("str_replace_editor", {"command": "view", "path": "a"}, False, False),
        ("str_replace_editor", {"command": "create", "path": "a"}, True, False),
        ("write_stdin", {"session_id": 1, "chars": ""}, None, True),
        ("write_stdin", {"session_id": 1, "chars": "y\n"}, None, False),
        ("mcp:server", {"q": 1}, None, False),
        ("run_shell_command", {"command": "ls"}, False, False),
        ("shell", {"command": ["bash", "-lc", "rm a"]}, True, False),
        ("TaskOutput", {"task_id": "x"}, False, True),
    ],
)
def test_a_tool_is_known_by_its_name(tool: str, args: dict[str, object], changes: bool | None, polls: bool) -> None:
    found = called(tool, args)
    assert (found.changes, found.polls) == (changes, polls)


def test_a_read_of_a_part_tells_which_lines() -> None:
    assert called("Read", {"file_path": "a", "offset": 10, "limit": 5}).span == (10, 14)
    assert called("view", {"path": "a", "view_range": [3, 9]}).span == (3, 9)
    assert called("Read", {"file_path": "a"}).span is None


def test_results_of_outages_and_of_invalid_calls_are_told_apart() -> None:
    assert is_void("Error: 503 Service Unavailable")
    assert not is_void("TypeError: x is not a function")
    assert is_malformed("Error: No such tool available: Foo")
    assert not is_malformed("cat: foo: No such file or directory")


def test_turns_without_ids_begin_with_the_first_word_after_a_result() -> None:
    maker, turns = StepMaker(), []
    for n in range(3):
        maker.see(Said("let me see"))
        for half in "ab":
            maker.see(ToolCalled(f"{n}{half}", "Read", "{}"))
        for half in "ab":
            step = maker.see(ToolReturned(f"{n}{half}", "x"))
            assert step is not None
            turns.append((step.turn, step.closes))
    assert turns == [(0, False), (0, True), (1, False), (1, True), (2, False), (2, True)]


def test_a_return_without_a_call_is_no_step_and_a_call_told_twice_is_one() -> None:
    maker = StepMaker()
    assert maker.see(ToolReturned("x", "text")) is None
    maker.see(ToolCalled("y", "Read", "{}"))
    maker.see(ToolCalled("y", "Read", "{}"))
    assert maker.see(ToolReturned("y", "text")) is not None
    assert maker.see(ToolReturned("y", "text")) is None


def test_a_result_that_is_not_told_has_no_hash_and_no_length() -> None:
    maker = StepMaker()
    maker.see(ToolCalled("y", "Read", None))
    step = maker.see(ToolReturned("y", "", Known.UNKNOWN))
    assert step is not None
    assert (step.args, step.result, step.rlen, step.simhash) == (None, None, None, None)


def test_bounds_hold_the_share_and_say_something_without_hits() -> None:
    low, high = wilson(0, 919)
    assert low == 0
    assert 0.003 < high < 0.005
    assert wilson(0, 0) == (0.0, 1.0)
    assert shown(1, 2).startswith("1 = 50.0 % [")


def test_a_compaction_begins_anew_in_its_own_stream() -> None:
    maker, prompts = StepMaker(), []
    for number, stream in enumerate(("", "a", "", "a")):
        if number == 2:
            maker.see(Compacted())
        maker.see(ToolCalled(f"{number}", "Read", "{}", stream=stream))
        step = maker.see(ToolReturned(f"{number}", "x", stream=stream))
        assert step is not None
        prompts.append(step.prompt)
    assert prompts == [0, 0, 1, 0]
