"""Damage ends a run, findings are told once, and watching runs nothing that was planted."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from ralph.facts.finding import Finding
from ralph.repo.git import find_git
from ralph.repo.watchlist import KINDS, Watchlist
from tests.repo.planted import executed, plant
from tests.repo.saving import git, picture


@dataclass(frozen=True)
class At:
    top: Path
    git_dir: Path | None
    common_dir: Path | None


@pytest.fixture
def top(tmp_path: Path) -> Path:
    top = tmp_path / "user"
    top.mkdir()
    git(top, "init", "-q", "-b", "main")
    (top / "a").write_text("one\n")
    git(top, "add", ".")
    git(top, "commit", "-qm", "first")
    return top


@pytest.fixture
def watch(top: Path) -> Iterator[Watchlist]:
    with closing(Watchlist(At(top, top / ".git", top / ".git"), find_git(), now=lambda: 2e9)) as watchlist:
        yield watchlist


def kinds(found: tuple[Finding, ...]) -> list[str]:
    assert all(finding.kind in KINDS and not finding.blocks for finding in found)
    assert all(list(finding.subjects) == sorted(finding.subjects) for finding in found)
    return [finding.kind for finding in found]


def test_an_untouched_repository_gives_nothing(watch: Watchlist) -> None:
    assert watch.damage() is None
    assert watch.findings() == ()
    assert watch.vanished({"a"}, {"a", "b"}) == ()


def test_ordinary_work_gives_nothing(watch: Watchlist, top: Path) -> None:
    (top / "b").touch()
    git(top, "add", "b")
    git(top, "commit", "-qm", "second")
    git(top, "branch", "side")
    git(top, "gc", "-q")
    git(top, "config", "user.name", "agent")
    assert watch.damage() is None
    assert watch.findings() == ()


def test_c1_a_vanished_tree_is_damage(watch: Watchlist, top: Path) -> None:
    shutil.rmtree(top)
    assert watch.damage() == f"the work tree {top} vanished"
    assert watch.findings() == ()


def test_c1_r077_a_vanished_git_directory_is_damage(watch: Watchlist, top: Path) -> None:
    shutil.rmtree(top / ".git")
    assert watch.damage() == f"the git directory {top / '.git'} vanished"
    assert watch.findings() == ()


def test_c1_another_repository_in_its_place_is_damage_whatever_its_inode(watch: Watchlist, top: Path) -> None:
    for _ in range(5):
        shutil.rmtree(top / ".git")
        git(top, "init", "-q", "-b", "main")
        assert watch.damage() == f"the git directory {top / '.git'} was replaced by another directory"


@pytest.mark.parametrize(("shape", "told"), [("file", "a file"), ("link", "a symbolic link")])
def test_c1_a_redirected_git_directory_is_damage(
    watch: Watchlist, top: Path, tmp_path: Path, shape: str, told: str
) -> None:
    (top / ".git").rename(tmp_path / "moved")
    if shape == "file":
        (top / ".git").write_text(f"gitdir: {tmp_path / 'moved'}\n")
    else:
        (top / ".git").symlink_to(tmp_path / "moved")
    assert watch.damage() == f"the git directory {top / '.git'} was replaced by {told}"


def test_c1_a_swapped_work_tree_is_damage(watch: Watchlist, top: Path, tmp_path: Path) -> None:
    top.rename(tmp_path / "moved")
    shutil.copytree(tmp_path / "moved", top)
    assert watch.damage() == f"the work tree {top} was replaced by another directory"
    shutil.rmtree(top)
    top.symlink_to(tmp_path / "moved")
    assert watch.damage() == f"the work tree {top} was replaced by a symbolic link"


def test_c1_a_link_above_the_work_tree_is_damage(tmp_path: Path) -> None:
    top = tmp_path / "above" / "user"
    top.mkdir(parents=True)
    with closing(Watchlist(At(top, None, None), find_git())) as watch:
        (tmp_path / "above").rename(tmp_path / "moved")
        (tmp_path / "above").symlink_to("moved")
        assert watch.damage() == f"the work tree {top} is reached through a symbolic link now"
        assert watch.findings() == ()


def test_c1_objects_of_another_repository_are_damage(watch: Watchlist, top: Path, tmp_path: Path) -> None:
    (top / ".git" / "commondir").write_text(str(tmp_path))
    assert watch.damage() == f"{top / '.git'}/commondir points to another repository"


@pytest.mark.parametrize("part", ["HEAD", "objects", "refs"])
def test_c1_a_hollow_git_directory_is_damage(watch: Watchlist, top: Path, part: str) -> None:
    (top / ".git" / part).rename(top / ".git" / "elsewhere")
    assert watch.damage() == f"{top / '.git' / part} vanished"


def test_c1_a_changed_pointer_of_a_linked_worktree_is_damage(top: Path, tmp_path: Path) -> None:
    git(top, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "side")
    place = At(tmp_path / "linked", top / ".git" / "worktrees" / "linked", top / ".git")
    with closing(Watchlist(place, find_git())) as watch:
        assert watch.damage() is None
        (tmp_path / "linked" / ".git").write_text("gitdir: /tmp/x\n")
        assert watch.damage() == f"{tmp_path / 'linked' / '.git'} points elsewhere now: gitdir: /tmp/x"
        (tmp_path / "linked" / ".git").unlink()
        assert watch.damage() == f"{tmp_path / 'linked' / '.git'} vanished"


def test_r077_a_tree_without_any_file_is_damage_until_files_come_back(watch: Watchlist) -> None:
    assert kinds(watch.vanished({"a", "b"}, set())) == ["files-vanished"]
    assert watch.damage() == "every file of the work tree vanished"
    assert watch.vanished({"a", "b"}, {"a"}) == ()
    assert watch.damage() is None


def test_vanished_files_are_told_once(watch: Watchlist) -> None:
    assert watch.vanished({"a", "b", "c"}, {"c"}) == (Finding("files-vanished", "2 gone: a, b", ("a", "b")),)
    assert watch.vanished({"a", "b", "c"}, {"c"}) == ()
    assert watch.vanished({"a", "b", "c"}, {"a", "x"})[0].subjects == ("c",)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("core.hooksPath", "/tmp/hooks"),
        ("core.fsmonitor", "/tmp/x"),
        ("core.bare", "true"),
        ("core.worktree", "/etc"),
        ("core.sshCommand", "x"),
        ("filter.Lfs.smudge", "x"),
        ("diff.a.b.textconv", "x"),
        ("alias.st", "!x"),
        ("include.path", "/tmp/x"),
        ("includeIf.gitdir:/x.path", "y"),
        ("credential.helper", "!x"),
        ("gpg.program", "x"),
        ("remote.origin.uploadpack", "x"),
        ("remote.origin.promisor", "true"),
        ("protocol.file.allow", "always"),
        ("extensions.partialClone", "origin"),
        ("url.ext::x.insteadOf", "https://"),
    ],
)
def test_c13_configuration_that_runs_or_reshapes_is_told_with_old_and_new(
    watch: Watchlist, top: Path, key: str, value: str
) -> None:
    git(top, "config", "--file", str(top / ".git" / "config"), key, value)
    (found,) = [finding for finding in watch.findings() if finding.kind == "git-config"]
    assert len(found.subjects) == 1
    assert found.subjects[0].lower() == key.lower()
    assert found.detail.startswith(found.subjects[0])
    assert found.detail.endswith(f"-> {value!r}")
    assert watch.findings() == ()


def test_a_setting_that_was_there_and_goes_is_told(top: Path) -> None:
    git(top, "config", "core.hooksPath", ".husky")
    with closing(Watchlist(At(top, top / ".git", top / ".git"), find_git())) as watch:
        assert watch.findings() == ()
        git(top, "config", "--unset", "core.hooksPath")
        assert watch.findings() == (Finding("git-config", "core.hookspath: '.husky' -> (unset)", ("core.hookspath",)),)


def test_a_login_in_a_setting_is_not_told(watch: Watchlist, top: Path) -> None:
    git(top, "config", "remote.origin.url", "https://me:hunter2@example.invalid/x")
    git(top, "config", "http.extraHeader", "Authorization: hunter2")
    (found,) = watch.findings()
    assert "hunter2" not in found.detail
    assert "//***@example.invalid/x" in found.detail


def test_configuration_git_cannot_read_is_told_and_harms_nothing(watch: Watchlist, top: Path) -> None:
    (top / ".git" / "config").write_bytes(b"[core\n\xff")
    assert kinds(watch.findings()) == ["git-config"]
    assert watch.damage() is None


def test_the_users_own_configuration_is_watched_where_named(top: Path, tmp_path: Path) -> None:
    own = tmp_path / "gitconfig"
    with closing(Watchlist(At(top, top / ".git", top / ".git"), find_git(), user_files=(own,))) as watch:
        assert watch.findings() == ()
        own.write_text("[core]\n\tpager = x\n")
        assert [finding.subjects for finding in watch.findings()] == [("core.pager",)]


def test_an_executable_hook_is_told_and_a_sample_is_not(watch: Watchlist, top: Path) -> None:
    hooks = top / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-commit", "post-merge.sample"):
        (hooks / name).write_text("#!/bin/sh\n")
        (hooks / name).chmod(0o755)
    (hooks / "pre-push").write_text("not executable")
    (found,) = watch.findings()
    assert (found.kind, found.subjects) == ("git-hook", ("hooks/pre-commit",))
    (hooks / "pre-push").chmod(0o755)
    assert [finding.subjects for finding in watch.findings()] == [("hooks/pre-push",)]


def test_alternates_and_attributes_are_told(watch: Watchlist, top: Path) -> None:
    (top / ".git" / "objects" / "info" / "alternates").write_text("/elsewhere\n")
    (top / ".git" / "info" / "attributes").write_text("* filter=x\n")
    (found,) = watch.findings()
    assert found.subjects == ("info/attributes", "objects/info/alternates")


def test_c7_another_branch_is_told_with_both_names(watch: Watchlist, top: Path) -> None:
    git(top, "checkout", "-q", "-b", "other")
    assert watch.findings() == (Finding("branch-changed", "main -> other", ("main", "other")),)
    assert watch.findings() == ()


def test_c7_r079_a_detached_head_and_the_commits_it_leaves_behind_are_told(watch: Watchlist, top: Path) -> None:
    git(top, "checkout", "-q", "--detach")
    assert kinds(watch.findings()) == ["head-detached"]
    git(top, "commit", "-q", "--allow-empty", "-m", "lost")
    lost = git(top, "rev-parse", "HEAD")
    assert watch.findings() == ()
    git(top, "checkout", "-q", "main")
    found = watch.findings()
    assert kinds(found) == ["branch-changed", "commits-orphaned"]
    assert found[1].subjects == (lost,)


def test_c7_a_deleted_branch_is_told(top: Path) -> None:
    git(top, "checkout", "-q", "-b", "side")
    git(top, "commit", "-q", "--allow-empty", "-m", "lost")
    lost = git(top, "rev-parse", "HEAD")
    git(top, "checkout", "-q", "main")
    with closing(Watchlist(At(top, top / ".git", top / ".git"), find_git())) as watch:
        git(top, "branch", "-qD", "side")
        found = watch.findings()
    assert kinds(found) == ["branch-deleted", "commits-orphaned"]
    assert (found[0].subjects, found[1].subjects) == (("refs/heads/side",), (lost,))


@pytest.mark.parametrize("packed", [False, True])
def test_c5_a_rewritten_history_is_told_and_is_no_damage(watch: Watchlist, top: Path, packed: bool) -> None:
    git(top, "commit", "-q", "--amend", "--allow-empty", "-m", "rewritten")
    if packed:
        git(top, "pack-refs", "--all")
    found = watch.findings()
    assert kinds(found) == ["history-rewritten"]
    assert found[0].subjects == ("refs/heads/main",)
    assert watch.damage() is None


def test_c8_r081_a_moved_remote_branch_is_told(top: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "remote")
    git(top, "remote", "add", "origin", str(tmp_path / "remote"))
    with closing(Watchlist(At(top, top / ".git", top / ".git"), find_git())) as watch:
        git(top, "push", "-q", "origin", "main")
        assert [(f.kind, f.subjects) for f in watch.findings()] == [("remote-moved", ("refs/remotes/origin/main",))]


def test_r078_a_stash_left_behind_is_told(watch: Watchlist, top: Path) -> None:
    (top / "a").write_text("two\n")
    git(top, "stash", "-q")
    assert watch.findings() == (Finding("stash-changed", "a stash was left", ("refs/stash",)),)


@pytest.mark.parametrize("name", ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "BISECT_LOG"])
def test_r078_an_unfinished_operation_is_told_once(watch: Watchlist, top: Path, name: str) -> None:
    (top / ".git" / name).mkdir() if name == "rebase-merge" else (top / ".git" / name).touch()
    assert kinds(watch.findings()) == ["unfinished"]
    assert watch.findings() == ()


def test_c6_r080_a_lock_nobody_holds_is_told_with_its_age_and_stays(watch: Watchlist, top: Path) -> None:
    lock = top / ".git" / "index.lock"
    lock.touch()
    os.utime(lock, (2e9 - 90, 2e9 - 90))
    (top / ".git" / "refs" / "heads" / "x.lock").touch()
    os.utime(top / ".git" / "refs" / "heads" / "x.lock", (2e9, 2e9))
    assert [finding.detail for finding in watch.findings()] == [
        "index.lock, 90 s old, no process holds it",
        "refs/heads/x.lock, 0 s old, no process holds it",
    ]
    assert watch.findings() == ()
    assert lock.exists()


def test_c6_a_lock_that_a_process_holds_is_not_told_until_it_is_left(watch: Watchlist, top: Path) -> None:
    with open(top / ".git" / "HEAD.lock", "wb"):
        assert watch.findings() == ()
    assert kinds(watch.findings()) == ["lock-left"]


def test_what_was_there_at_the_start_is_no_news(top: Path) -> None:
    (top / ".git" / "index.lock").touch()
    (top / ".git" / "MERGE_HEAD").touch()
    git(top, "config", "core.hooksPath", "x")
    with closing(Watchlist(At(top, top / ".git", top / ".git"), find_git())) as watch:
        assert watch.findings() == ()


def test_watching_executes_nothing_that_is_planted_and_writes_nothing(
    watch: Watchlist, top: Path, tmp_path: Path
) -> None:
    """C13 to C15: the findings come from reading; the repository is left byte for byte."""
    first = git(top, "rev-parse", "HEAD")
    git(top, "commit", "-q", "--amend", "--allow-empty", "-m", "rewritten")
    git(top, "update-ref", "refs/heads/gone", first)
    watch.findings()
    git(top, "update-ref", "-d", "refs/heads/gone")
    plant(top, tmp_path / "marks")
    for mark in (tmp_path / "marks").iterdir():
        mark.unlink()
    before = picture(top)
    assert {"git-config", "git-hook", "git-file", "branch-deleted"} <= set(kinds(watch.findings()))
    assert watch.damage() is None
    assert executed(tmp_path / "marks") == []
    assert picture(top) == before


def test_hostile_refs_neither_raise_nor_hang(watch: Watchlist, top: Path) -> None:
    heads = top / ".git" / "refs" / "heads"
    os.mkfifo(heads / "pipe")
    (heads / "link").symlink_to("/etc/passwd")
    (heads / "loop").symlink_to(heads)
    (heads / os.fsdecode(b"\xff\x1b[31m")).write_bytes(b"\x00" * 9000)
    (heads / "-x").write_text("ref: refs/heads/-x\n")
    (top / ".git" / "HEAD").write_bytes(b"\xff" * 5000)
    assert watch.damage() is None
    kinds(watch.findings())
    (top / ".git" / "HEAD").unlink()
    os.mkfifo(top / ".git" / "HEAD")
    kinds(watch.findings())


def test_descriptors_are_let_go(top: Path) -> None:
    before = sorted(path.name for path in Path("/proc/self/fd").iterdir())
    git_program = find_git()
    held = len(list(Path("/proc/self/fd").iterdir()))
    watch = Watchlist(At(top, top / ".git", top / ".git"), git_program)
    watch.findings()
    watch.close()
    assert len(list(Path("/proc/self/fd").iterdir())) == held
    assert before
