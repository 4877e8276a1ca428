"""`ports.Processes` for real: every program under a guardian of its own, one selector, nothing left behind."""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

from ralph.facts.ending import Cut, Ended, NotStarted, Why
from ralph.facts.job import Job, TimeRules
from ralph.ports import Clock, Side, Watcher
from ralph.process import system
from ralph.process.beside import Beside
from ralph.process.boot import Booted, Interpreter, boot
from ralph.process.drain import Drain
from ralph.process.ears import Ears
from ralph.process.guarded import NEVER, Guarded, start
from ralph.process.limits import RECHECK_S
from ralph.process.signals import Signals

_HARD_SLACK_S = 30.0
"""How long after our own limits a guardian acts by itself: we are stopped, or worse (A13)."""


class Launcher:
    """Starts programs and sees them to their end. signals: entered already. close: ends what `Job.keep` let live.

    moved: asked at the end of a silence whether the content of the work tree changed since it was last asked.
    by: the interpreter and the guardian file, copied out if ours lie in the work tree. ahead: boot the guardian of the
    next program when one has ended, so that its start-up runs beside whatever is done in between.
    """

    def __init__(
        self,
        clock: Clock,
        signals: Signals,
        *,
        moved: Callable[[], bool] = lambda: False,
        by: Interpreter | None = None,
        ahead: bool = False,
    ) -> None:
        self._clock = clock
        self._signals = signals
        self._moved = moved
        self._by = by or Interpreter.loaded()
        self._ahead = ahead
        self._next: Booted | None = None
        self._current: Guarded | None = None
        self._kept: list[Guarded] = []
        self._beside: list[Beside] = []
        system.adopt_orphans()

    def __enter__(self) -> Launcher:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    @property
    def guardian_pid(self) -> int | None:
        """Return the guardian of the child now running, None between children."""
        return self._current.pid if self._current is not None else None

    def run(self, job: Job, watcher: Watcher, *, sides: tuple[Side, ...] = ()) -> Ended:
        """Run one child to its end, and sweep what it left; see `ports.Processes`.

        After a signal nothing is started any more: the answer is `NotStarted` (EINTR), cut by `Why.SIGNAL`.
        """
        if self._signals.received:
            return Ended(NotStarted(errno.EINTR, "interrupted before the start"), cut=self._signal_cut())
        began = self._clock.awake()
        hard_in_s = self._hard_in_s(job.time)
        hard_at = time.monotonic() + hard_in_s
        started = start(job, hard_at=hard_at, by=self._by, others=self._guardians(), ahead=self._fitting(job))
        if isinstance(started, NotStarted):
            return Ended(started)
        guarded = self._current = started.guarded
        ears = self._ears()
        try:
            drain = Drain(
                job,
                started,
                watcher,
                clock=self._clock,
                signals=self._signals,
                moved=self._moved,
                began=began,
                hard_in_s=hard_in_s,
            )
            return drain.run(ears, sides=sides)
        finally:
            self._current = None
            ears.close()
            if not guarded.over:  # a bug, ours or the watcher's, is on its way up: it must not leave an agent behind
                guarded.abandon()
            started.close()
            if guarded.keeps:
                self._kept.append(guarded)
            else:
                guarded.release()
            if self._ahead:
                self.boot_next(job)

    def boot_next(self, like: Job) -> None:
        """Boot a guardian for a job in the same folder with the same mark; that it fails shows when it is needed."""
        if self._next is None and not self._signals.received:
            with suppress(OSError):
                self._next = boot(like, by=self._by)

    def wait(self, seconds: float, *, sides: tuple[Side, ...] = ()) -> Cut | None:
        """Wait in real time without a child; return early with the `Cut` of a signal or of a side."""
        until = self._clock.real() + seconds
        cuts: list[Cut] = []
        ears = self._ears()
        ears.add(self._signals.fileno(), self._stop_if_asked)
        for side in sides:
            ears.add(side.fileno(), lambda side=side: _take_cut(side, cuts))  # type: ignore[misc]  # default binds it
        try:
            while not cuts and not self._signals.received and (left := until - self._clock.real()) > 0:
                ears.listen(min(left, RECHECK_S))
        finally:
            ears.close()
        return self._signal_cut() or (cuts[0] if cuts else None)

    def interruption(self) -> int | None:
        """Return the number of the first INT, TERM or HUP received so far, None if there was none."""
        return self._signals.received[0] if self._signals.received else None

    def beside(self, job: Job) -> Beside:
        """Start a program that runs beside the children, under its own guardian, its output in the job's logs.

        Its pipes are read whenever a child runs or a wait goes on. A program that cannot start has ended already.
        """
        beside = Beside(job, start(job, hard_at=NEVER, by=self._by, others=self._guardians()))
        self._beside.append(beside)
        return beside

    def close(self) -> None:
        """End every program beside, every process that `Job.keep` let live, and the guardian booted ahead."""
        if self._next is not None:
            self._next.drop()
            self._next = None
        for beside in self._beside:
            beside.close()
        for guarded in self._kept:
            guarded.release()
        self._beside.clear()
        self._kept.clear()

    def _fitting(self, job: Job) -> Booted | None:
        """Return the guardian booted ahead, if there is one for this job; one that does not fit is ended."""
        booted, self._next = self._next, None
        if booted is not None and not booted.fits(job, by=self._by):
            booted.drop()
            return None
        return booted

    def _ears(self) -> Ears:
        ears = Ears()
        for beside in self._beside:
            beside.join(ears)
        return ears

    def _guardians(self) -> frozenset[int]:
        booted = {self._next.process.pid} if self._next is not None else set()
        return frozenset(guarded.pid for guarded in self._kept) | {one.pid for one in self._beside if one.pid} | booted

    def _hard_in_s(self, rules: TimeRules) -> float:
        left = [] if rules.total_s is None else [rules.total_s]
        left += [] if rules.deadline_s is None else [rules.deadline_s - self._clock.real()]
        return max(0.0, min(left)) + rules.grace_s + _HARD_SLACK_S if left else NEVER

    def _signal_cut(self) -> Cut | None:
        received = self._signals.received
        return Cut(Why.SIGNAL, f"got {signal.Signals(received[0]).name}") if received else None

    def _stop_if_asked(self) -> bool:
        if self._signals.take():
            os.kill(os.getpid(), signal.SIGSTOP)
        return True


def _take_cut(side: Side, cuts: list[Cut]) -> bool:
    cut = side.ready()
    if cut is not None:
        cuts.append(cut)
    return True
