"""The private store keeps what it is given, proves it when read, and git can read it too."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph.errors import UserError
from ralph.facts.reason import Reason
from ralph.repo.git import Git, find_git
from ralph.repo.objects import loose_bytes, object_id, tree_body
from ralph.repo.store import LOOSE_AT_ONCE, DamagedError, Store


@pytest.fixture
def git() -> Git:
    return find_git()


@pytest.fixture
def store(tmp_path: Path, git: Git) -> Store:
    return Store.open(tmp_path / "store.git", git)


def asked(store: Store, *args: str) -> bytes:
    return subprocess.run(["git", "--git-dir", str(store.path), *args], capture_output=True, check=True).stdout


def test_a_blob_comes_back_under_the_name_git_gives_it(store: Store) -> None:
    oid = store.write_blob(b"a\r\nb")
    assert store.read_blob(oid) == b"a\r\nb"
    assert asked(store, "cat-file", "blob", oid) == b"a\r\nb"
    assert store.has(oid)
    assert not store.has("0" * 40)


@given(
    st.dictionaries(st.binary(min_size=1, max_size=6).filter(lambda n: not set(n) & {0, 47}), st.booleans(), max_size=9)
)
@settings(max_examples=50, deadline=None)
def test_a_tree_sorts_as_git_sorts(names: dict[bytes, bool]) -> None:
    """Directories compare as if their name ended in "/"; odd bytes are names like any other."""
    blob, folder = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "496d6428b9cf92981dc9495211e6e1120fb6f2ba"
    entries = {name: (b"40000", folder) if is_folder else (b"100644", blob) for name, is_folder in names.items()}
    expected = sorted(entries, key=lambda name: name + b"/" if names[name] else name)
    body = tree_body(entries)
    wanted = b"".join(entries[n][0] + b" " + n + b"\0" + bytes.fromhex(entries[n][1]) for n in expected)
    assert body == wanted


def test_git_finds_the_store_sound(store: Store) -> None:
    blob = store.write_blob(b"x")
    folder = store.write_tree({b"f": (b"100755", blob)})
    top = store.write_tree({b"a": (b"40000", folder), b"a-b": (b"100644", blob), b"\xff\n": (b"120000", blob)})
    store.label("r1", "start", top)
    asked(store, "fsck", "--strict", "--no-dangling")
    assert store.entries(top) == {
        b"a/f": (b"100755", blob),
        b"a-b": (b"100644", blob),
        b"\xff\n": (b"120000", blob),
    }


def test_many_objects_make_one_pack_that_git_accepts(store: Store) -> None:
    contents = [b"%d" % n * (n % 50) for n in range(LOOSE_AT_ONCE * 3)]
    ids = store.write_blobs(contents)
    assert [store.read_blob(oid) for oid in ids] == contents
    assert len(list(store.path.glob("objects/pack/*.pack"))) == 1
    assert not list(store.path.glob("objects/??/*"))
    asked(store, "fsck", "--strict")
    listed = asked(store, "cat-file", "--batch-check", "--batch-all-objects").split()[::3]
    assert {name.decode() for name in listed} == set(ids)


def test_a_large_object_is_packed_whole(store: Store) -> None:
    contents = [b"%d" % n for n in range(LOOSE_AT_ONCE)] + [os.urandom(3 << 20)]
    assert store.read_blob(store.write_blobs(contents)[-1]) == contents[-1]
    asked(store, "fsck", "--strict")


def test_what_is_there_is_not_written_again(store: Store) -> None:
    store.write_blobs([b"%d" % n for n in range(LOOSE_AT_ONCE + 1)])
    store.write_blob(b"loose")
    before = store.size_bytes()
    store.write_blobs([b"%d" % n for n in range(LOOSE_AT_ONCE + 1)] + [b"loose"])
    assert store.size_bytes() == before


def test_a_damaged_object_is_refused(store: Store) -> None:
    """C9: what comes back is hashed again; a forged object is as good as none."""
    oid = store.write_blob(b"truth")
    file = store.path / "objects" / oid[:2] / oid[2:]
    file.write_bytes(loose_bytes("blob", b"other"))
    with pytest.raises(DamagedError):
        store.read_blob(oid)
    file.write_bytes(b"not zlib")
    with pytest.raises(DamagedError):
        store.read_blob(oid)
    file.unlink()
    with pytest.raises(DamagedError):
        store.read_blob(oid)


def test_a_damaged_pack_is_refused(store: Store, git: Git) -> None:
    oid = store.write_blobs([b"%d" % n for n in range(LOOSE_AT_ONCE + 1)])[7]
    pack = next(store.path.glob("objects/pack/*.pack"))
    raw = bytearray(pack.read_bytes())
    for at in range(12, len(raw), 3):
        raw[at] ^= 0x55
    pack.chmod(0o600)
    pack.write_bytes(raw)
    with pytest.raises(DamagedError):
        Store.open(store.path, git).read_blob(oid)


def test_labels_come_back_also_after_opening_again(store: Store, git: Git) -> None:
    tree = store.write_tree({b"f": (b"100644", store.write_blob(b"1"))})
    store.label("run-1", "start", tree)
    store.label("run-1", "7.tests", tree)
    store.label("run-2", "start", tree)
    assert Store.open(store.path, git).labels("run-1") == {"start": tree, "7.tests": tree}
    assert store.labels("run-3") == {}
    shown = asked(store, "for-each-ref", "--format=%(refname)").decode().split()
    assert shown == ["refs/ralph/run-1/7.tests", "refs/ralph/run-1/start", "refs/ralph/run-2/start"]


def test_a_torn_label_is_left_out(store: Store) -> None:
    tree = store.write_tree({})
    store.label("r", "1", tree)
    (store.path / "refs" / "ralph" / "r" / "2").write_bytes(b"")
    assert store.labels("r") == {"1": tree}


@pytest.mark.parametrize("name", ["", "..", "a/b", "a.lock", "-x", "a\n"])
def test_a_label_that_could_leave_its_folder_is_a_bug(store: Store, name: str) -> None:
    with pytest.raises(AssertionError):
        store.label("r", name, "0" * 40)


def test_the_store_is_private(store: Store) -> None:
    store.label("r", "1", store.write_blob(b"secret"))
    store.write_blobs([b"%d" % n for n in range(LOOSE_AT_ONCE + 1)])
    modes = {file.stat().st_mode & 0o077 for file in store.path.rglob("*") if file.is_file()}
    assert modes == {0}
    assert store.path.stat().st_mode & 0o777 == 0o700


def test_a_store_that_cannot_be_made_is_a_storage_error(tmp_path: Path, git: Git) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UserError) as caught:
        Store.open(tmp_path / "file" / "store.git", git)
    assert caught.value.reason is Reason.STORAGE


def test_ids_are_git_ids() -> None:
    assert object_id("blob", b"").hex() == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert object_id("tree", b"").hex() == "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
