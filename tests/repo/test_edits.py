"""What changed in each file, as the judges of churn see it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ralph.judge.churn import is_noise, line_key
from ralph.repo.edits import edits_of
from ralph.repo.git import find_git
from ralph.repo.store import Store

FILE, PROGRAM = b"100644", b"100755"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store.git", find_git())


def test_lines_of_both_sides_are_told(store: Store) -> None:
    old = store.write_blob(b"kept line\nold line\nold line\n")
    new = store.write_blob(b"kept line\nfresh line\n")
    (edit,) = edits_of(store, {b"a.py": ((FILE, old), (FILE, new))})
    assert (edit.path, edit.old, edit.new, edit.added, edit.removed) == ("a.py", old, new, 1, 2)
    assert edit.plus == (line_key("fresh line"),)
    assert edit.minus == (line_key("old line"),) * 2


def test_a_new_and_a_gone_file_have_one_side(store: Store) -> None:
    blob = store.write_blob(b"some line\n")
    new, gone = edits_of(store, {b"a": (None, (FILE, blob)), b"b": ((FILE, blob), None)})
    assert (new.old, new.added, new.removed) == ("", 1, 0)
    assert (gone.new, gone.added, gone.removed) == ("", 0, 1)


def test_a_changed_mode_alone_is_noise(store: Store) -> None:
    blob = store.write_blob(b"some line\n")
    (edit,) = edits_of(store, {b"a": ((FILE, blob), (PROGRAM, blob))})
    assert edit.mode
    assert is_noise(edit)


def test_what_is_no_text_hides_its_lines(store: Store) -> None:
    text, binary = store.write_blob(b"some line\n"), store.write_blob(b"\0\1\2")
    edits = edits_of(store, {b"a": ((FILE, text), (FILE, binary)), b"l": (None, (b"120000", text))})
    assert [edit.added for edit in edits] == [None, None]


def test_only_the_first_files_are_looked_at(store: Store) -> None:
    blob = store.write_blob(b"some line\n")
    assert len(edits_of(store, {b"%03d" % n: (None, (FILE, blob)) for n in range(100)})) == 60
