"""What differs between two saved states is told exactly, from the private store alone, and nothing is run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph.errors import UserError
from ralph.repo.diff import FileChange, diff, patch
from ralph.repo.git import find_git
from ralph.repo.store import Store
from tests.repo.planted import executed, plant
from tests.repo.saving import git, save, work

RUN = "r1"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", find_git())


@pytest.fixture
def top(tmp_path: Path) -> Path:
    top = tmp_path / "user"
    top.mkdir()
    git(top, "init", "-q", "-b", "main")
    (top / "a").write_text("one\ntwo\n")
    (top / "d").mkdir()
    (top / "d" / "run").write_text("x\n")
    (top / "same").mkdir()
    (top / "same" / "f").write_text("same\n")
    return top


def test_each_kind_of_change_is_told_with_its_lines(top: Path, store: Store) -> None:
    (top / "gone").write_text("1\n2\n3\n")
    (top / "turns").write_text("into a directory\n")
    (top / "bin").write_bytes(b"\0one")
    save(top, store, RUN, "start")
    (top / "a").write_text("one\n2\n3\n")
    (top / "d" / "run").chmod(0o755)
    (top / "gone").unlink()
    (top / "turns").unlink()
    (top / "turns").mkdir()
    (top / "turns" / "inner").symlink_to("../a")
    (top / "bin").write_bytes(b"\0two")
    (top / os.fsdecode(b"\xff\n\x1b[31m")).write_text("odd name\n")
    save(top, store, RUN, "1")
    assert diff(store, RUN, "start", "1") == (
        FileChange("a", "changed", 2, 1, 0o100644, 0o100644),
        FileChange("bin", "changed", None, None, 0o100644, 0o100644),
        FileChange("d/run", "mode", 0, 0, 0o100644, 0o100755),
        FileChange("gone", "removed", 0, 3, 0o100644, 0),
        FileChange("turns", "removed", 0, 1, 0o100644, 0),
        FileChange("turns/inner", "added", 1, 0, 0, 0o120000),
        FileChange(os.fsdecode(b"\xff\n\x1b[31m"), "added", 1, 0, 0, 0o100644),
    )


def test_equal_states_differ_in_nothing(top: Path, store: Store) -> None:
    save(top, store, RUN, "start")
    save(top, store, RUN, "1")
    assert diff(store, RUN, "start", "1") == ()
    assert patch(store, RUN, "start", "1") == b""


def test_content_that_was_not_kept_has_no_line_counts(top: Path, store: Store) -> None:
    save(top, store, RUN, "start")
    tree = dict(store.read_tree(store.labels(RUN)["start"]))
    tree[b"a"] = (b"160000", "1" * 40)
    store.label(RUN, "1", store.write_tree(tree))
    assert diff(store, RUN, "start", "1") == (FileChange("a", "changed", None, None, 0o100644, 0o160000),)


def test_the_patch_applies_with_git_and_gives_the_other_state(top: Path, store: Store, tmp_path: Path) -> None:
    before = work(top)
    save(top, store, RUN, "start")
    (top / "a").write_bytes(b"no newline at end")
    (top / "bin").write_bytes(bytes(range(256)))
    (top / "d" / "run").unlink()
    (top / "link").symlink_to("a")
    (top / "same" / "f").chmod(0o755)
    after = work(top)
    save(top, store, RUN, "1")
    text = patch(store, RUN, "1", "start")
    (tmp_path / "patch").write_bytes(text)
    git(top, "apply", str(tmp_path / "patch"))
    assert work(top) == before
    (tmp_path / "patch").write_bytes(patch(store, RUN, "start", "1"))
    git(top, "apply", str(tmp_path / "patch"))
    assert work(top) == after


def test_an_unknown_state_is_refused_with_the_known_ones_in_order(top: Path, store: Store) -> None:
    for label in ("start", "2", "10", "2.tests"):
        save(top, store, RUN, label)
    with pytest.raises(UserError) as caught:
        diff(store, RUN, "start", "../../x")
    assert caught.value.fix == "Saved states: start, 2, 2.tests, 10."


def test_nothing_planted_runs_and_no_git_of_the_path_is_started(
    top: Path, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C13, C14: textconv, external diff, filters; and a `git` that lies in the work tree, first on PATH."""
    save(top, store, RUN, "start")
    (top / "a").write_text("changed\n")
    save(top, store, RUN, "1")
    plant(top, tmp_path / "marks")
    (top / "git").write_text(f"#!/bin/sh\necho ran > {tmp_path / 'marks' / 'ran-git'}\n")
    (top / "git").chmod(0o755)
    program = f"""
import os, sys
from pathlib import Path
from ralph.repo.diff import diff, patch
from ralph.repo.git import Git
from ralph.repo.store import Store
store = Store.open(Path({str(store.path)!r}), Git(Path({str(store.git.program)!r})))
assert "git" not in sys.modules, "costs too much for the hot path"
before = dict(os.environ)
assert [change.path for change in diff(store, "r1", "start", "1")] == ["a"]
assert b"+changed" in patch(store, "r1", "start", "1")
assert dict(os.environ) == before
"""
    misleading = {
        "PATH": f"{top}:{os.environ['PATH']}",
        "GIT_DIR": str(top / ".git"),
        "GIT_OBJECT_DIRECTORY": str(top / ".git" / "objects"),
        "GIT_WORK_TREE": str(top),
        "GIT_EXTERNAL_DIFF": str(tmp_path / "marks.sh"),
    }
    env = {**os.environ, **misleading}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=top, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert executed(tmp_path / "marks") == []


TREES = st.dictionaries(st.sampled_from(["a", "b/a", "b/c", "b/d/e", "f"]), st.integers(0, 2))


@given(TREES, TREES)
@settings(max_examples=25, deadline=None)
def test_the_names_are_those_that_differ(
    tmp_path_factory: pytest.TempPathFactory, before: dict[str, int], after: dict[str, int]
) -> None:
    store = Store.open(tmp_path_factory.mktemp("any") / "store", find_git())
    for label, files in (("start", before), ("1", after)):
        store.label(RUN, label, write(store, files))
    wanted = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    assert [change.path for change in diff(store, RUN, "start", "1")] == wanted


def write(store: Store, files: dict[str, int]) -> str:
    """Write a tree of these files, each holding its number."""
    entries: dict[bytes, tuple[bytes, str]] = {}
    below: dict[str, dict[str, int]] = {}
    for path, number in files.items():
        head, slash, rest = path.partition("/")
        if slash:
            below.setdefault(head, {})[rest] = number
        else:
            entries[head.encode()] = (b"100644", store.write_blob(b"%d\n" % number))
    for name, inner in below.items():
        entries[name.encode()] = (b"40000", write(store, inner))
    return store.write_tree(entries)
