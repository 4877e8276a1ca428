"""What belongs to the user's git directory is kept before a run, privately, without running anything."""

from __future__ import annotations

import os
import stat
import zlib
from dataclasses import dataclass
from pathlib import Path

import pytest

from ralph.repo.git import find_git
from ralph.repo.keep import keep_all, keep_git, keep_ignored, kept_folder
from ralph.repo.kept import KeptDamageError, Manifest, read_manifest
from ralph.repo.store import Store
from tests.repo.planted import executed, plant
from tests.repo.saving import git, picture, save


@dataclass(frozen=True)
class At:
    """A place, as far as keeping needs it."""

    top: Path
    git_dir: Path | None
    common_dir: Path | None


@pytest.fixture
def place(tmp_path: Path) -> At:
    top = tmp_path / "user"
    top.mkdir()
    git(top, "init", "-q", "-b", "main")
    (top / "a").write_text("one\n")
    git(top, "add", "a")
    git(top, "commit", "-qm", "first")
    return At(top, top / ".git", top / ".git")


def read_all(kept: Manifest) -> None:
    for row in kept.rows:
        if row.kind == "file":
            b"".join(kept.chunks(row))


def test_every_file_of_the_git_directory_is_kept(place: At, tmp_path: Path) -> None:
    into = tmp_path / "kept"
    kept = keep_git(place, into, max_bytes=1 << 20)
    assert kept.left_out == ()
    assert kept.notes == ()
    saved = picture(into / "files" / "0")
    assert {path: data for path, (_, _, data) in saved.items()} == {
        path: data for path, (_, _, data) in picture(place.top / ".git").items()
    }
    read_all(read_manifest(into, digest=kept.digest))


def test_kept_files_are_private(place: At, tmp_path: Path) -> None:
    into = tmp_path / "kept"
    keep_git(place, into, max_bytes=1 << 20)
    for folder, _, files in os.walk(into):
        assert stat.S_IMODE(Path(folder).stat().st_mode) == 0o700
        assert {stat.S_IMODE(Path(folder, name).stat().st_mode) for name in files} <= {0o600}


def test_keeping_executes_nothing_that_is_planted(place: At, tmp_path: Path) -> None:
    """C13, C14: hooks, filters, monitors, signers are bytes here."""
    plant(place.top, tmp_path / "marks")
    kept = keep_git(place, tmp_path / "kept", max_bytes=1 << 20)
    keep_ignored(place.top, tmp_path / "ignored", also=(".env*",), saved=())
    assert kept.files > 10
    assert executed(tmp_path / "marks") == []


def test_packs_over_the_cap_become_links_and_a_note(place: At, tmp_path: Path) -> None:
    git(place.top, "gc", "-q")
    kept = keep_git(place, tmp_path / "kept", max_bytes=0)
    packs = list((tmp_path / "kept" / "files" / "0" / "objects" / "pack").glob("*.pack"))
    assert [pack.stat().st_nlink for pack in packs] == [2]
    assert any("hard links" in note for note in kept.notes)
    assert "HEAD" in kept.left_out  # it may change in place, so a link would not keep it
    read_all(read_manifest(tmp_path / "kept"))


def test_an_earlier_runs_objects_are_linked_not_copied(place: At, tmp_path: Path) -> None:
    first = keep_git(place, tmp_path / "one", max_bytes=1 << 20)
    second = keep_git(place, tmp_path / "two", max_bytes=1 << 20, earlier=tmp_path / "one")
    assert second.files == first.files
    assert second.copied_bytes < first.copied_bytes
    read_all(read_manifest(tmp_path / "two", digest=second.digest))


def test_a_resumed_run_keeps_what_its_start_kept(place: At, tmp_path: Path) -> None:
    keep_git(place, tmp_path / "kept", max_bytes=1 << 20)
    before = picture(tmp_path / "kept")
    (place.top / ".git" / "HEAD").write_text("ref: refs/heads/other\n")
    keep_git(place, tmp_path / "kept", max_bytes=1 << 20)
    assert picture(tmp_path / "kept") == before


def test_locks_and_half_written_objects_are_not_kept(place: At, tmp_path: Path) -> None:
    (place.top / ".git" / "index.lock").touch()
    (place.top / ".git" / "objects" / "pack" / "tmp_pack_x1").touch()
    os.mkfifo(place.top / ".git" / "refs" / "pipe")
    kept = keep_git(place, tmp_path / "kept", max_bytes=1 << 20)
    paths = {row.path for row in read_manifest(tmp_path / "kept").rows}
    assert not paths & {"index.lock", "objects/pack/tmp_pack_x1", "refs/pipe"}
    assert kept.left_out == ()
    assert kept.notes == ("refs/pipe: neither file nor link nor directory, so there is nothing to keep",)


