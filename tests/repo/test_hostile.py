"""Nothing that lies in a repository runs when ralph finds, looks at, saves or compares it (faults C13 to C16, R045)."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from ralph.repo.find import locate
from ralph.repo.git import find_git
from ralph.repo.look import DEFAULT, Pace
from tests.repo.planted import executed, plant
from tests.repo.trees import EAGER, bytes_of_git, git, opened, repository, write


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    return tmp_path / "marks"


@pytest.fixture
def poisoned(tmp_path: Path, marks: Path) -> Path:
    """Plant traps in a repository and in one nested in it; files with equal size and other mtime set them off."""
    top = repository(tmp_path / "repo", {"a.txt": "one\n", "d/b.txt": "two\n", "gone.txt": "three\n"})
    inner = repository(top / "inner", {"c.txt": "four\n"})
    for place in (top, inner):
        plant(place, marks)
        git(place, "config", "extensions.partialClone", "origin")
        git(place, "config", "remote.origin.promisor", "true")
        git(place, "config", "remote.origin.url", f"file://{tmp_path}/nowhere")
        git(place, "config", "protocol.file.allow", "always")
        git(place, "config", "alias.ls-files", f"!{marks}.sh alias")
        git(place, "config", "core.untrackedCache", "true")
    _lose(top, "HEAD:gone.txt")
    for file in (top / "a.txt", top / "d/b.txt", inner / "c.txt"):
        os.utime(file, (1_600_000_000, 1_600_000_000))
    return top


def _lose(top: Path, name: str) -> None:
    """Delete an object: reading it would make git fetch it from the planted promisor."""
    oid = git(top, "rev-parse", name).decode().strip()
    (top / ".git/objects" / oid[:2] / oid[2:]).unlink()


def test_the_traps_work(poisoned: Path, marks: Path) -> None:
    """Without this the other tests would prove nothing."""
    git(poisoned, "status", check=False)
    assert executed(marks) != []


@pytest.mark.parametrize("pace", [DEFAULT, EAGER], ids=["overlay", "index"])
def test_no_planted_program_runs(poisoned: Path, marks: Path, tmp_path: Path, pace: Pace) -> None:
    """C13, C14, C15, R045: over locate, open, look, save, changes, moved, unsaved."""
    world = opened(poisoned / "d", tmp_path / "state", pace=pace)
    assert world.tree.top == poisoned
    before = world.tree.look()
    world.tree.save(before, "start")
    for n, (path, text) in enumerate([("a.txt", "ONE\n"), ("inner/c.txt", "FOUR"), (".gitattributes", "* ident\n")]):
        (poisoned / path).write_text(text)
        os.utime(poisoned / path, (1_600_000_000, 1_600_000_001 + n))
        assert world.tree.moved_since_last_look()
        after = world.tree.look()
        assert after.partial == ()
        assert after.id != before.id
        world.tree.save(after, str(n))
        assert path in world.tree.changes(before, after).paths
    world.tree.unsaved()
    assert executed(marks) == []


def test_nothing_in_the_git_directory_is_touched(poisoned: Path, tmp_path: Path) -> None:
    before, inner = bytes_of_git(poisoned), bytes_of_git(poisoned / "inner")
    world = opened(poisoned, tmp_path / "state", pace=EAGER)
    for n in range(3):
        write(poisoned, {"a.txt": f"{n}", "inner/new.txt": f"{n}"})
        world.tree.save(world.tree.look(), str(n))
    world.tree.unsaved()
    assert bytes_of_git(poisoned) == before
    assert bytes_of_git(poisoned / "inner") == inner


def test_the_work_tree_is_left_clean(tmp_path: Path) -> None:
    """R044: no file of ours in the tree."""
    top = repository(tmp_path / "repo", {"a": "1"})
    world = opened(top, tmp_path / "state")
    world.tree.save(world.tree.look(), "start")
    assert git(top, "status", "--porcelain", "--ignored") == b""
    assert {file.name for file in top.iterdir()} == {".git", "a"}


@pytest.mark.parametrize("text", ["garbage [[[", "[core]\n\tbare = true\n", "[core]\n\tworktree = /etc\n", ""])
def test_a_broken_or_moved_configuration_changes_no_fingerprint(tmp_path: Path, text: str) -> None:
    """C1: `core.worktree` elsewhere, `core.bare`, a configuration that no git can read."""
    top = repository(tmp_path / "repo", {"a": "1\n", "b.log": "2\n", ".gitignore": "*.log\n"})
    world = opened(top, tmp_path / "state")
    first = world.id()
    (top / ".git/config").write_text(text)
    os.utime(top / ".git/index")
    assert world.id() == first
    (top / "b.log").write_text("3\n")
    assert world.id() != first


@pytest.mark.parametrize("how", ["removed", "emptied", "a file", "a link elsewhere"])
def test_a_vanished_git_directory_leaves_the_fingerprint_standing(tmp_path: Path, how: str) -> None:
    """C1: the names known last stay in force; `damage` tells the rest."""
    top = repository(tmp_path / "repo", {"a": "1\n", "b.log": "2\n", ".gitignore": "*.log\n"})
    other = repository(tmp_path / "other", {"x": "1"})
    world = opened(top, tmp_path / "state")
    first = world.id()
    shutil.rmtree(top / ".git")
    if how == "emptied":
        (top / ".git").mkdir()
    elif how == "a file":
        (top / ".git").write_text("gitdir: /nowhere\n")
    elif how == "a link elsewhere":
        (top / ".git").symlink_to(other / ".git")
    found = world.tree.look()
    assert found.partial == ()
    if how != "a link elsewhere":
        assert found.id == first
    (top / "a").write_text("2\n")
    assert world.tree.look().id != found.id


def test_pipes_planted_under_gits_names_hang_nothing(tmp_path: Path) -> None:
    """C3, C16: HEAD, the index and info/exclude of the user's repository as pipes."""
    top = repository(tmp_path / "repo", {"a": "1\n"})
    world = opened(top, tmp_path / "state")
    first = world.id()
    for name in ("HEAD", "index", "info/exclude"):
        (top / ".git" / name).unlink()
        os.mkfifo(top / ".git" / name)
    found = world.tree.look()
    assert (found.id, found.head, found.branch) == (first, None, None)


