"""A look begun ahead: it knows what was there when it was begun, and is dropped where that would not do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ralph.repo.look import Pace
from ralph.repo.worktree import WorkTree
from tests.repo.trees import opened, repository, write


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return repository(tmp_path / "work", {"a": "1\n", "d/b": "2\n"})


def git_children() -> list[str]:
    """Return the gits that this process has started and not collected; other tests may have left it orphans."""
    found = []
    for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
        name = Path(f"/proc/{pid}/comm").read_text().strip()
        found += [pid] if name == "git" else []
    return found


def test_a_look_that_was_begun_equals_one_that_was_not(top: Path, tmp_path: Path) -> None:
    world = opened(top, tmp_path / "state")
    world.tree.look()
    write(top, {"a": "3\n", "new": "4\n"})
    world.tree.begin_look()
    begun = world.tree.look()
    assert begun == world.tree.look() == opened(top, tmp_path / "other").tree.look()
    assert begun.files == 3


def test_what_changes_after_a_dropped_look_is_seen(top: Path, tmp_path: Path) -> None:
    tree = opened(top, tmp_path / "state").tree
    before = tree.look()
    tree.begin_look()
    write(top, {"a": "3\n"})
    tree.forget_look()
    assert tree.look().id != before.id
    assert git_children() == []


def test_a_look_begun_too_long_ago_is_begun_anew(top: Path, tmp_path: Path) -> None:
    now = [2_000_000_000_000_000_000]
    tree = opened(top, tmp_path / "state", pace=Pace(clock_ns=lambda: now[0])).tree
    before = tree.look()
    tree.begin_look()
    now[0] += 1_000_000_001
    write(top, {"a": "3\n"})
    assert tree.look().id != before.id
    assert git_children() == []


def test_a_dropped_look_leaves_no_lock_behind(top: Path, tmp_path: Path) -> None:
    tree: WorkTree = opened(top, tmp_path / "state").tree
    tree.look()
    for _ in range(5):
        tree.begin_look()
        tree.forget_look()
    assert list((tmp_path / "state").rglob("*.lock")) == []
