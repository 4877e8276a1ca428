"""The fingerprint in the cases that public reports and the fault catalogue name; ids in the docstrings."""

from __future__ import annotations

import os
import socket
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ralph.ports import Repo
from ralph.repo.look import DEFAULT, Pace
from ralph.repo.objects import GITLINK
from ralph.repo.reading import SAMPLE_ABOVE
from tests.repo.trees import EAGER, git, opened, raw_tree, repository, write

PACES = pytest.mark.parametrize("pace", [DEFAULT, EAGER], ids=["overlay", "index"])


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return repository(tmp_path / "repo", {"a": "1\n", "d/b": "2\n"})


@PACES
def test_committed_work_counts_and_committing_does_not(top: Path, tmp_path: Path, pace: Pace) -> None:
    """R030: the agent commits its own work."""
    world = opened(top, tmp_path / "state", pace=pace)
    seen = [world.id()]
    for n in range(3):
        write(top, {"a": f"{n}\n" * (n + 2)})
        git(top, "add", "-A")
        git(top, "commit", "-q", "-m", "work")
        seen.append(world.id())
        git(top, "commit", "-q", "--amend", "-m", "other words")
        assert world.id() == seen[-1]
    assert len(set(seen)) == 4


@PACES
def test_content_of_untracked_files_counts(top: Path, tmp_path: Path, pace: Pace) -> None:
    """R031: same name, same status line, other bytes."""
    world = opened(top, tmp_path / "state", pace=pace)
    seen = set()
    for text in ("x", "y", "z"):
        write(top, {"notes.txt": text})
        seen.add(world.id())
    assert len(seen) == 3


@PACES
def test_work_in_a_nested_repository_counts(top: Path, tmp_path: Path, pace: Pace) -> None:
    """R032: committed there or not; its own ignore rules and its own index hold."""
    inner = repository(top / "inner", {"f": "1", "ignored-but-tracked": "1"})
    write(inner, {".gitignore": "ignored*\n"})
    world = opened(top, tmp_path / "state", pace=pace)
    seen = [world.id()]
    write(inner, {"f": "22"})
    seen.append(world.id())
    git(inner, "commit", "-q", "-a", "-m", "x")
    assert world.id() == seen[-1]
    write(inner, {"ignored-but-tracked": "22"})
    seen.append(world.id())
    write(inner, {"ignored-new": "1"})
    assert world.id() == seen[-1]
    write(inner, {"new": "1"})
    seen.append(world.id())
    assert len(set(seen)) == 4
    names = {b"a", b"d/b", b"inner/f", b"inner/.gitignore", b"inner/ignored-but-tracked", b"inner/new"}
    assert world.id() == raw_tree(top, tmp_path / "raw", names)


@PACES
def test_nested_content_is_saved_and_compared(top: Path, tmp_path: Path, pace: Pace) -> None:
    """R032"""
    write(repository(top / "n" / "inner"), {"f": "1\n"})
    world = opened(top, tmp_path / "state", pace=pace)
    before = world.tree.look()
    world.tree.save(before, "start")
    write(top, {"n/inner/f": "1\n2\n"})
    after = world.tree.look()
    world.tree.save(after, "1")
    changes = world.tree.changes(before, after)
    assert (changes.paths, changes.added, changes.removed) == (("n/inner/f",), 1, 0)
    oid = world.store.entries(after.id)[b"n/inner/f"][1]
    assert world.store.read_blob(oid) == b"1\n2\n"


def test_a_submodule_is_content(top: Path, tmp_path: Path) -> None:
    """C10: populated by git, with a `.git` file and a directory of its own."""
    library = repository(tmp_path / "library", {"f": "1\n"})
    git(top, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "sub")
    git(top, "commit", "-q", "-m", "sub")
    world = opened(top, tmp_path / "state", pace=EAGER)
    first = world.id()
    assert first == raw_tree(top, tmp_path / "raw", {b"a", b"d/b", b".gitmodules", b"sub/f"})
    write(top, {"sub/f": "22\n"})
    assert world.id() != first


