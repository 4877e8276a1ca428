"""What was saved comes back, byte for byte, and nothing is lost, run, or written elsewhere on the way."""

from __future__ import annotations

import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph.errors import UserError
from ralph.facts.reason import Reason
from ralph.repo.diff import diff
from ralph.repo.find import locate
from ralph.repo.git import find_git
from ralph.repo.keep import keep_all, kept_folder
from ralph.repo.kept import read_manifest
from ralph.repo.restore import Restored, restore, saving
from ralph.repo.store import Store
from ralph.repo.worktree import WorkTree
from tests.repo.planted import executed, plant
from tests.repo.saving import git, picture, save, work

RUN = "r1"


@dataclass(frozen=True)
class User:
    """A user's repository with a store beside it, as a run finds it."""

    top: Path
    store: Store
    git_dir: Path
    common_dir: Path

    def start(self) -> None:
        """Save what a run saves before its first iteration."""
        tree = save(self.top, self.store, RUN, "start")
        keep_all(self, self.store, RUN, tree=tree, also=(".env*",), max_bytes=1 << 30)

    def restore(self, state: str = "start", *, git: bool = False) -> Restored:
        return restore(
            self.top, self.store, RUN, state, git=git, present=lambda label: save(self.top, self.store, RUN, label)
        )


def make_user(folder: Path, *, hashes: str = "sha1") -> User:
    top = folder / "user"
    top.mkdir()
    git(top, "init", "-q", "-b", "main", f"--object-format={hashes}")
    (top / ".gitignore").write_text(".env*\nbuild/\n")
    (top / "a").write_text("one\n")
    git(top, "add", ".")
    git(top, "commit", "-qm", "first")
    return User(top, Store.open(folder / "store", find_git()), top / ".git", top / ".git")


@pytest.fixture
def user(tmp_path: Path) -> User:
    return make_user(tmp_path)


def state_of(top: Path) -> tuple[str, ...]:
    """Return what a person sees of a repository: status, branches, stash, reflogs, the index."""
    asked = (
        ("status", "--porcelain=v2", "--branch"),
        ("for-each-ref",),
        ("stash", "list"),
        ("reflog", "--all"),
        ("ls-files", "-s"),
        ("fsck", "--no-dangling", "--no-progress"),
    )
    return tuple(git(top, *args) for args in asked)


def test_c18_uncommitted_work_comes_back_after_reset_and_clean(user: User) -> None:
    (user.top / "a").write_text("edited\n")
    (user.top / "new dir").mkdir()
    (user.top / "new dir" / "untracked\n").write_bytes(b"\0\r\n")
    (user.top / "run").write_text("#!/bin/sh\n")
    (user.top / "run").chmod(0o755)
    (user.top / "link").symlink_to("../nowhere")
    (user.top / "key").touch(mode=0o600)
    (user.top / ".env").write_text("KEY=1\n")
    (user.top / ".env").chmod(0o640)
    before = work(user.top)
    user.start()
    git(user.top, "reset", "-q", "--hard")
    git(user.top, "clean", "-qfdx")
    told = user.restore()
    assert told.is_whole
    assert work(user.top) == before


@pytest.mark.parametrize("hashes", ["sha1", "sha256"])
def test_r077_everything_comes_back_after_the_whole_tree_was_deleted(tmp_path: Path, hashes: str) -> None:
    user = make_user(tmp_path, hashes=hashes)
    git(user.top, "commit", "-q", "--allow-empty", "-m", "packed")
    git(user.top, "gc", "-q")
    git(user.top, "branch", "side")
    git(user.top, "tag", "-a", "v1", "-m", "v1")
    (user.top / "a").write_text("stashed\n")
    git(user.top, "stash", "-q")
    (user.top / "a").write_text("staged\n")
    git(user.top, "add", "a")
    (user.top / "a").write_text("and more\n")
    (user.top / ".env").write_text("KEY=1\n")
    seen = state_of(user.top)
    before = picture(user.top)
    user.start()
    shutil.rmtree(user.top)
    told = user.restore(git=True)
    assert told.is_whole
    assert told.saved_as == ""
    assert picture(user.top) == before
    assert state_of(user.top) == seen
    assert (user.top / ".git" / "refs" / "heads").is_dir()


