"""Nothing written through a `Rooted` leaves its root, whatever was planted inside."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ralph.repo.rooted import InTheWayError, OutsideError, Rooted


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    (tmp_path / "outside").mkdir()
    return tmp_path / "root"


@pytest.mark.parametrize("path", ["", "/etc/x", "..", "a/../b", "a//b", "./a", "a/", "a\0b"])
def test_a_path_that_leaves_the_root_is_refused(root: Path, path: str) -> None:
    with Rooted(root) as rooted, pytest.raises(OutsideError):
        rooted.write(path, (b"x",), mode=0o644)
    assert list(root.iterdir()) == []


def test_c19_a_linked_parent_is_an_error_never_a_write_elsewhere(root: Path) -> None:
    (root / "d").symlink_to(root.parent / "outside")
    with Rooted(root) as rooted:
        with pytest.raises(InTheWayError) as caught:
            rooted.write("d/f", (b"x",), mode=0o644)
        rooted.remove("nothing")
    assert caught.value.args == ("d",)
    assert list((root.parent / "outside").iterdir()) == []


def test_a_file_that_is_a_link_is_replaced_not_followed(root: Path) -> None:
    victim = root.parent / "outside" / "victim"
    victim.write_bytes(b"mine")
    (root / "f").symlink_to(victim)
    with Rooted(root) as rooted:
        rooted.write("f", (b"new",), mode=0o600)
    assert victim.read_bytes() == b"mine"
    assert not (root / "f").is_symlink()
    assert (root / "f").read_bytes() == b"new"
    assert (root / "f").stat().st_mode & 0o777 == 0o600


def test_a_planted_hard_link_keeps_its_other_name(root: Path) -> None:
    victim = root.parent / "outside" / "victim"
    victim.write_bytes(b"mine")
    os.link(victim, root / "f")
    with Rooted(root) as rooted:
        rooted.write("f", (b"new",), mode=0o644)
    assert victim.read_bytes() == b"mine"


def test_a_pipe_is_not_waited_for(root: Path) -> None:
    os.mkfifo(root / "f")
    with Rooted(root) as rooted, pytest.raises(OSError, match="no regular file"):
        rooted.read("f", cap_bytes=9)


def test_a_root_that_is_a_link_is_refused(root: Path) -> None:
    (root.parent / "link").symlink_to(root)
    with pytest.raises(OSError, match="link"):
        Rooted(root.parent / "link")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(root: Path) -> None:
    (root / "f").write_bytes(b"old")

    def torn() -> Iterator[bytes]:
        yield b"half"
        raise RuntimeError("torn")

    with Rooted(root) as rooted, pytest.raises(RuntimeError):
        rooted.write("f", torn(), mode=0o644)
    assert [(path.name, path.read_bytes()) for path in root.iterdir()] == [("f", b"old")]


def test_removing_takes_empty_directories_along_and_stops_at_the_root(root: Path) -> None:
    with Rooted(root) as rooted:
        rooted.write("a/b/c", (b"x",), mode=0o644)
        rooted.write("a/d", (b"x",), mode=0o644)
        rooted.remove("a/b/c")
        assert [name for name, _ in rooted.entries("a")] == ["d"]
        rooted.remove("a/d")
    assert root.is_dir()
    assert list(root.iterdir()) == []


def test_walking_enters_no_link(root: Path) -> None:
    (root / "loop").symlink_to(root)
    (root / "d").mkdir()
    (root / "d" / "f").write_bytes(b"")
    with Rooted(root) as rooted:
        assert sorted(path for path, _ in rooted.walk()) == ["d", "d/f", "loop"]


def test_open_descriptors_stay_constant(root: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    with Rooted(root) as rooted:
        for name in ("a", "b/c", "b/d/e"):
            rooted.write(name, (b"x",), mode=0o644)
            rooted.make_directory(f"{name}.d/x")
            rooted.read(name, cap_bytes=9)
        with pytest.raises(OutsideError):
            rooted.stat("../x")
        (root / "l").symlink_to("b")
        with pytest.raises(InTheWayError):
            rooted.make_directory("l/x")
        rooted.stat("l/c")
    assert len(list(Path("/proc/self/fd").iterdir())) == before