def test_too_deep_a_nest_is_partial(top: Path, tmp_path: Path) -> None:
    """C10: depth 8 is looked at, depth 9 is said."""
    place = top
    for n in range(8):
        place = repository(place / f"n{n}", {"f": "1"})
    world = opened(top, tmp_path / "state")
    assert world.tree.look().partial == ()
    repository(place / "n8", {"f": "1"})
    assert "nested more than 8 deep" in world.tree.look().partial[0]


@PACES
def test_a_repository_without_commits_works_and_so_does_its_first(tmp_path: Path, pace: Pace) -> None:
    """R033"""
    top = repository(tmp_path / "repo")
    world = opened(top, tmp_path / "state", pace=pace)
    empty = world.tree.look()
    assert (empty.head, empty.branch, empty.files) == (None, "main", 0)
    write(top, {"PROMPT.md": "x"})
    one = world.tree.look()
    git(top, "add", "-A")
    git(top, "commit", "-q", "-m", "first")
    two = world.tree.look()
    assert (one.id != empty.id, two.id, two.files) == (True, one.id, 1)
    assert two.head == git(top, "rev-parse", "HEAD").decode().strip()


def test_dirt_from_before_the_run_is_no_progress(top: Path, tmp_path: Path) -> None:
    """R034"""
    write(top, {"a": "dirty", "new": "dirty"})
    world = opened(top, tmp_path / "state")
    assert world.id() == world.id()


@PACES
def test_an_ignored_path_is_outside_also_when_tracked_or_negated(top: Path, tmp_path: Path, pace: Pace) -> None:
    """R035: a heartbeat file, tracked, and a `.gitignore` that wants it back."""
    write(top, {"STATUS.md": "0", "logs/x/y.log": "0", "keep/me": "0", ".gitignore": "!STATUS.md\n!*.log\n"})
    git(top, "add", "-A")
    git(top, "commit", "-q", "-m", "heartbeat")
    world = opened(top, tmp_path / "state", ignore=("STATUS.md", "logs/", "/keep/*", "!/keep/me"), pace=pace)
    first = world.id()
    write(top, {"STATUS.md": "1", "logs/x/y.log": "1", "logs/new": "1", "sub/STATUS.md": "1"})
    assert world.id() == first
    write(top, {"keep/me": "1"})
    assert world.id() != first


@PACES
def test_every_byte_and_mode_counts_and_states_return(top: Path, tmp_path: Path, pace: Pace) -> None:
    """R036: line ends and the executable bit are content; what comes back is seen as the same."""
    write(top, {".gitattributes": "* text eol=crlf\n"})
    git(top, "config", "core.autocrlf", "true")
    git(top, "config", "core.fileMode", "false")
    world = opened(top, tmp_path / "state", pace=pace)
    first = world.id()
    (top / "a").write_bytes(b"1\r\n")
    crlf = world.id()
    (top / "a").write_bytes(b"1\n")
    assert world.id() == first
    (top / "a").chmod(0o755)
    executable = world.id()
    (top / "a").chmod(0o644)
    assert world.id() == first
    assert len({first, crlf, executable}) == 3


def test_a_required_filter_that_is_missing_does_not_matter(top: Path, tmp_path: Path) -> None:
    """R037"""
    write(top, {".gitattributes": "* filter=lfs\n"})
    git(top, "config", "filter.lfs.clean", "no-such-program")
    git(top, "config", "filter.lfs.required", "true")
    world = opened(top, tmp_path / "state", pace=EAGER)
    first = world.id()
    write(top, {"a": "9\n"})
    assert world.id() != first


@pytest.mark.parametrize("name", [b"a b", b"\xc3\xa9", b"new\nline", b"-dash", b"\xff", b'q"\\', b" ", b"\x1b[31m"])
@PACES
def test_an_odd_name_is_a_name(top: Path, tmp_path: Path, name: bytes, pace: Pace) -> None:
    """R038, C11"""
    world = opened(top, tmp_path / "state", pace=pace)
    world.tree.look()
    (top / os.fsdecode(name)).write_text("1\n")
    after = world.tree.look()
    world.tree.save(after, "1")
    assert after.id == raw_tree(top, tmp_path / "raw", {b"a", b"d/b", name})
    (top / os.fsdecode(name)).write_text("1\n2\n")
    last = world.tree.look()
    world.tree.save(last, "2")
    assert world.tree.changes(after, last).paths == (os.fsdecode(name),)