@pytest.mark.parametrize("packed", [False, True])
def test_a_changed_object_is_named_when_read_back(place: At, tmp_path: Path, packed: bool) -> None:
    """C9: verify before promising a rollback."""
    if packed:
        git(place.top, "gc", "-q")
    keep_git(place, tmp_path / "kept", max_bytes=1 << 20)
    manifest = read_manifest(tmp_path / "kept")
    row = next(r for r in manifest.rows if r.check.startswith("trailer" if packed else "loose"))
    at = manifest.stored(row)
    data = bytearray(at.read_bytes())
    data[len(data) // 2] ^= 1
    at.write_bytes(data)
    with pytest.raises(KeptDamageError, match=Path(row.path).name):
        read_all(manifest)


def test_a_well_formed_forgery_of_an_object_is_named(place: At, tmp_path: Path) -> None:
    keep_git(place, tmp_path / "kept", max_bytes=1 << 20)
    manifest = read_manifest(tmp_path / "kept")
    row = next(r for r in manifest.rows if r.check == "loose")
    forged = zlib.compress(b"blob 4\0evil")
    manifest.stored(row).write_bytes(forged + b"\0" * (row.size - len(forged)))
    with pytest.raises(KeptDamageError, match="other"):
        read_all(manifest)


def test_a_changed_ref_and_a_changed_manifest_are_named(place: At, tmp_path: Path) -> None:
    kept = keep_git(place, tmp_path / "kept", max_bytes=1 << 20)
    manifest = read_manifest(tmp_path / "kept")
    head = next(r for r in manifest.rows if r.path == "HEAD")
    manifest.stored(head).write_bytes(b"ref: refs/heads/evil\n"[: head.size].ljust(head.size))
    with pytest.raises(KeptDamageError, match="HEAD"):
        read_all(manifest)
    with open(tmp_path / "kept" / "manifest.jsonl", "ab") as file:
        file.write(b'[0,"hooks/x","file",493,0,0,"",""]\n')
    with pytest.raises(KeptDamageError, match="not what was written"):
        read_manifest(tmp_path / "kept", digest=kept.digest)


@pytest.mark.parametrize("data", [b"", b"{}\n", b"\xff\n", b"[]\n", b'{"schema":9,"roots":[],"facts":{}}\n'])
def test_a_manifest_that_is_none_is_damage(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "manifest.jsonl").write_bytes(data)
    with pytest.raises(KeptDamageError):
        read_manifest(tmp_path)


def test_ignored_secrets_are_kept_up_to_a_size(place: At, tmp_path: Path) -> None:
    (place.top / ".gitignore").write_text(".env*\nnode_modules/\nlocal/\n")
    (place.top / ".env").write_text("KEY=1\n")
    (place.top / ".env.big").write_bytes(b"x" * ((1 << 20) + 1))
    (place.top / "src").mkdir()
    (place.top / "src" / "main").touch()
    (place.top / "src" / ".env.local").write_text("KEY=2\n")
    (place.top / "node_modules" / "dep").mkdir(parents=True)
    (place.top / "node_modules" / "dep" / ".env").write_text("not ours\n")
    (place.top / "local").mkdir()
    (place.top / "local" / "settings.json").write_text("{}")
    kept = keep_ignored(
        place.top, tmp_path / "kept", also=(".env*", "local/*.json"), saved=("a", "src/main", ".gitignore")
    )
    paths = {row.path for row in read_manifest(tmp_path / "kept").rows}
    assert paths == {".env", "src/.env.local", "local/settings.json"}
    assert kept.left_out == (".env.big",)


def test_a_linked_worktree_keeps_its_own_and_the_shared_part(place: At, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    git(place.top, "worktree", "add", "-q", str(linked), "-b", "side")
    own = place.top / ".git" / "worktrees" / "linked"
    keep_git(At(linked, own, place.top / ".git"), tmp_path / "kept", max_bytes=1 << 20)
    manifest = read_manifest(tmp_path / "kept")
    assert {"worktrees/linked/HEAD", "refs/heads/side", "config"} <= {row.path for row in manifest.rows}
    assert manifest.facts["dotgit"].startswith("file gitdir: ")


def test_keeping_all_links_the_objects_of_the_run_before(place: At, tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store", find_git())
    (place.top / "key").touch(mode=0o600)
    for run in ("r1", "r2"):
        tree = save(place.top, store, run, "start")
        kept = keep_all(place, store, run, tree=tree, also=(".env*",), max_bytes=1 << 20)
    assert kept.shared_bytes > 0
    assert (kept_folder(store, "r2") / "modes.json").read_text() == '{"key": 384}'
    assert stat.S_IMODE(kept_folder(store, "r2").stat().st_mode) == 0o700
