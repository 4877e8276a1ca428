"""Where state lies, and what is refused there."""

from __future__ import annotations

import hashlib
import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ralph.errors import UserError
from ralph.facts.reason import Reason
from ralph.journal.places import RUN_ID, Places
from ralph.journal.raw import raw, recorded
from tests.journal.examples import NOON


@pytest.fixture
def top(tmp_path: Path) -> Path:
    top = tmp_path / "my repo"
    top.mkdir()
    return top


def places(top: Path, state: str | None = None, **environ: str) -> Places:
    return Places.of(top, state_dir=state, environ=environ or {"HOME": str(top.parent / "home")})


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_folder_is_named_after_the_tree(top: Path) -> None:
    digest = hashlib.sha256(os.fsencode(top.resolve())).hexdigest()[:10]
    assert places(top, XDG_STATE_HOME="/s").path == Path(f"/s/ralph/my-repo-{digest}")
    assert places(top, HOME="/h").path == Path(f"/h/.local/state/ralph/my-repo-{digest}")
    assert places(top, HOME="/h", XDG_STATE_HOME="relative").base == Path("/h/.local/state/ralph")
    assert places(top, "/else").path == Path(f"/else/my-repo-{digest}")


def test_a_link_to_the_tree_is_the_same_tree(top: Path) -> None:
    link = top.with_name("link")
    link.symlink_to(top)
    assert places(link).path == places(top).path


def test_looking_creates_nothing(top: Path) -> None:
    where = places(top)
    assert where.runs() == ()
    assert sorted(p.name for p in top.parent.iterdir()) == ["my repo"]


def test_what_is_created_is_private(top: Path) -> None:
    """E13, D6: whatever the umask, ours is not changed."""
    before = os.umask(0)
    try:
        run = places(top).new_run(NOON)
        folder = run.made(run.iteration(7))
    finally:
        assert os.umask(before) == 0
    assert folder == run.path / "iterations" / "0007"
    for path in (run.path, run.path.parent, run.path.parent.parent, folder, folder.parent):
        assert mode(path) == 0o700


def test_run_ids_sort_by_time_and_are_never_given_twice(top: Path) -> None:
    where = places(top)
    moments = [datetime(2026, 11, 30, 5, 12, tzinfo=UTC) + timedelta(seconds=s) for s in (0, 0, 0, 1, 30, 59.999, 60)]
    runs = [where.new_run(moment) for moment in moments]
    ids = [run.id for run in runs]
    assert ids == sorted(set(ids))
    assert all(RUN_ID.match(each) and each.startswith("20261130-051") for each in ids)
    assert [run.id for run in where.runs()] == ids[::-1]


def test_a_run_is_found_by_prefix_and_the_newest_by_default(top: Path) -> None:
    where = places(top)
    old, new = where.new_run(NOON), where.new_run(NOON + timedelta(days=1))
    assert where.find(None) == new
    assert where.find("20261130") == old
    assert where.find(old.id) == old
    with pytest.raises(UserError, match="several runs begin") as caught:
        where.find("2026")
    assert old.id in caught.value.fix
    assert new.id in caught.value.fix
    with pytest.raises(UserError, match="no run begins") as caught:
        where.find("1999")
    assert new.id in caught.value.fix
    with pytest.raises(UserError, match="no run is recorded"):
        places(top, str(top.parent / "empty")).find(None)


@pytest.mark.parametrize("text", ["../x", "/etc", "a\0b", "", ".", "..", "A" * 3, "x" * 41, "20261130*", "2026\n"])
def test_text_from_people_never_becomes_a_path(top: Path, text: str) -> None:
    """S12."""
    where = places(top)
    where.new_run(NOON)
    with pytest.raises(UserError, match="no run begins"):
        where.find(text)


def test_a_linked_run_is_no_run(top: Path) -> None:
    """S12, E13."""
    where = places(top)
    run = where.new_run(NOON)
    (run.path.parent / "20270101-0000-0000").symlink_to(top)
    assert where.runs() == (run,)


def test_without_a_home_the_way_out_is_named(top: Path) -> None:
    """S6."""
    with pytest.raises(UserError, match="HOME is not set") as caught:
        Places.of(top, state_dir=None, environ={})
    assert "--state-dir" in caught.value.fix
    assert Places.of(top, state_dir=str(top.parent / "s"), environ={}).base == top.parent / "s"


def test_a_state_directory_inside_the_tree_is_refused(top: Path) -> None:
    """D6: the agent writes there."""
    (top.parent / "way").symlink_to(top)
    for inside in (top / "state", top, top.parent / "way" / "state"):
        with pytest.raises(UserError, match="inside the work tree") as caught:
            places(top, str(inside))
        assert caught.value.reason is Reason.REFUSED


@pytest.mark.parametrize("bits", [0o777, 0o1777, 0o720])
def test_a_state_directory_that_others_write_to_is_refused(top: Path, bits: int) -> None:
    """S6."""
    state = top.parent / "state"
    state.mkdir()
    state.chmod(bits)
    with pytest.raises(UserError, match="others can write") as caught:
        places(top, str(state))
    assert caught.value.reason is Reason.REFUSED
    assert "--state-dir" in caught.value.fix


def test_a_planted_link_is_refused(top: Path) -> None:
    """E13."""
    where = places(top)
    where.prepare()
    (where.path / "runs").rmdir()
    (where.path / "runs").symlink_to(top)
    with pytest.raises(UserError, match="a link or a file") as caught:
        places(top)
    assert caught.value.reason is Reason.REFUSED
    with pytest.raises(UserError):
        where.new_run(NOON)


def test_a_foreign_state_directory_is_refused(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S6."""
    where = places(top)
    where.prepare()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(UserError, match="belongs to user") as caught:
        places(top)
    assert caught.value.reason is Reason.REFUSED


def test_a_read_only_place_is_storage(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S6: root writes through modes, so the system's answer is played here."""

    def no(self: Path, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "mkdir", no)
    with pytest.raises(UserError, match="Read-only") as caught:
        places(top).new_run(NOON)
    assert caught.value.reason is Reason.STORAGE
    assert "--state-dir" in caught.value.fix


def test_a_file_in_the_way_is_named(top: Path) -> None:
    (top.parent / "state").write_text("")
    with pytest.raises(UserError, match="a link or a file"):
        places(top, str(top.parent / "state"))
    with pytest.raises(UserError) as caught:
        places(top, str(top.parent / "state" / "deep")).prepare()
    assert caught.value.reason is Reason.STORAGE


def test_raw_files_have_fixed_names(top: Path) -> None:
    run = places(top).new_run(NOON)
    assert recorded(run) == ()
    for number in (12, 3):
        run.made(run.iteration(number))
    (run.path / "iterations" / "x").mkdir()
    assert recorded(run) == (3, 12)
    assert raw(run, 3).out == run.path / "iterations/0003/stdout.log"
    assert raw(run, 3).test(0)[0].name == "test-0.out.log"
