"""One run a tree: real locks of real processes."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from ralph.errors import UserError
from ralph.facts.reason import Reason
from ralph.journal.lock import Holder, TreeLock, alive_holder, read_holder
from tests.journal.examples import NOON

ROOT = Path(__file__).resolve().parents[2]

HOLD = """
import sys
from pathlib import Path
from ralph.errors import UserError
from ralph.journal.lock import Holder, TreeLock
from tests.journal.examples import NOON
top, note, run = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
print("ready", flush=True)
sys.stdin.readline()
try:
    lock = TreeLock.take(top, Holder.me(run, now=NOON), note=note)
except UserError as error:
    print(error.reason.value, error.what, flush=True)
else:
    print("taken", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def top(tmp_path: Path) -> Path:
    top = tmp_path / "repo"
    top.mkdir()
    return top


@pytest.fixture
def note(tmp_path: Path) -> Path:
    return tmp_path / "holder.json"


@contextmanager
def runner(top: Path, note: Path, run: str = "r") -> Iterator[subprocess.Popen[str]]:
    """Start a process that locks when told ("go") and holds until told again or killed."""
    argv = [sys.executable, "-c", HOLD, str(top), str(note), run]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True, cwd=ROOT) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        try:
            yield child
        finally:
            child.kill()


def go(child: subprocess.Popen[str]) -> None:
    assert child.stdin is not None
    child.stdin.write("go\n")
    child.stdin.flush()


def answer(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


def take(top: Path, note: Path) -> TreeLock:
    return TreeLock.take(top, Holder.me("mine", now=NOON), note=note)


def test_the_second_run_is_told_who_holds_the_tree(top: Path, note: Path) -> None:
    """C20: pid and start time are printed."""
    with runner(top, note, "20261130-0512-7f3a") as first:
        go(first)
        assert answer(first) == "taken"
        with pytest.raises(UserError, match=rf"pid {first.pid}, started 2026-11-30 12:00:00 UTC") as caught:
            take(top, note)
        assert caught.value.reason is Reason.LOCKED
        assert "20261130-0512-7f3a" in caught.value.what
        found = alive_holder(top, note=note)
        assert found is not None
        assert found.pid == first.pid


def race(top: Path, note: Path, rounds: int) -> None:
    for _ in range(rounds):
        with runner(top, note) as one, runner(top, note) as two:
            go(one)
            go(two)
            answers = sorted(answer(child).split()[0] for child in (one, two))
        assert answers == ["locked", "taken"]


def test_of_two_at_once_exactly_one_wins(top: Path, note: Path) -> None:
    """C20."""
    race(top, note, 2)


@pytest.mark.slow
def test_of_two_at_once_exactly_one_wins_every_time(top: Path, note: Path) -> None:
    race(top, note, 60)


def test_a_thousand_races_in_one_process_have_one_winner_each(top: Path, note: Path) -> None:
    """C20: flock belongs to the open file, so two descriptors of one process compete as two processes do."""
    fds = [os.open(top, os.O_RDONLY) for _ in range(2)]
    for turn in range(1000):
        first, second = (fds[turn % 2], fds[1 - turn % 2])
        fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with pytest.raises(BlockingIOError):
            fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(first, fcntl.LOCK_UN)
    for fd in fds:
        os.close(fd)


def test_a_killed_run_leaves_no_lock(top: Path, note: Path) -> None:
    """R091, C21: free at once, whatever the note says."""
    with runner(top, note) as first:
        go(first)
        assert answer(first) == "taken"
        first.send_signal(signal.SIGKILL)
        first.wait()
        assert note.exists()
        assert alive_holder(top, note=note) is None
        take(top, note).release()


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff", b'{"pid":1}', b"[" * 5000])
def test_stale_text_is_no_obstacle(top: Path, note: Path, text: bytes) -> None:
    """C21, R092."""
    note.write_bytes(text)
    assert read_holder(note) is None
    assert alive_holder(top, note=note) is None
    with take(top, note):
        found = read_holder(note)
        assert found is not None
        assert found.is_alive


def test_a_reused_pid_is_not_the_holder(top: Path, note: Path) -> None:
    """C21, S11: pid, start time and boot must all fit."""
    me = Holder.me("r", now=NOON)
    assert me.is_alive
    assert not replace(me, ticks=(me.ticks or 0) + 1).is_alive
    assert not replace(me, boot="another").is_alive
    assert not replace(me, ticks=None).is_alive


def test_the_lock_does_not_leak_to_children(top: Path, note: Path) -> None:
    """C23."""
    lock = take(top, note)
    with subprocess.Popen(["sleep", "60"], close_fds=False) as child:
        lock.release()
        try:
            take(top, note).release()
        finally:
            child.kill()


def test_a_deleted_note_does_not_free_the_tree(top: Path, note: Path) -> None:
    """C22."""
    with take(top, note):
        note.unlink()
        with pytest.raises(UserError, match=r"another run holds this tree: pid \d+, started"):
            take(top, note)
        found = alive_holder(top, note=note)
        assert found is not None
        assert found.pid == 0


def test_a_tree_swapped_under_the_lock_is_noticed(top: Path, note: Path) -> None:
    """C22."""
    with take(top, note) as lock:
        assert lock.is_ours
        top.rename(top.with_name("moved"))
        assert not lock.is_ours
        top.mkdir()
        assert not lock.is_ours
    assert not lock.is_ours


def test_who_looks_does_not_disturb_who_takes(top: Path, note: Path) -> None:
    """Two who look do not see each other, and a look is over before `take` gives up."""
    looking = os.open(top, os.O_RDONLY)
    fcntl.flock(looking, fcntl.LOCK_SH)
    assert alive_holder(top, note=note) is None
    os.close(looking)
    take(top, note).release()


def test_linked_worktrees_are_trees_of_their_own(tmp_path: Path) -> None:
    """C20."""
    trees = [tmp_path / "a", tmp_path / "b"]
    for tree in trees:
        tree.mkdir()
    with take(trees[0], tmp_path / "one"), take(trees[1], tmp_path / "two"):
        pass


def test_a_missing_tree_is_refused(tmp_path: Path, note: Path) -> None:
    with pytest.raises(UserError) as caught:
        take(tmp_path / "none", note)
    assert caught.value.reason is Reason.REFUSED
    assert alive_holder(tmp_path / "none", note=note) is None


def test_where_folders_cannot_be_locked_a_file_is(top: Path, note: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """C24: never silently unlocked."""
    real = fcntl.flock

    def only_files(fd: int, how: int) -> None:
        if Path(f"/proc/self/fd/{fd}").resolve() == top:
            raise OSError(errno.ENOLCK, "No locks available")
        real(fd, how)

    monkeypatch.setattr(fcntl, "flock", only_files)
    with take(top, note) as lock:
        assert "same state directory" in lock.weak
        with pytest.raises(UserError) as caught:
            take(top, note)
        assert caught.value.reason is Reason.LOCKED
        assert alive_holder(top, note=note) is not None


def test_without_any_lock_the_run_is_refused(top: Path, note: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """C24."""

    def never(fd: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", never)
    with pytest.raises(UserError, match="no lock can be had") as caught:
        take(top, note)
    assert caught.value.reason is Reason.REFUSED
