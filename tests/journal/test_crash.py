"""Crashes, power loss and failing disks at every effect (faults 4.1); each harness fails when the safeguard is gone."""

from __future__ import annotations

import errno
import os
import random
from pathlib import Path

import pytest

from ralph.errors import UserError
from ralph.facts.reason import Reason
from ralph.journal import entries
from ralph.journal.effects import replace_file
from ralph.journal.log import Log
from ralph.journal.read import parse, read
from ralph.journal.story import Story, fold
from tests.journal.examples import StillClock, started, stopped
from tests.journal.faulty import CrashAt, Crashed, FailAt, Lossy, LossyCrash, Watched, World


def ended(world: World, *points: int) -> tuple[Story, bool]:
    """Return the story of the run once it ended, crashing at these points first; whether all were reached."""
    for point in points:
        try:
            return world.session(CrashAt(point)), False
        except Crashed:
            world.crashes += 1
    return world.session(Watched()), True


def sound(world: World, story: Story) -> None:
    assert world.faults(story) == []
    assert story.stop is not None
    kinds = {r.n: r.kind for r in read(world.path).records}
    assert world.acknowledged.items() <= kinds.items(), "an acknowledged record was lost"
    assert fold(read(world.path).records).committed_micro == story.committed_micro


def test_a_crash_at_every_effect_recovers(tmp_path: Path) -> None:
    """S1: no number twice, budget never under-counted, no acknowledged record lost."""
    point, crashed = 0, True
    while crashed:
        folder = tmp_path / str(point)
        folder.mkdir()
        world = World(folder / "journal.jsonl", iterations=2)
        story, crashed = ended(world, point)
        sound(world, story)
        point += 1
    assert point > 50


@pytest.mark.parametrize("seed", range(40))
def test_a_crash_while_recovering_from_a_crash_recovers(tmp_path: Path, seed: int) -> None:
    """S1, CrashAt x CrashAt, sampled."""
    dice = random.Random(seed)
    world = World(tmp_path / "journal.jsonl", iterations=2)
    story, _ = ended(world, dice.randrange(60), dice.randrange(30))
    sound(world, story)


@pytest.mark.slow
def test_five_hundred_double_crashes_recover(tmp_path: Path) -> None:
    dice = random.Random(500)
    for number in range(500):
        folder = tmp_path / str(number)
        folder.mkdir()
        world = World(folder / "journal.jsonl", iterations=2)
        story, _ = ended(world, dice.randrange(60), dice.randrange(40), dice.randrange(40))
        sound(world, story)


def test_without_the_hold_the_harness_fails(tmp_path: Path) -> None:
    """Negative control: what is not written before the agent starts is forgotten."""
    seen = set()
    for point in range(50):
        folder = tmp_path / str(point)
        folder.mkdir()
        world = World(folder / "journal.jsonl", iterations=2, holds=False)
        story, _ = ended(world, point)
        seen |= set(world.faults(story))
    assert "an iteration number was used twice" in seen
    assert "budget under-counted" in seen


def lost(tmp_path: Path, *, syncs: bool, rounds: int = 64, salt: int = 0) -> set[str]:
    """Return the faults after a power loss at each point. salt: another choice of what the disk lost."""
    seen = set()
    for point in range(rounds):
        folder = tmp_path / f"{syncs}-{salt}-{point}"
        folder.mkdir()
        world = World(folder / "journal.jsonl", iterations=2)
        effects = LossyCrash(point, syncs=syncs)
        try:
            story = world.session(effects)
        except Crashed:
            world.crashes += 1
            if world.path.exists():
                effects.power_loss(world.path, random.Random(point + salt))
            if not read(world.path).records if world.path.exists() else True:
                seen |= {"acknowledged records lost"} if world.acknowledged else set()
                continue
            kinds = {r.n: r.kind for r in read(world.path).records}
            seen |= set() if world.acknowledged.items() <= kinds.items() else {"acknowledged records lost"}
            story = world.session(Watched())
        seen |= set(world.faults(story))
    return seen


def test_power_loss_at_every_effect_loses_nothing_acknowledged(tmp_path: Path) -> None:
    """S9, LossyStore."""
    assert lost(tmp_path, syncs=True) == set()


def test_without_the_sync_the_harness_fails(tmp_path: Path) -> None:
    """Negative control."""
    seen = lost(tmp_path, syncs=False) | lost(tmp_path, syncs=False, salt=1000)
    assert {"acknowledged records lost", "budget under-counted"} <= seen


def failure(world: World, effects: FailAt) -> UserError | None:
    try:
        world.session(effects)
    except UserError as error:
        return error
    return None


@pytest.mark.parametrize("persists", [False, True])
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS], ids=errno.errorcode.get)
def test_a_failing_disk_ends_the_run_with_storage(tmp_path: Path, error: int, persists: bool) -> None:
    """S4, S5: at every effect; nothing acknowledged is lost, and no sync is tried again as if the first were clean."""
    point, failed = 0, True
    while failed:
        folder = tmp_path / str(point)
        folder.mkdir()
        world = World(folder / "journal.jsonl", iterations=2)
        effects = FailAt(point, error, persists=persists)
        caught = failure(world, effects)
        # Dropping the reserve after the last record: the run is complete, only the clean-up failed.
        assert (caught is None) == (effects.failed in ("", "unlink"))
        assert caught is None or caught.reason is Reason.STORAGE
        failed = bool(effects.failed)
        if effects.failed == "sync":
            assert not {"sync", "write"} & set(effects.later)
        kinds = {r.n: r.kind for r in parse(world.path.read_bytes()).records} if world.path.exists() else {}
        assert world.acknowledged.items() <= kinds.items()
        point += 1