def test_a_stale_index_lock_is_no_obstacle(tmp_path: Path) -> None:
    """C6"""
    top = repository(tmp_path / "repo", {"a": "1\n"})
    (top / ".git/index.lock").touch()
    world = opened(top, tmp_path / "state", pace=EAGER)
    first = world.id()
    (top / "a").write_text("2\n")
    assert world.id() != first
    assert (top / ".git/index.lock").exists()


def test_a_git_that_cannot_list_the_tree_makes_it_partial(tmp_path: Path) -> None:
    """C16: and a partial tree equals no other."""
    top = repository(tmp_path / "repo", {"a": "1\n"})
    world = opened(top, tmp_path / "state")
    first = world.tree.look()
    world.git._start[0] = "/bin/false"  # no public way: git itself breaks under us
    second, third = world.tree.look(), world.tree.look()
    assert second.partial != ()
    assert len({first.id, second.id, third.id}) == 3
    assert len({first.state, second.state, third.state}) == 3


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_repository_of_another_user_is_looked_at(tmp_path: Path) -> None:
    """C17: explicit directories; git's own check of owners is not asked."""
    top = repository(tmp_path / "repo", {"a": "1\n"})
    for place in (top, *top.rglob("*")):
        os.chown(place, 12345, 12345)
    assert locate(top, find_git(), no_git=False).git_dir == top / ".git"
    world = opened(top, tmp_path / "state", pace=EAGER)
    tree = world.tree.look()
    world.tree.save(tree, "start")
    assert (tree.partial, tree.files) == ((), 1)
