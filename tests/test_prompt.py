"""The prompt is sent as frozen; the note is small, last, and says only what is worth saying."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.errors import UserError
from ralph.facts.iteration import Iteration
from ralph.facts.outcome import Outcome
from ralph.facts.suite import Suite, SuiteChange, Verdict
from ralph.facts.tree import Tree, Trees
from ralph.prompt import NOTE_CAP, Frozen, NoteFacts, as_sent, freeze, note

TREE = Tree("a", "a")


LAST = Iteration(1, datetime(2026, 1, 1, tzinfo=UTC), Trees(TREE, TREE, TREE), Outcome.COMPLETED)


def test_the_bytes_of_the_file_are_sent_exactly(tmp_path: Path) -> None:
    data = b"\xff\xfe {{ x }} $HOME\r\nno newline at the end"
    (tmp_path / "P.md").write_bytes(data)
    assert as_sent(freeze(tmp_path / "P.md"), "") == data


def test_c3_a_fifo_a_directory_and_a_missing_file_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for name, words in (("fifo", "not an ordinary file"), (".", "not an ordinary file"), ("none", "no such")):
        with pytest.raises(UserError, match=words):
            freeze(tmp_path / name)


def test_c3_a_planted_link_is_not_followed_on_reload(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("key")
    (tmp_path / "P.md").symlink_to("secret")
    assert freeze(tmp_path / "P.md").data == b"key"
    with pytest.raises(UserError):
        freeze(tmp_path / "P.md", follow_links=False)


def test_c3_a_ten_gigabyte_prompt_is_refused_without_reading_it(tmp_path: Path) -> None:
    with open(tmp_path / "P.md", "wb") as file:
        file.truncate(10 << 30)
    with pytest.raises(UserError, match="larger than"):
        freeze(tmp_path / "P.md")


@pytest.mark.parametrize("data", [b"", b" \n\t\n"])
def test_an_empty_prompt_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "P.md").write_bytes(data)
    with pytest.raises(UserError, match="empty"):
        freeze(tmp_path / "P.md")


def test_the_first_iteration_has_a_note_only_for_a_promise() -> None:
    assert note(NoteFacts(blocked="BLOCKED-1")) == ""
    assert "DONE-7" in note(NoteFacts(promise="DONE-7", blocked="BLOCKED-1"))


def test_the_note_names_failing_and_vanished_tests_and_how_to_give_up() -> None:
    suite = Suite("tests", Verdict.RED, failing=frozenset(f"t{i:02}" for i in range(30)))
    text = note(
        NoteFacts(blocked="BLOCKED-1", last=replace(LAST, suites=(suite,), change=SuiteChange(vanished=("gone",)))),
    )
    assert "30 failing" in text
    assert "t19" in text
    assert "t20" not in text
    assert "and 10 more" in text
    assert "- gone" in text
    assert "BLOCKED-1 tried:" in text


def test_the_note_comes_after_one_blank_line_and_never_in_front() -> None:
    sent = as_sent(Frozen(b"task\n", "P.md"), "hint")
    assert sent.startswith(b"task\n\n<!-- ralph")
    assert as_sent(Frozen(b"task", "P.md"), "hint").startswith(b"task\n\n<!-- ralph")


@given(st.lists(st.text(max_size=300), max_size=60), st.text(max_size=3000))
def test_a_note_never_exceeds_its_cap(ids: list[str], detail: str) -> None:
    suite = Suite("tests", Verdict.RED, failing=frozenset(ids))
    text = note(
        NoteFacts(blocked="B", promise="P", last=replace(LAST, suites=(suite,), detail=detail), advice=(detail,))
    )
    assert len(as_sent(Frozen(b"x\n", ""), text)) <= NOTE_CAP + 3