class Full(Watched):
    """A disk with no room left but what the reserve gives back; takes half a record before it says so."""

    def __init__(self) -> None:
        self.full = False

    def write(self, fd: int, data: bytes) -> int:
        if not self.full:
            return super().write(fd, data)
        if len(data) > 100:
            return super().write(fd, data[:94])
        raise OSError(errno.ENOSPC, "no space left on device")

    def unlink(self, path: Path) -> None:
        super().unlink(path)
        self.full = False


def test_the_last_record_of_a_full_disk_goes_into_the_reserve(tmp_path: Path) -> None:
    """S4: a short write is seen and taken back; then `run_stopped`, and only that, has room."""
    path, effects = tmp_path / "journal.jsonl", Full()
    log = Log.create(path, clock=StillClock(), effects=effects)
    log.append(*started())
    effects.full = True
    for _ in range(2):
        with pytest.raises(UserError, match="no space left") as caught:
            log.append(*entries.reloaded("a", "b" * 300))
        assert caught.value.reason is Reason.STORAGE
    log.append(*stopped(Reason.STORAGE))
    log.close()
    reading = read(path)
    assert [r.kind for r in reading.records] == ["run_started", "run_stopped"]
    assert (reading.tail, reading.damage) == (b"", None)


def test_a_last_record_too_large_for_the_reserve_is_cut(tmp_path: Path) -> None:
    """S4."""
    path, effects = tmp_path / "journal.jsonl", Full()
    with Log.create(path, clock=StillClock(), effects=effects) as log:
        log.append(*started())
        effects.full = True
        with pytest.raises(UserError):
            log.append(*entries.reloaded("a", "b" * 300))
        kind, fields = stopped(Reason.STORAGE)
        log.append(kind, {**fields, "next_commands": ["x" * 50_000]})
    story = fold(read(path).records)
    assert story.stop is not None
    assert story.stop.reason is Reason.STORAGE


def test_after_a_failed_sync_the_records_are_in_an_emergency_copy(tmp_path: Path) -> None:
    """S5."""
    path = tmp_path / "journal.jsonl"
    effects = FailAt(10**9, errno.EIO)
    log = Log.create(path, clock=StillClock(), effects=effects)
    log.append(*started())
    effects.left = 1  # the write passes, the sync behind it fails
    with pytest.raises(UserError, match="cannot sync") as caught:
        log.append(*entries.reloaded("a", "b"))
    assert log.copy is not None
    assert str(log.copy) in caught.value.fix
    with pytest.raises(UserError, match="cannot sync"):
        log.append(*stopped(Reason.STORAGE))
    assert [r.kind for r in read(log.copy).records] == ["run_started", "reloaded", "run_stopped"]
    log.close()


def test_an_interrupted_write_goes_on(tmp_path: Path) -> None:
    class Interrupted(Watched):
        turns = 0

        def write(self, fd: int, data: bytes) -> int:
            self.turns += 1
            if self.turns % 2:
                raise InterruptedError
            return super().write(fd, data[:50])

    path = tmp_path / "journal.jsonl"
    with Log.create(path, clock=StillClock(), effects=Interrupted()) as log:
        log.append(*started())
    assert len(read(path).records) == 1


def test_a_file_is_replaced_in_the_order_that_survives_power_loss(tmp_path: Path) -> None:
    """S9: temp, write, sync, rename, sync of the directory."""
    order: list[str] = []

    class Noted(Watched):
        def before(self, name: str, half: object = None) -> None:
            order.append(name)

    replace_file(tmp_path / "summary.json", b"{}", effects=Noted())
    assert order == ["unlink", "open", "write", "sync", "rename", "sync_dir"]


def test_a_crash_at_every_effect_leaves_the_old_or_the_new_file(tmp_path: Path) -> None:
    """R092, R094."""
    path = tmp_path / "summary.json"
    for point in range(40):
        path.write_bytes(b"old")
        try:
            replace_file(path, b"new!", effects=CrashAt(point))
        except Crashed:
            assert path.read_bytes() in (b"old", b"new!")
        else:
            break
    assert path.read_bytes() == b"new!"
    replace_file(path, b"third")
    assert [p.name for p in tmp_path.iterdir()] == ["summary.json"]


def test_lossy_disk_keeps_what_was_synced(tmp_path: Path) -> None:
    """The stand-in itself: synced bytes stay, others may go."""
    path, disk = tmp_path / "f", Lossy()
    fd = disk.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    disk.write(fd, b"safe")
    disk.sync(fd)
    disk.sync_dir(tmp_path)
    disk.write(fd, b"gone")
    os.close(fd)
    found = set()
    for seed in range(30):
        path.write_bytes(b"safegone")
        disk.power_loss(path, random.Random(seed))
        assert path.read_bytes().startswith(b"safe")
        found.add(path.read_bytes())
    assert b"safe" in found
    assert len(found) > 3
