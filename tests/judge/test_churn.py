"""Lines and files that go to and fro though each state is new; and what is no change at all."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from ralph.facts.iteration import Iteration
from ralph.facts.settings import Settings, StopRules
from ralph.facts.tree import LINES_KEPT, Changes, Edit, Tree, Trees
from ralph.judge.churn import is_noise, line_key, line_keys
from ralph.judge.history import History
from ralph.judge.stops import decide
from ralph.judge.stops.file_flip_flop import file_flip_flop
from ralph.judge.warnings import warnings
from tests.builders import NOON, iteration, opening, tree


def edit(path: str, old: str, new: str, *, mode: bool = False) -> Edit:
    """Return the edit from one text to another, a letter a line."""
    plus, minus = [f"line {c}" for c in new if c not in old], [f"line {c}" for c in old if c not in new]
    return Edit(path, old, new, len(plus), len(minus), line_keys(plus), line_keys(minus), mode)


def run(*edits: tuple[Edit, ...]) -> History:
    past = History(opening("s0"), Settings())
    for number, changed in enumerate(edits, 1):
        past.add(moved(number, changed))
    return past


def moved(number: int, edits: tuple[Edit, ...]) -> Iteration:
    trees = Trees(tree(f"s{number - 1}"), tree(f"s{number}"), tree(f"s{number}"))
    paths = tuple(one.path for one in edits)
    return replace(iteration(number), trees=trees, changes=Changes(len(paths), 1, 1, paths, edits))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  x = 1  ", "x = 1"),
        ("x = 1\r", "x = 1"),
        ("built 2026-01-02T03:04:05Z", "built 2025-09-09 01:01:01"),
        ("at 12:00:01", "at 13:37:00"),
        ("epoch 1767225600", "epoch 1767225699"),
    ],
)
def test_lines_are_compared_without_blanks_at_the_ends_and_times(old: str, new: str) -> None:
    assert line_key(old) == line_key(new) is not None


def test_a_raised_version_is_another_line_and_a_brace_is_none() -> None:
    assert line_key('click = "8.1.0"') != line_key('click = "8.2.0"')
    assert line_key("  }") is None


def test_of_many_lines_the_smallest_keys_are_kept() -> None:
    keys = line_keys(f"line number {n}" for n in range(500))
    assert len(keys) == LINES_KEPT
    assert keys == tuple(sorted(keys))


@pytest.mark.parametrize(
    ("change", "noise"),
    [
        (Edit("a", "1", "1", mode=True), True),
        (Edit("a", "1", "2", 1, 1, ("aa",), ("aa",)), True),
        (Edit("a", "1", "2", 1, 1, ("aa",), ("bb",)), False),
        (Edit("a", "1", "2", 1, 0), False),
        (Edit("a", "1", "2", 0, 0), True),
        (Edit("a", "1", "2", 1, 1), False),
        (Edit("a", "", "2", 1, 1, ("aa",), ("aa",)), False),
        (Edit("a", "1", "2", None, None), False),
    ],
)
def test_noise_is_what_says_the_same_after_as_before(change: Edit, noise: bool) -> None:
    assert is_noise(change) is noise


def test_three_returns_of_one_file_are_a_flip_flop() -> None:
    toggles = [(edit("f.py", *("AB" if n % 2 == 0 else "BA")), edit(f"n{n}.py", "", "xyzuvw")) for n in range(4)]
    assert [finding.kind for finding in warnings(run(*toggles[:3]))] == ["file-flip-flop"]
    stop = decide(run(*toggles), Settings(), NOON)
    assert stop is not None
    assert stop.iterations == (2, 3, 4)
    assert stop.detail == "iterations 2-4 put the same file back to what it was before: f.py"


@pytest.mark.parametrize("path", ["docs/page.md", "poetry.lock", "package-lock.json"])
def test_documents_and_lock_files_may_go_back(path: str) -> None:
    toggles = [(edit(path, *("AB" if n % 2 == 0 else "BA")), edit(f"n{n}.py", "", "xyzuvw")) for n in range(6)]
    assert file_flip_flop(run(*toggles), Settings(), NOON) is None


def test_one_deliberate_revert_is_warned_of_and_stops_nothing() -> None:
    past = run((edit("f.py", "", "abcd"),), (edit("f.py", "abcd", "abxy"),), (edit("f.py", "abxy", "abcd"),))
    assert "reverse-hunks" in {finding.kind for finding in warnings(past)}
    assert decide(past, Settings(), NOON) is None


def test_taking_lines_back_three_times_is_a_stop_though_each_state_is_new() -> None:
    words = ["abcd", "efgh", "abcd", "efgh", "abcd"]
    rows = [
        (replace(edit("f.py", one, other), old=f"{n}", new=f"{n + 1}"),)
        for n, (one, other) in enumerate(pairwise(words))
    ]
    past = run(*rows)
    stop = decide(past, Settings(), NOON)
    assert stop is not None
    assert stop.iterations == (2, 3, 4)
    assert decide(past, Settings(stop=StopRules(oscillation=None)), NOON) is None


def test_lines_that_only_move_to_another_file_are_no_churn() -> None:
    there, back = ("a.py", "b.py"), ("b.py", "a.py")
    rows = []
    for n in range(6):
        source, goal = there if n % 2 == 0 else back
        rows.append((edit(source, "abcdef", ""), edit(goal, "", "abcdef")))
    assert (
        run(
            *[
                tuple(replace(one, old=f"{n}{one.old}", new=f"{n}{one.new}") for one in row)
                for n, row in enumerate(rows)
            ]
        ).churn.net
        is None
    )


def test_lines_of_another_branch_are_nobodys_churn() -> None:
    past = run((edit("f.py", "", "abcd"),), (edit("f.py", "abcd", "efgh"),))
    other = moved(3, (edit("f.py", "efgh", "abcd"),))
    there = Tree("s3", "s3", branch="topic")
    past.add(replace(other, trees=Trees(other.trees.before, there, there)))
    assert not past.churn.reverses


def test_a_restart_forgets_what_was_churned() -> None:
    past = run((edit("f.py", "", "abcd"),), (edit("f.py", "abcd", "efgh"),), (edit("f.py", "efgh", "abcd"),))
    assert past.churn.reverses
    past.restart_stretch()
    assert not past.churn.reverses
    assert not past.churn.flips
