"""Disks that crash, lose and fail on order, and a stand-in for the loop that spends money on an outside ledger."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ralph.errors import UserError
from ralph.journal import entries
from ralph.journal.effects import Disk
from ralph.journal.log import Log
from ralph.journal.read import Record
from ralph.journal.story import Story
from tests.journal.examples import StillClock, iteration, started, stopped

HOLD = 300_000
SYNC_KINDS = ("sync", "sync_dir")


class Crashed(BaseException):
    """The process died here. No `except` of ours may catch it: a dead process runs nothing."""


class Watched(Disk):
    """The real disk with a look at each effect before and after; `cost` is money spent by the agent."""

    def before(self, name: str, half: Callable[[], object] | None = None) -> None:
        """Called before an effect; half: does half of it."""

    def after(self, name: str) -> None:
        """Called after an effect."""

    def open(self, path: Path, flags: int, mode: int) -> int:
        self.before("open")
        fd = super().open(path, flags, mode)
        self.after("open")
        return fd

    def write(self, fd: int, data: bytes) -> int:
        self.before("write", lambda: super(Watched, self).write(fd, data[: len(data) // 2]))
        done = super().write(fd, data)
        self.after("write")
        return done

    def sync(self, fd: int) -> None:
        self.before("sync")
        super().sync(fd)
        self.after("sync")

    def truncate(self, fd: int, size: int) -> None:
        self.before("truncate")
        super().truncate(fd, size)
        self.after("truncate")

    def rename(self, old: Path, new: Path) -> None:
        self.before("rename")
        super().rename(old, new)
        self.after("rename")

    def unlink(self, path: Path) -> None:
        self.before("unlink")
        super().unlink(path)
        self.after("unlink")

    def sync_dir(self, path: Path) -> None:
        self.before("sync_dir")
        super().sync_dir(path)
        self.after("sync_dir")

    def spend(self, ledger: list[tuple[int, int]], number: int, micro: int) -> None:
        """Let the agent run: money is gone from here on."""
        self.before("spend", lambda: ledger.append((number, micro // 2)))
        ledger.append((number, micro))
        self.after("spend")


class CrashAt(Watched):
    """Dies at the n-th point, counted from 0: before, halfway through or after an effect."""

    def __init__(self, point: int) -> None:
        self.left = point

    def _point(self, deed: Callable[[], object] | None = None) -> None:
        self.left -= 1
        if self.left == -1:
            if deed:
                deed()
            raise Crashed

    def before(self, name: str, half: Callable[[], object] | None = None) -> None:
        self._point()
        if half:
            self._point(half)

    def after(self, name: str) -> None:
        self._point()


class FailAt(Watched):
    """Raises errno at the n-th effect, and at every later one if it persists. Notes what was called after."""

    def __init__(self, point: int, error: int, *, persists: bool = False) -> None:
        self.left, self.error, self.persists = point, error, persists
        self.failed = ""
        self.later: list[str] = []

    def before(self, name: str, half: Callable[[], object] | None = None) -> None:
        if name == "spend":
            return
        self.left -= 1
        if self.failed:
            self.later.append(name)
        if self.left == -1 or (self.failed and self.persists):
            self.failed = self.failed or name
            if half:
                half()
            raise OSError(self.error, os.strerror(self.error))


class Lossy(Watched):
    """Remembers which bytes were synced; `power_loss` drops, cuts or zeroes the rest, and unnamed files."""

    def __init__(self, *, syncs: bool = True) -> None:
        self.syncs = syncs
        self.safe: dict[tuple[int, int], int] = {}
        self.nameless: set[Path] = set()

    def open(self, path: Path, flags: int, mode: int) -> int:
        if flags & os.O_CREAT and not path.exists():
            self.nameless.add(path)
        return super().open(path, flags, mode)

    def sync_dir(self, path: Path) -> None:
        super().sync_dir(path)
        self.nameless = {each for each in self.nameless if each.parent != path}

    def sync(self, fd: int) -> None:
        if self.syncs:
            info = os.fstat(fd)
            self.safe[info.st_dev, info.st_ino] = info.st_size

    def power_loss(self, path: Path, dice: random.Random) -> None:
        if path in self.nameless:
            path.unlink()
            return
        info = path.stat()
        safe = self.safe.get((info.st_dev, info.st_ino), 0)
        rest = bytearray(path.read_bytes()[safe:])
        at = dice.randint(0, len(rest))
        rest = dice.choice((rest[:at], rest[:at] + bytes(len(rest) - at), bytearray(), rest))
        path.write_bytes(path.read_bytes()[:safe] + rest)


class LossyCrash(Lossy, CrashAt):
    """Dies at a point; then the power goes."""

    def __init__(self, point: int, *, syncs: bool = True) -> None:
        CrashAt.__init__(self, point)
        Lossy.__init__(self, syncs=syncs)

    def sync(self, fd: int) -> None:
        self.before("sync")
        Lossy.sync(self, fd)
        self.after("sync")


@dataclass
class World:
    """What stays when the process dies: the journal, the ledger, and what was acknowledged."""

    path: Path
    iterations: int = 4
    holds: bool = True
    ledger: list[tuple[int, int]] = field(default_factory=list)
    acknowledged: dict[int, str] = field(default_factory=dict)
    crashes: int = 0

    def session(self, effects: Watched) -> Story:
        """Run or resume to the end, as the loop does. Raises: Crashed."""
        story = Story()

        def tell(record: Record) -> None:
            story.add(record)
            self.acknowledged[record.n] = record.kind

        log = self._opened(effects, tell)
        if log is None:
            log = Log.create(self.path, clock=StillClock(), effects=effects, tell=tell)
            log.append(*started())
        elif story.stop is not None:
            return story
        else:
            log.append("run_resumed", {})
        while story.next_iteration <= self.iterations:
            self._iterate(log, effects, story.next_iteration)
        log.append(*stopped())
        log.close()
        return story

    def _iterate(self, log: Log, effects: Watched, number: int) -> None:
        micro = 100_000 + number
        if self.holds:
            log.append(*entries.iteration_started(number, hold_micro=HOLD, prompt_hash="", note=""))
        effects.spend(self.ledger, number, micro)
        log.append(
            *entries.agent_ended(number, outcome="completed", exit="exit 0", elapsed_s=1, spent=iteration(1).spent)
        )
        log.append(*entries.iteration_finished(iteration(number, micro=micro)))

    def _opened(self, effects: Watched, tell: Callable[[Record], None]) -> Log | None:
        if not self.path.exists():
            return None
        try:
            return Log.open(self.path, clock=StillClock(), effects=effects, tell=tell)
        except UserError as error:
            if "no record" not in error.what:
                raise
            # Died before the first record: such a run never was, a new one takes its place.
            assert not self.acknowledged
            for path in self.path.parent.glob("journal*"):
                path.unlink()
            return None

    def faults(self, story: Story) -> list[str]:
        """Return which invariants do not hold, after the run has come to its end."""
        numbers = [number for number, _ in self.ledger]
        spent = sum(micro for _, micro in self.ledger)
        found = []
        if len(set(numbers)) != len(numbers):
            found.append("an iteration number was used twice")
        if story.committed_micro < spent:
            found.append("budget under-counted")
        if story.committed_micro > spent + self.crashes * HOLD:
            found.append("budget over-counted by more than one hold a crash")
        return found
