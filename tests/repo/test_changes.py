"""What differs between two saved trees: counted here exactly as git counts, or by git itself."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ralph.facts.tree import Changes
from ralph.repo.changes import COMMAND, Comparison, changes_between
from ralph.repo.git import find_git
from ralph.repo.linecount import counted
from ralph.repo.objects import Entries
from ralph.repo.store import Store

GIT = find_git()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store.git", GIT)


def tree(store: Store, files: dict[str, bytes | tuple[bytes, bytes]]) -> str:
    """Write a tree of one level of folders. A value of two: mode and content."""
    folders: dict[bytes, Entries] = {b"": {}}
    for name, value in files.items():
        mode, data = value if isinstance(value, tuple) else (b"100644", value)
        folder, _, last = name.encode().rpartition(b"/")
        folders.setdefault(folder, {})[last] = (mode, store.write_blob(data))  # type: ignore[index]
    top = folders.pop(b"")
    for folder, entries in folders.items():
        top[folder] = (b"40000", store.write_tree(entries))  # type: ignore[index]
    return store.write_tree(top)


def text(chance: random.Random) -> bytes:
    """Return few lines of few words: much stands twice, is moved, ends without a newline."""
    words = (b"a", b"b", b"", b"c d", b"e\r", b"f", b"g", b"h", b"i", b"\xff") if chance.random() < 0.5 else (
        [b"line %d" % n for n in range(60)]
    )  # fmt: skip
    body = b"\n".join(chance.choice(words) for _ in range(chance.randrange(40)))
    return body + (b"\n" if chance.random() < 0.8 else b"")


def edited(old: bytes, chance: random.Random) -> bytes:
    lines = old.split(b"\n")
    for _ in range(chance.randrange(6)):
        at = chance.randrange(len(lines) + 1)
        lines[at : at + chance.randrange(3)] = [b"new %d" % chance.randrange(9) for _ in range(chance.randrange(3))]
    return b"\n".join(lines)


@pytest.mark.parametrize("seed", range(4))
def test_lines_are_counted_as_git_counts_them(store: Store, seed: int) -> None:
    chance = random.Random(seed)
    pairs = {}
    for n in range(400):
        old = text(chance)
        pairs[f"f{n:03d}"] = old, edited(old, chance) if chance.random() < 0.8 else text(chance)
    before = tree(store, {name: old for name, (old, _) in pairs.items()})
    after = tree(store, {name: new for name, (_, new) in pairs.items()})
    told = store.git.run([*COMMAND[:-2], "--numstat", before, after], git_dir=store.path)
    rows = [row.split(b"\t") for row in told.out.split(b"\0") if row]
    by_git = {name.decode(): (int(plus), int(minus)) for plus, minus, name in rows}
    ours = {name: counted(*pair) for name, pair in pairs.items() if pair[0] != pair[1]}
    assert ours.keys() == by_git.keys()
    sure = {name: lines for name, lines in ours.items() if lines is not None}
    assert len(sure) > len(ours) // 2
    assert sure == {name: by_git[name] for name in sure}


CASES: dict[str, tuple[dict[str, bytes | tuple[bytes, bytes]], dict[str, bytes | tuple[bytes, bytes]]]] = {
    "nothing": ({"a": b"1\n"}, {"a": b"1\n"}),
    "edited": ({"a": b"1\n2\n3\n", "d/b": b"x\n"}, {"a": b"1\n4\n3\n", "d/b": b"x\ny\n"}),
    "new and gone": ({"a": b"1\n2\n"}, {"b": b"1\n", "d/c": b"no newline"}),
    "mode alone": ({"a": (b"100644", b"1\n")}, {"a": (b"100755", b"1\n")}),
    "a file becomes a folder": ({"a": b"1\n"}, {"a/b": b"1\n2\n"}),
    "a folder becomes a file": ({"a/b": b"1\n", "a/c": b"2\n"}, {"a": b"1\n"}),
    "binary": ({"a": b"1\n", "t": b"x\n"}, {"a": b"\0\1\n", "t": b"y\n"}),
    "a link becomes a file": ({"a": (b"120000", b"target")}, {"a": b"target\n"}),
    "emptied": ({"a": b"1\n2\n"}, {"a": b""}),
    "much repeated": ({"a": b"x\n" * 50 + b"y\n"}, {"a": b"y\n" + b"x\n" * 40 + b"z\n"}),
    "many": ({}, {f"d/{n}": b"%d\n" % n for n in range(100)}),
    "large": ({"a": b"a line\n" * 90_000}, {"a": b"a line\n" * 90_001}),
}


@pytest.mark.parametrize("case", CASES)
def test_every_kind_of_change_reads_as_git_reads_it(store: Store, case: str) -> None:
    before, after = (tree(store, files) for files in CASES[case])
    comparison = Comparison(store)
    expected = changes_between(store, before, after)
    assert comparison.changes(before, after) == expected
    assert comparison.changes(before, after) == expected  # from memory
    assert (expected == Changes()) == (case == "nothing")


def test_a_file_that_is_gone_is_named_also_where_a_folder_took_its_place(store: Store) -> None:
    before = tree(store, {"a": b"1\n", "b": b"2\n", "d/c": b"3\n", "d/e": b"4\n"})
    after = tree(store, {"a/x": b"1\n", "b": b"5\n", "d/e": b"4\n", "new": b"6\n"})
    assert Comparison(store).gone(before, after) == ("a", "d/c")
    assert Comparison(store).gone(before, before) == ()


def test_a_content_that_is_not_kept_has_no_line_counts(store: Store) -> None:
    oid = store.write_blob(b"whole\n")
    before = store.write_tree({b"a": (b"160000", oid)})
    after = store.write_tree({b"a": (b"100644", oid)})
    found = Comparison(store).changes(before, after)
    assert (found.paths, found.added) == (("a",), None)


def test_a_damaged_store_still_names_what_it_can(store: Store) -> None:
    before, after = tree(store, {"a": b"1\n"}), tree(store, {"a": b"2\n"})
    oid = store.write_blob(b"2\n")
    Path(store.path, "objects", oid[:2], oid[2:]).unlink()
    assert Comparison(store).changes(before, after) == Changes(1, None, None, ("a",))