def test_only_git_deleted_comes_back_and_todays_work_stays_saved(user: User) -> None:
    seen = state_of(user.top)
    user.start()
    shutil.rmtree(user.top / ".git")
    (user.top / "work").write_text("of the agent\n")
    told = user.restore(git=True)
    assert state_of(user.top) == seen
    assert not (user.top / "work").exists()
    again = user.restore(told.saved_as)
    assert again.files.written == ["work"]
    assert (user.top / "work").read_text() == "of the agent\n"


def test_what_cannot_be_saved_first_is_not_overwritten(user: User) -> None:
    user.start()
    (user.top / ".git" / "HEAD").write_text("ref: refs/heads/other\n")
    with open(user.top / ".git" / "ORIG_HEAD", "wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(UserError, match="ORIG_HEAD"):
        user.restore(git=True)
    assert (user.top / ".git" / "HEAD").read_text() == "ref: refs/heads/other\n"


def test_a_pipe_planted_in_the_git_directory_stops_nothing(user: User) -> None:
    user.start()
    (user.top / ".git" / "description").unlink()
    os.mkfifo(user.top / ".git" / "description")
    os.mkfifo(user.top / ".git" / "MERGE_MSG")
    assert user.restore(git=True).is_whole
    assert (user.top / ".git" / "description").is_file()
    assert not (user.top / ".git" / "MERGE_MSG").exists()


def test_a_restore_is_undone_by_restoring_what_was_saved_before_it(user: User) -> None:
    user.start()
    (user.top / "a").write_text("agent\n")
    git(user.top, "commit", "-qam", "agent's")
    git(user.top, "checkout", "-q", "-b", "other")
    (user.top / ".env").write_text("KEY=agent\n")
    seen = state_of(user.top)
    before = picture(user.top)
    first = user.restore(git=True)
    assert git(user.top, "symbolic-ref", "HEAD") == "refs/heads/main"
    assert (user.top / "a").read_text() == "one\n"
    user.restore(first.saved_as, git=True)
    now = picture(user.top)
    assert {path: now[path] for path in before} == before
    assert state_of(user.top) == seen


def test_files_that_came_since_are_removed_but_ignored_ones_stay(user: User) -> None:
    user.start()
    (user.top / "junk" / "deep").mkdir(parents=True)
    (user.top / "junk" / "deep" / "f").touch()
    (user.top / "build").mkdir()
    (user.top / "build" / "out").write_text("ignored")
    (user.top / ".env.other").write_text("ignored, made since")
    told = user.restore()
    assert told.files.removed == ["junk/deep/f"]
    assert not (user.top / "junk").exists()
    assert (user.top / "build" / "out").read_text() == "ignored"
    assert (user.top / ".env.other").read_text() == "ignored, made since"


def test_an_unchanged_file_is_not_written_again(user: User) -> None:
    user.start()
    before = (user.top / "a").stat()
    told = user.restore()
    assert told.files.written == []
    assert (user.top / "a").stat() == before


def test_c19_a_linked_parent_leads_nowhere(user: User, tmp_path: Path) -> None:
    (user.top / "d").mkdir()
    (user.top / "d" / "f").write_text("mine\n")
    user.start()
    outside = tmp_path / "outside"
    outside.mkdir()
    shutil.rmtree(user.top / "d")
    (user.top / "d").symlink_to(outside)
    told = user.restore()
    assert told.is_whole
    assert list(outside.iterdir()) == []
    assert (user.top / "d" / "f").read_text() == "mine\n"
    assert not (user.top / "d").is_symlink()


def test_c19_a_linked_parent_that_the_agent_made_ignored_is_set_aside(user: User, tmp_path: Path) -> None:
    (user.top / "d").mkdir()
    (user.top / "d" / "f").write_text("mine\n")
    user.start()
    outside = tmp_path / "outside"
    outside.mkdir()
    shutil.rmtree(user.top / "d")
    (user.top / "d").symlink_to(outside)
    (user.top / ".git" / "info" / "exclude").write_text("d\n")
    told = user.restore()
    assert told.files.aside == ["d"]
    assert list(outside.iterdir()) == []
    assert (user.top / "d" / "f").read_text() == "mine\n"
    aside = read_manifest(kept_folder(user.store, RUN) / told.saved_as / "ignored")
    assert [(row.path, row.text) for row in aside.rows] == [("d", str(outside))]


def test_an_ignored_file_in_the_way_is_saved_before_it_is_overwritten(user: User) -> None:
    user.start()
    (user.top / "a").write_text("made ignored, then changed\n")
    git(user.top, "rm", "-q", "--cached", "a")
    (user.top / ".gitignore").write_text("a\n")
    told = user.restore()
    assert (user.top / "a").read_text() == "one\n"
    assert told.files.aside == ["a"]
    user.restore(told.saved_as)
    assert (user.top / "a").read_text() == "made ignored, then changed\n"


def test_an_ignored_directory_in_the_way_stays_and_is_named(user: User) -> None:
    user.start()
    (user.top / "a").unlink()
    (user.top / "a").mkdir()
    (user.top / "a" / "x").touch()
    (user.top / ".gitignore").write_text("a/\n")
    told = user.restore()
    assert not told.is_whole
    assert told.files.blocked == ["a: a directory with ignored files stands there"]
    assert (user.top / "a" / "x").exists()


def test_a_hard_link_planted_under_a_file_is_not_written_through(user: User, tmp_path: Path) -> None:
    user.start()
    victim = tmp_path / "victim"
    victim.write_text("of somebody else\n")
    (user.top / "a").unlink()
    os.link(victim, user.top / "a")
    user.restore()
    assert victim.read_text() == "of somebody else\n"
    assert (user.top / "a").read_text() == "one\n"


def test_restore_refuses_while_a_run_is_alive(user: User) -> None:
    user.start()
    (user.top / "a").write_text("now\n")
    with pytest.raises(UserError) as caught:
        restore(user.top, user.store, RUN, "start", present=lambda _: "", alive="pid 7")
    assert caught.value.reason is Reason.LOCKED
    assert (user.top / "a").read_text() == "now\n"


def test_restore_refuses_a_root_that_is_a_link_now(user: User, tmp_path: Path) -> None:
    user.start()
    elsewhere = tmp_path / "elsewhere"
    user.top.rename(elsewhere)
    user.top.symlink_to(elsewhere)
    (elsewhere / "a").write_text("untouched\n")
    with pytest.raises(UserError) as caught:
        user.restore(git=True)
    assert caught.value.reason is Reason.REPO_DAMAGED
    assert (elsewhere / "a").read_text() == "untouched\n"


@pytest.mark.parametrize("path", ["../out", "/out", ".git/hooks/post-checkout", "sub/.GIT/config", "a/../../out"])
def test_a_path_outside_the_work_tree_is_never_written(user: User, path: str, tmp_path: Path) -> None:
    """A store that was tampered with still cannot make us write outside, or into a git directory."""
    user.start()
    blob = user.store.write_blob(b"evil")
    tree = user.store.write_tree({os.fsencode(path): (b"100755", blob)})
    user.store.label(RUN, "9", tree)
    before = picture(tmp_path / "user" / ".git")
    told = user.restore("9")
    assert len(told.files.blocked) == 1
    assert picture(tmp_path / "user" / ".git") == before
    assert not (tmp_path / "out").exists()


def test_an_unknown_state_names_the_known_ones(user: User) -> None:
    user.start()
    with pytest.raises(UserError) as caught:
        user.restore("12")
    assert caught.value.fix == "Saved states: start."


def test_a_damaged_blob_is_named_and_the_file_left_alone(user: User) -> None:
    user.start()
    oid = user.store.entries(user.store.labels(RUN)["start"])[b"a"][1]
    loose = user.store.path / "objects" / oid[:2] / oid[2:]
    loose.write_bytes(loose.read_bytes()[:-1])
    (user.top / "a").write_text("now\n")
    told = user.restore()
    assert not told.is_whole
    assert [line.split(":")[0] for line in told.files.damaged] == ["a"]
    assert (user.top / "a").read_text() == "now\n"


def test_nothing_planted_runs_while_everything_is_restored(user: User, tmp_path: Path) -> None:
    """C19, R086: smudge, hooks, monitors, signers; planted before the start, so that they also come back as data."""
    marks = tmp_path / "marks"
    plant(user.top, marks)
    before = picture(user.top)
    user.start()
    for label in ("start", "again"):
        (user.top / "a").write_text(f"{label}\n")
        (user.top / ".git" / "MERGE_HEAD").write_text("x\n")
        # The stand-in for saving runs the user's git; the planted monitor may run there, not here.
        tree = user.store.labels(RUN)["start"]
        restore(user.top, user.store, RUN, "start", git=True, present=lambda _, tree=tree: tree)  # type: ignore[misc]
    shutil.rmtree(user.top)
    for mark in marks.iterdir():
        mark.unlink()
    restore(user.top, user.store, RUN, "start", git=True, present=lambda _: "")
    assert picture(user.top) == before
    assert executed(marks) == []


def test_an_unfinished_merge_and_planted_hooks_go_and_locks_stay(user: User) -> None:
    user.start()
    dot = user.top / ".git"
    (dot / "MERGE_HEAD").write_text("0" * 40 + "\n")
    (dot / "rebase-merge").mkdir()
    (dot / "hooks" / "post-checkout").write_text("#!/bin/sh\n")
    (dot / "index.lock").touch()
    told = user.restore(git=True)
    assert told.git is not None
    assert {Path(path).name for path in told.git.removed} == {"MERGE_HEAD", "post-checkout"}
    assert not (dot / "rebase-merge").exists()
    assert (dot / "index.lock").exists()
    assert any("index.lock" in note for note in told.git.notes)


@pytest.mark.parametrize("packed", [False, True])
def test_branches_come_back_and_those_made_since_stay(user: User, packed: bool) -> None:
    """C5, C7: rewritten, deleted, detached, packed away: the branches of the start are what they were."""
    git(user.top, "branch", "gone")
    before = git(user.top, "rev-parse", "main", "gone")
    if packed:
        git(user.top, "pack-refs", "--all")
    user.start()
    git(user.top, "commit", "-q", "--amend", "--allow-empty", "-m", "rewritten")
    git(user.top, "branch", "made")
    git(user.top, "branch", "-q", "-D", "gone")
    git(user.top, "checkout", "-q", "--detach")
    git(user.top, "pack-refs", "--all")
    made = git(user.top, "rev-parse", "made")
    user.restore(git=True)
    assert git(user.top, "rev-parse", "main", "gone") == before
    assert git(user.top, "rev-parse", "made") == made
    assert git(user.top, "symbolic-ref", "HEAD") == "refs/heads/main"
    assert git(user.top, "status", "--porcelain") == ""


def test_a_branch_made_since_that_has_no_room_is_named(user: User) -> None:
    git(user.top, "branch", "feature")
    user.start()
    git(user.top, "branch", "-D", "feature")
    git(user.top, "branch", "feature/x")
    told = user.restore(git=True)
    assert told.git is not None
    assert "refs/heads/feature" in git(user.top, "for-each-ref")
    assert any("feature" in note for note in told.git.notes)


def test_c9_objects_pruned_since_come_back(user: User) -> None:
    (user.top / "a").write_text("stashed\n")
    git(user.top, "stash", "-q")
    seen = state_of(user.top)
    user.start()
    git(user.top, "stash", "drop", "-q")
    git(user.top, "reflog", "expire", "--expire=now", "--all")
    git(user.top, "gc", "-q", "--prune=now")
    user.restore(git=True)
    assert state_of(user.top) == seen


def test_a_corrupted_object_of_the_user_is_replaced(user: User) -> None:
    user.start()
    loose = next(path for path in (user.top / ".git" / "objects").glob("??/*"))
    good = loose.read_bytes()
    loose.chmod(0o644)
    loose.write_bytes(b"x" * len(good))
    user.restore(git=True)
    assert loose.read_bytes() == good
    assert stat.S_IMODE(loose.stat().st_mode) == 0o444


def test_a_damaged_kept_file_is_named_and_not_written(user: User) -> None:
    user.start()
    kept = read_manifest(kept_folder(user.store, RUN) / "git")
    row = next(r for r in kept.rows if r.check == "loose")
    kept.stored(row).write_bytes(b"x" * row.size)
    shutil.rmtree(user.top)
    told = user.restore(git=True)
    assert not told.is_whole
    assert told.git is not None
    assert len(told.git.damaged) == 1
    assert row.path in told.git.damaged[0]
    assert not (user.top / ".git" / row.path).exists()


@pytest.mark.parametrize("shape", ["file", "link", "other"])
def test_c1_a_replaced_git_directory_is_made_anew(user: User, tmp_path: Path, shape: str) -> None:
    seen = state_of(user.top)
    user.start()
    dot = user.top / ".git"
    moved = tmp_path / "moved"
    dot.rename(moved)
    if shape == "file":
        dot.write_text(f"gitdir: {moved}\n")
    elif shape == "link":
        dot.symlink_to(moved)
    else:
        git(user.top, "init", "-q", "-b", "trunk")
    elsewhere = picture(moved)
    user.restore(git=True)
    assert state_of(user.top) == seen
    assert picture(moved) == elsewhere


def test_links_planted_inside_the_git_directory_lead_nowhere(user: User, tmp_path: Path) -> None:
    seen = state_of(user.top)
    user.start()
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("refs", "logs", "hooks"):
        shutil.rmtree(user.top / ".git" / name)
        (user.top / ".git" / name).symlink_to(outside)
    (user.top / ".git" / "config").unlink()
    (user.top / ".git" / "config").symlink_to(outside / "config")
    user.restore(git=True)
    assert list(outside.iterdir()) == []
    assert state_of(user.top) == seen


def test_a_linked_worktree_gives_back_only_its_own_part(user: User, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    git(user.top, "worktree", "add", "-q", str(linked), "-b", "side")
    there = User(linked, user.store, user.top / ".git" / "worktrees" / "linked", user.top / ".git")
    there.start()
    side = git(linked, "rev-parse", "HEAD")
    git(user.top, "commit", "-q", "--allow-empty", "-m", "the user went on")
    main = git(user.top, "rev-parse", "main")
    git(linked, "commit", "-q", "--allow-empty", "-m", "agent")
    git(linked, "checkout", "-q", "--detach")
    shutil.rmtree(linked)
    there.restore(git=True)
    assert git(linked, "symbolic-ref", "HEAD") == "refs/heads/side"
    assert git(linked, "rev-parse", "HEAD") == side
    assert git(linked, "status", "--porcelain") == ""
    assert git(user.top, "rev-parse", "main") == main


def test_a_nested_repository_comes_back_with_its_git_directory(user: User) -> None:
    """C10: its files lie in the same saved tree, its git directory is a root of its own."""
    nested = user.top / "sub"
    nested.mkdir()
    git(nested, "init", "-q", "-b", "main")
    (nested / "f").write_text("nested\n")
    git(nested, "add", "f")
    git(nested, "commit", "-qm", "nested")
    seen = state_of(nested)
    blob = user.store.write_blob(b"nested\n")
    sub = user.store.write_tree({b"f": (b"100644", blob)})
    tree = user.store.write_tree({b"sub": (b"40000", sub)})
    user.store.label(RUN, "start", tree)
    keep_all(user, user.store, RUN, tree=tree, also=(), max_bytes=1 << 30)
    shutil.rmtree(nested)
    restore(user.top, user.store, RUN, "start", git=True, present=lambda _: user.store.write_tree({}))
    assert (nested / "f").read_text() == "nested\n"
    assert state_of(nested) == seen


def test_a_submodule_comes_back_with_its_pointer_and_its_git_directory(user: User, tmp_path: Path) -> None:
    """C10: its git directory lies in the outer one's `modules`, its `.git` is a file."""
    git(tmp_path, "clone", "-q", "--bare", str(user.top), "library")
    git(user.top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "library"), "sub")
    git(user.top, "commit", "-qm", "with a submodule")
    (user.top / "sub" / "a").write_text("edited in the submodule\n")
    program = find_git()
    place = locate(user.top, program, no_git=False)
    repo = WorkTree.open(place, user.store, program, run=RUN, ignore=(), max_file_bytes=1 << 20)
    present = saving(repo, user.store, RUN)
    seen = state_of(user.top), state_of(user.top / "sub")
    before = picture(user.top)
    keep_all(place, user.store, RUN, tree=present("start"), also=(), max_bytes=1 << 20)
    shutil.rmtree(user.top)
    told = restore(user.top, user.store, RUN, "start", git=True, present=present)
    assert told.is_whole, told
    assert picture(user.top) == before
    assert (state_of(user.top), state_of(user.top / "sub")) == seen


def test_the_real_fingerprint_saves_what_a_restore_brings_back(user: User) -> None:
    """C10, C18: with a nested repository, whose content lies in the same saved tree."""
    nested = user.top / "sub"
    nested.mkdir()
    git(nested, "init", "-q", "-b", "main")
    (nested / "f").write_text("nested\n")
    git(nested, "add", "f")
    git(nested, "commit", "-qm", "nested")
    (nested / "g").write_text("nested, not committed\n")
    (user.top / "new").write_text("not committed\n")
    (user.top / "build").mkdir()
    (user.top / "build" / "out").write_text("ignored\n")
    program = find_git()

    def opened() -> WorkTree:
        place = locate(user.top, program, no_git=False)
        return WorkTree.open(place, user.store, program, run=RUN, ignore=(), max_file_bytes=1 << 20)

    repo = opened()
    present = saving(repo, user.store, RUN)
    tree = present("start")
    seen = state_of(user.top), state_of(nested)
    before = picture(user.top)
    keep_all(repo.place, user.store, RUN, tree=tree, also=(), max_bytes=1 << 20)
    shutil.rmtree(nested)
    (user.top / "a").write_text("agent\n")
    shutil.rmtree(user.top / ".git")
    (user.top / "later").touch()
    told = restore(user.top, user.store, RUN, "start", git=True, present=saving(opened(), user.store, RUN))
    assert told.is_whole, told
    assert picture(user.top) == before
    assert (state_of(user.top), state_of(nested)) == seen
    assert [change.path for change in diff(user.store, RUN, "start", told.saved_as)] == ["a", "later", "sub/f", "sub/g"]


NAMES = st.sampled_from(["a", "b c", "d\n", "é", "-x", "q", "r.txt"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
CONTENT = st.tuples(st.sampled_from(["file", "program", "link", "private"]), st.binary(max_size=40))
TREES = st.dictionaries(PATHS, CONTENT, max_size=8)
Generated = dict[str, tuple[str, bytes]]


def fill(top: Path, files: Generated) -> None:
    """Write generated files; one whose place is taken by another is skipped."""
    for path, (kind, data) in files.items():
        at = top / path
        if any(parent.is_symlink() or parent.is_file() for parent in at.parents) or os.path.lexists(at):
            continue
        at.parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            at.symlink_to(data.hex() or "x")
        else:
            at.write_bytes(data)
            at.chmod({"file": 0o644, "program": 0o755, "private": 0o600}[kind])


@given(before=TREES, after=TREES, whole=st.booleans(), packed=st.booleans())
@settings(max_examples=6, deadline=None)
def test_any_tree_comes_back_after_any_other(
    tmp_path_factory: pytest.TempPathFactory, before: Generated, after: Generated, whole: bool, packed: bool
) -> None:
    """Every byte, mode, link, branch, stash and reflog, whether the agent deleted all of it or left another tree."""
    comes_back(tmp_path_factory.mktemp("any"), before, after, whole=whole, packed=packed)


@pytest.mark.slow
@given(before=TREES, after=TREES, whole=st.booleans(), packed=st.booleans())
@settings(max_examples=200, deadline=None)
def test_any_of_many_trees_comes_back_after_any_other(
    tmp_path_factory: pytest.TempPathFactory, before: Generated, after: Generated, whole: bool, packed: bool
) -> None:
    """The same claim, many more times."""
    comes_back(tmp_path_factory.mktemp("any"), before, after, whole=whole, packed=packed)


def comes_back(folder: Path, before: Generated, after: Generated, *, whole: bool, packed: bool) -> None:
    user = make_user(folder)
    (user.top / "a").write_text("stashed\n")
    git(user.top, "stash", "-q")
    git(user.top, "rm", "-q", "a")
    fill(user.top, before)
    git(user.top, "add", "-A")
    git(user.top, "branch", "side")
    if packed:
        git(user.top, "gc", "-q")
    seen = state_of(user.top)
    files = picture(user.top)
    user.start()
    for entry in user.top.iterdir():
        if entry.is_dir() and not entry.is_symlink() and (whole or entry.name != ".git"):
            shutil.rmtree(entry)
        elif entry.name != ".git":
            entry.unlink()
    fill(user.top, after)
    told = user.restore(git=True)
    assert told.is_whole, told
    assert picture(user.top) == files
    assert state_of(user.top) == seen
