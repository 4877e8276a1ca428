"""`--worktree` gives a checkout of its own, made without running anything and without touching the user's."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from ralph.errors import UserError
from ralph.facts.reason import Reason
from ralph.repo.git import find_git
from ralph.repo.linked import create
from tests.repo.planted import executed, plant
from tests.repo.saving import git, picture, work


@dataclass(frozen=True)
class At:
    top: Path
    git_dir: Path | None
    common_dir: Path | None


@pytest.fixture
def place(tmp_path: Path) -> At:
    top = tmp_path / "user"
    top.mkdir()
    git(top, "init", "-q", "-b", "main")
    (top / "a").write_bytes(b"one\r\ntwo\n")
    (top / "d").mkdir()
    (top / "d" / "run me\n").write_text("#!/bin/sh\n")
    (top / "d" / "run me\n").chmod(0o755)
    (top / os.fsdecode(b"\xff")).touch()
    (top / "link").symlink_to("d")
    git(top, "add", ".")
    git(top, "commit", "-qm", "first")
    return At(top, top / ".git", top / ".git")


def test_it_holds_the_commit_on_a_branch_of_its_own(place: At, tmp_path: Path) -> None:
    committed = work(place.top)
    (place.top / "a").write_text("not committed\n")
    made = create(place, find_git(), "r1", into=tmp_path / "state" / "r1")
    assert (made.top, made.branch, made.files) == (tmp_path / "state" / "r1" / "user", "ralph/r1", 4)
    assert made.notes == ()
    assert {path: seen for path, seen in picture(made.top).items() if path != ".git"} == committed
    assert git(made.top, "symbolic-ref", "HEAD") == "refs/heads/ralph/r1"
    assert git(made.top, "rev-parse", "HEAD") == git(place.top, "rev-parse", "main") == made.commit
    assert git(made.top, "status", "--porcelain") == ""
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700


def test_the_users_own_checkout_is_untouched(place: At, tmp_path: Path) -> None:
    (place.top / "a").write_text("not committed\n")
    git(place.top, "status")
    before = picture(place.top)
    create(place, find_git(), "r1", into=tmp_path / "state")
    after = picture(place.top)
    new = {path for path in after if path not in before}
    assert {path: after[path] for path in before} == before
    assert {path.rpartition("/")[0] for path in new} <= {
        ".git/worktrees/user",
        ".git/worktrees/user/logs",
        ".git/refs/heads/ralph",
        ".git/logs/refs/heads/ralph",
    }


def test_commits_made_there_are_seen_from_the_users_checkout(place: At, tmp_path: Path) -> None:
    made = create(place, find_git(), "r1", into=tmp_path / "state")
    (made.top / "new").touch()
    git(made.top, "add", ".")
    git(made.top, "commit", "-qm", "agent")
    assert git(place.top, "log", "-1", "--format=%s", "ralph/r1") == "agent"
    assert git(place.top, "worktree", "list").count("\n") == 1
    assert git(place.top, "fsck", "--no-progress") == ""


def test_nothing_planted_runs_and_filters_are_named(place: At, tmp_path: Path) -> None:
    """C13, C14, C19: hooks of checkout and refs, smudge, fsmonitor."""
    git(place.top, "commit", "-q", "--allow-empty", "-m", "before the plants")
    (place.top / ".gitattributes").write_text("* filter=planted diff=planted merge=planted\n")
    git(place.top, "add", ".gitattributes")
    git(place.top, "commit", "-qm", "attributes")
    plant(place.top, tmp_path / "marks")
    made = create(place, find_git(), "r1", into=tmp_path / "state")
    assert executed(tmp_path / "marks") == []
    assert (made.top / "a").read_bytes() == b"one\r\ntwo\n"
    assert made.notes == ("files with filter=planted hold their committed bytes here: filters are not run",)


def test_line_ends_are_the_committed_ones_and_show_as_unmodified(place: At, tmp_path: Path) -> None:
    git(place.top, "config", "core.autocrlf", "true")
    (place.top / ".gitattributes").write_text("*.txt text eol=crlf\n")
    (place.top / "x.txt").write_bytes(b"1\r\n2\r\n")
    git(place.top, "add", ".gitattributes", "x.txt")
    git(place.top, "commit", "-qm", "crlf")
    made = create(place, find_git(), "r1", into=tmp_path / "state")
    assert (made.top / "x.txt").read_bytes() == b"1\n2\n"
    assert git(made.top, "status", "--porcelain") == ""


def test_a_linked_worktree_can_be_the_place_it_starts_from(place: At, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    git(place.top, "worktree", "add", "-q", str(linked), "-b", "side")
    there = At(linked, place.top / ".git" / "worktrees" / "linked", place.top / ".git")
    made = create(there, find_git(), "r2", into=tmp_path / "state")
    assert made.commit == git(linked, "rev-parse", "side")
    assert git(made.top, "status", "--porcelain") == ""


def test_submodules_are_empty_and_said(place: At, tmp_path: Path) -> None:
    head = git(place.top, "rev-parse", "HEAD")
    git(place.top, "update-index", "--add", "--cacheinfo", f"160000,{head},sub")
    git(place.top, "commit", "-qm", "sub")
    made = create(place, find_git(), "r1", into=tmp_path / "state")
    assert list((made.top / "sub").iterdir()) == []
    assert made.notes == ("submodules are empty here",)


@pytest.mark.parametrize("shape", ["no repository", "no commit"])
def test_without_a_commit_it_is_refused_with_the_fix(tmp_path: Path, shape: str) -> None:
    top = tmp_path / "user"
    top.mkdir()
    git(top, "init", "-q", "-b", "main")
    place = At(top, None, None) if shape == "no repository" else At(top, top / ".git", top / ".git")
    with pytest.raises(UserError) as caught:
        create(place, find_git(), "r1", into=tmp_path / "state")
    assert caught.value.reason is Reason.REFUSED
    assert "git init" in caught.value.fix if shape == "no repository" else "git commit" in caught.value.fix
    assert not (tmp_path / "state").exists()


def test_a_branch_that_exists_is_refused_and_left(place: At, tmp_path: Path) -> None:
    git(place.top, "branch", "ralph/r1")
    with pytest.raises(UserError, match="already exists"):
        create(place, find_git(), "r1", into=tmp_path / "state")
    assert git(place.top, "branch", "--list", "ralph/r1") == "ralph/r1"


def test_missing_content_takes_everything_back(place: At, tmp_path: Path) -> None:
    """C15: a missing object is never fetched; no half-filled work tree and no branch stay."""
    blob = git(place.top, "rev-parse", "HEAD:a")
    (place.top / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(UserError, match="not in the repository"):
        create(place, find_git(), "r1", into=tmp_path / "state")
    assert git(place.top, "branch", "--list", "ralph/*") == ""
    assert list((tmp_path / "state").iterdir()) == []
    assert git(place.top, "worktree", "list").count("\n") == 0


def test_a_commit_that_would_write_into_a_git_directory_is_refused(place: At, tmp_path: Path) -> None:
    blob = git(place.top, "rev-parse", "HEAD:a")
    (place.top / ".git" / "made").write_bytes(b"100644 config\0" + bytes.fromhex(blob))
    hashed = ("hash-object", "-t", "tree", "-w", "--literally", ".git/made")
    inner = git(place.top, *hashed)
    (place.top / ".git" / "made").write_bytes(b"40000 .GIT\0" + bytes.fromhex(inner))
    commit = git(place.top, "commit-tree", "-m", "evil", git(place.top, *hashed))
    git(place.top, "update-ref", "refs/heads/main", commit)
    with pytest.raises(UserError, match=r"\.GIT/config"):
        create(place, find_git(), "r1", into=tmp_path / "state")
    assert list((tmp_path / "state").iterdir()) == []