def test_a_huge_file_is_sampled_named_and_not_read(top: Path, tmp_path: Path) -> None:
    """C12, R039: 4 GiB that take no space on disk."""
    with (top / "huge").open("wb") as file:
        file.truncate(4 << 30)
    world = opened(top, tmp_path / "state", pace=EAGER)
    first = world.tree.look()
    world.tree.save(first, "start")
    assert first.partial == ()
    assert "huge: larger than 1073741824 bytes" in world.tree.unsaved()
    assert world.store.size_bytes() < 1 << 20
    with (top / "huge").open("r+b") as file:
        file.write(b"x")
    second = world.tree.look()
    assert second.id != first.id
    world.tree.save(second, "1")
    changes = world.tree.changes(first, second)
    assert (changes.paths, changes.added) == (("huge",), None)


def test_a_tracked_file_that_grows_out_of_bounds_is_sampled(top: Path, tmp_path: Path) -> None:
    """C12"""
    world = opened(top, tmp_path / "state", pace=EAGER)
    first = world.id()
    with (top / "a").open("wb") as file:
        file.truncate(4 << 30)
    assert world.id() != first
    assert world.id() == world.id()
    (top / "a").write_text("1\n")
    assert world.id() == first


def test_a_large_file_under_the_cap_is_kept_whole(top: Path, tmp_path: Path) -> None:
    """Promise 4: over the sampling size, under `snapshot.max_bytes`."""
    data = os.urandom(1 << 20) * (SAMPLE_ABOVE // (1 << 20) + 1)
    (top / "large").write_bytes(data)
    (top / "large").chmod(0o755)
    world = opened(top, tmp_path / "state")
    tree = world.tree.look()
    world.tree.save(tree, "start")
    mode, oid = world.store.entries(world.store.labels("r")["start"])[b"large"]
    assert (mode, world.store.read_blob(oid) == data) == (b"100755", True)
    assert world.tree.unsaved() == ()


def test_many_small_untracked_files_are_all_seen(top: Path, tmp_path: Path) -> None:
    """R039: and the user's object store does not grow by a byte."""
    before = len(list((top / ".git/objects").rglob("*")))
    (top / "m").mkdir()
    for n in range(3000):
        (top / "m" / str(n)).write_text(str(n))
    world = opened(top, tmp_path / "state")
    tree = world.tree.look()
    world.tree.save(tree, "start")
    assert tree.files == 3002
    assert len(list((top / ".git/objects").rglob("*"))) == before


def test_a_plain_folder_works_with_its_ignore_rules_and_built_in_ones(tmp_path: Path) -> None:
    """R040: no repository."""
    top = tmp_path / "plain"
    write(top, {"a": "1", ".gitignore": "*.log\n", "x.log": "1", "node_modules/m/index.js": "1"})
    world = opened(top, tmp_path / "state")
    tree = world.tree.look()
    assert (tree.files, tree.head, tree.branch) == (2, None, None)
    write(top, {"x.log": "2", "node_modules/m/index.js": "2"})
    assert world.id() == tree.id
    write(top, {"a": "2"})
    assert world.id() != tree.id


def test_a_parent_of_two_repositories_sees_both(tmp_path: Path) -> None:
    """R040"""
    top = tmp_path / "parent"
    for name in ("one", "two"):
        repository(top / name, {"f": name})
    world = opened(top, tmp_path / "state")
    seen = [world.id()]
    for name in ("one", "two"):
        write(top / name, {"f": "changed"})
        git(top / name, "commit", "-q", "-a", "-m", "x")
        seen.append(world.id())
    assert len(set(seen)) == 3


def test_totals_are_taken_between_saved_trees_not_from_a_moving_head(top: Path, tmp_path: Path) -> None:
    """R043"""
    world = opened(top, tmp_path / "state")
    start = world.tree.look()
    world.tree.save(start, "start")
    write(top, {"a": "1\n2\n"})
    git(top, "commit", "-q", "-a", "-m", "1")
    git(top, "reset", "-q", "--soft", "HEAD~1")
    write(top, {"c": "3\n"})
    git(top, "add", "-A")
    git(top, "commit", "-q", "-m", "2")
    end = world.tree.look()
    world.tree.save(end, "end")
    changes = world.tree.changes(start, end)
    assert (changes.files, changes.added, changes.removed, changes.paths) == (2, 2, 0, ("a", "c"))


@PACES
def test_a_path_that_goes_back_and_one_that_changes_its_kind(top: Path, tmp_path: Path, pace: Pace) -> None:
    """C11: file, directory, link and back."""
    world = opened(top, tmp_path / "state", pace=pace)
    seen = [world.id()]
    (top / "a").unlink()
    seen.append(world.id())
    write(top, {"a/deep/f": "1\n"})
    seen.append(world.id())
    (top / "a/deep/f").unlink()
    (top / "a/deep").rmdir()
    (top / "a").rmdir()
    (top / "a").symlink_to("/etc")
    seen.append(world.id())
    (top / "a").unlink()
    (top / "a").symlink_to("a")
    seen.append(world.id())
    (top / "a").unlink()
    write(top, {"a": "1\n"})
    assert len(set(seen)) == 5
    assert world.id() == seen[0]


def test_a_link_to_a_directory_outside_is_text(top: Path, tmp_path: Path) -> None:
    """C11: also where the user's index tracks files below the name that is a link now."""
    outside = tmp_path / "outside"
    write(outside, {"b": "secret"})
    world = opened(top, tmp_path / "state")
    git(top, "rm", "-q", "-r", "--cached", "d")
    (top / "d/b").unlink()
    (top / "d").rmdir()
    (top / "d").symlink_to(outside)
    git(top, "update-index", "--add", "--cacheinfo", "100644,e69de29bb2d1d6434b8b29ae775ad8c2e48c5391,d/b")
    tree = world.tree.look()
    assert tree.id == raw_tree(top, tmp_path / "raw", {b"a", b"d"})


def test_what_is_no_file_has_its_type_recorded(top: Path, tmp_path: Path) -> None:
    """C11: a pipe or a socket in a tracked file's place hangs nothing and is not nothing."""
    world = opened(top, tmp_path / "state", pace=EAGER)
    seen = [world.id()]
    (top / "a").unlink()
    seen.append(world.id())
    os.mkfifo(top / "a")
    seen.append(world.id())
    world.tree.save(world.tree.look(), "1")
    assert world.tree.unsaved() == ("a: neither file nor link",)
    (top / "a").unlink()
    with socket.socket(socket.AF_UNIX) as listener:
        place = os.open(top, os.O_PATH)
        listener.bind(f"/proc/self/fd/{place}/a")
        os.close(place)
        seen.append(world.id())
    assert len(set(seen)) == 4


def test_a_300_deep_directory_is_a_directory(top: Path, tmp_path: Path) -> None:
    """C11"""
    place = top
    for _ in range(300):
        place /= "d"
    place.mkdir(parents=True)
    (place / "f").write_text("1")
    world = opened(top, tmp_path / "state")
    first = world.tree.look()
    world.tree.save(first, "start")
    (place / "f").write_text("2")
    assert (first.partial, world.id() != first.id) == ((), True)


def test_names_that_differ_by_case_or_normal_form_alone_are_two(top: Path, tmp_path: Path) -> None:
    """C11"""
    write(top, {"A": "1", "caf\u00e9": "1", "cafe\u0301": "1"})
    world = opened(top, tmp_path / "state", pace=EAGER)
    assert world.tree.look().files == 5


@contextmanager
def _as_nobody(*owned: Path) -> Iterator[None]:
    """Be a user whom permissions bind, as root is not."""
    if os.getuid() != 0:
        yield
        return
    for place in owned:
        for path in (place, *place.rglob("*")):
            os.chown(path, 65534, 65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_cannot_be_read_makes_the_tree_partial(what: str) -> None:
    """C11: and a partial tree never equals another."""
    with tempfile.TemporaryDirectory() as scratch:
        top = repository(Path(scratch, "repo"), {"a": "1\n"})
        write(top, {"new/f": "1"})
        Path(scratch, "state").mkdir()
        locked = top / ("new/f" if what == "file" else "new")
        with _as_nobody(Path(scratch)):
            world = opened(top, Path(scratch, "state"))
            first = world.tree.look()
            locked.chmod(0)
            second, third = world.tree.look(), world.tree.look()
            world.tree.save(third, "1")
            locked.chmod(0o755 if what == "folder" else 0o644)
            last = world.tree.look()
    assert (first.partial, last.partial, last.id) == ((), (), first.id)
    assert second.partial != ()
    assert len({first.id, second.id, third.id}) == 3


@PACES
def test_same_size_and_same_time_is_seen_all_the_same(top: Path, tmp_path: Path, pace: Pace) -> None:
    """Traps checked: a stat-cached index is fooled within one second; a young file never gets into ours."""
    if pace is EAGER:
        return
    os.utime(top / "a", (1, 1))
    world = opened(top, tmp_path / "state", pace=pace)
    seen = set()
    for digit in "123456789":
        (top / "a").write_text(f"{digit}\n")
        os.utime(top / "a", (1, 1))
        seen.add(world.id())
    assert len(seen) == 9


@PACES
def test_a_tracked_file_counts_although_it_is_ignored(top: Path, tmp_path: Path, pace: Pace) -> None:
    world = opened(top, tmp_path / "state", pace=pace)
    write(top, {".gitignore": "*.log\n", "x.log": "1"})
    untracked = world.id()
    git(top, "add", "-f", "x.log")
    tracked = world.id()
    write(top, {"x.log": "22"})
    changed = world.id()
    git(top, "rm", "-q", "-f", "--cached", "x.log")
    assert world.id() == untracked
    assert len({untracked, tracked, changed}) == 3


@PACES
def test_sparse_and_skipped_files_are_what_lies_on_disk(top: Path, tmp_path: Path, pace: Pace) -> None:
    git(top, "update-index", "--skip-worktree", "a")
    (top / "a").unlink()
    world = opened(top, tmp_path / "state", pace=pace)
    without = world.id()
    assert without == raw_tree(top, tmp_path / "raw", {b"d/b"})
    write(top, {"a": "1\n"})
    assert world.id() != without


@PACES
def test_git_init_in_a_folder_already_seen_and_its_removal(top: Path, tmp_path: Path, pace: Pace) -> None:
    """git's untracked cache alone would keep the old answer: the folder above did not change."""
    write(top, {"lib/f.log": "1", "lib/g": "1"})
    world = opened(top, tmp_path / "state", pace=pace)
    first = world.id()
    world.id()
    git(top / "lib", "init", "-q")
    (top / "lib/.git/info/exclude").write_text("*.log\n")
    nested = world.id()
    (top / "lib/.git").rename(tmp_path / "away")
    assert (nested != first, world.id()) == (True, first)


def test_test_owned_paths_are_in_the_id_and_not_in_the_state(top: Path, tmp_path: Path) -> None:
    inner = repository(top / "inner", {"cache": "1"})
    world = opened(top, tmp_path / "state")
    bare = world.tree.look(test_owned=frozenset({"d/b", "inner/cache", "no/such"}))
    assert bare.state != bare.id
    write(top, {"d/b": "changed"})
    write(inner, {"cache": "changed"})
    after = world.tree.look(test_owned=frozenset({"d/b", "inner/cache"}))
    assert (after.state, after.id != bare.id) == (bare.state, True)
    assert world.tree.look().state == after.id
    write(top, {"a": "changed"})
    assert world.tree.look(test_owned=frozenset({"d/b"})).state != bare.state


def test_a_file_that_moves_between_look_and_save_is_said(top: Path, tmp_path: Path) -> None:
    world = opened(top, tmp_path / "state")
    tree = world.tree.look()
    write(top, {"a": "after the look"})
    world.tree.save(tree, "start")
    assert world.tree.unsaved() == ("a: changed while it was saved",)
    assert world.store.entries(world.store.labels("r")["start"])[b"a"][0] == GITLINK
    tree = world.tree.look()
    world.tree.save(tree, "1")
    assert world.tree.unsaved() == ()


def test_ignored_files_are_listed_as_not_saved(top: Path, tmp_path: Path) -> None:
    """Promise 4: what is not saved is said at start."""
    write(top, {".gitignore": "build/\n.env\n", "build/x/y": "1", ".env": "KEY=1"})
    world = opened(top, tmp_path / "state")
    world.tree.save(world.tree.look(), "start")
    assert world.tree.unsaved() == (".env: ignored", "build/: ignored")


def test_moved_since_last_look_tells_by_stat_data(top: Path, tmp_path: Path) -> None:
    inner = repository(top / "inner", {"f": "1"})
    world = opened(top, tmp_path / "state")
    world.id()
    assert not world.tree.moved_since_last_look()
    write(inner, {"f": "22"})
    assert world.tree.moved_since_last_look()
    world.id()
    write(top, {"new": "1"})
    assert world.tree.moved_since_last_look()


def test_the_users_excludes_are_frozen_at_the_start(top: Path, tmp_path: Path) -> None:
    """The agent edits info/exclude; its own rules do not bind us."""
    home = Path(os.environ["HOME"])
    (home / ".gitconfig").write_text("[core]\n\texcludesFile = ~/mine\n")
    (home / "mine").write_text("*.global\n")
    (top / ".git/info/exclude").write_text("*.local\n")
    write(top, {"x.global": "1", "x.local": "1"})
    world = opened(top, tmp_path / "state")
    first = world.tree.look()
    (top / ".git/info/exclude").write_text("*\n")
    (home / "mine").write_text("*\n")
    write(top, {"new": "1"})
    assert (first.files, world.tree.look().files) == (2, 3)


def test_head_is_told_loose_packed_detached_and_in_a_linked_work_tree(top: Path, tmp_path: Path) -> None:
    world = opened(top, tmp_path / "state")
    commit = git(top, "rev-parse", "HEAD").decode().strip()
    assert (world.tree.look().head, world.tree.look().branch) == (commit, "main")
    git(top, "pack-refs", "--all")
    assert (world.tree.look().head, world.tree.look().branch) == (commit, "main")
    git(top, "worktree", "add", "-q", "-b", "topic/x", str(tmp_path / "linked"))
    linked = opened(tmp_path / "linked", tmp_path / "other")
    assert (linked.tree.look().head, linked.tree.look().branch) == (commit, "topic/x")
    assert linked.tree.look().id == world.tree.look().id
    git(top, "checkout", "-q", "--detach")
    assert (world.tree.look().head, world.tree.look().branch) == (commit, None)


def test_a_resumed_run_goes_on_with_its_saved_trees(top: Path, tmp_path: Path) -> None:
    first = opened(top, tmp_path / "state")
    start = first.tree.look()
    first.tree.save(start, "start")
    write(top, {"a": "1\n2\n"})
    second = opened(top, tmp_path / "state")
    now = second.tree.look()
    second.tree.save(now, "1")
    assert second.tree.changes(start, now).added == 1


def test_it_is_the_port(top: Path, tmp_path: Path) -> None:
    repo: Repo = opened(top, tmp_path / "state").tree
    assert (repo.top, repo.damage(), repo.findings()) == (top, None, ())


def test_an_unsaved_tree_is_not_compared(top: Path, tmp_path: Path) -> None:
    """That the store knows a tree (as a base) is no proof that its files were saved."""
    world = opened(top, tmp_path / "state", pace=EAGER)
    tree = world.tree.look()
    write(top, {"a": "2\n"})
    after = world.tree.look()
    world.tree.save(after, "1")
    with pytest.raises(AssertionError):
        world.tree.changes(tree, after)
    with pytest.raises(AssertionError):
        world.tree.save(tree, "start")


def test_saved_files_are_private(top: Path, tmp_path: Path) -> None:
    world = opened(top, tmp_path / "state", pace=EAGER)
    world.tree.save(world.tree.look(), "start")
    world.tree.look()
    modes = {p.stat().st_mode & 0o077 for p in world.store.path.rglob("*") if stat.S_ISREG(p.stat().st_mode)}
    assert world.store.path.stat().st_mode & 0o777 == 0o700
    assert modes <= {0, 0o044}  # git writes its index with the user's umask, inside the 0700 folder
