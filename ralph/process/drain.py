"""One running child: its bytes, its guardian's news, signals and sides, until its whole tree is gone. No polling."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

from ralph.facts.ending import Cut, Ended, Poisoned, Why
from ralph.facts.job import Job
from ralph.ports import Clock, Side, Stream, Watcher
from ralph.process import tree
from ralph.process.ears import WRITE, Ears
from ralph.process.guarded import NEVER, Started
from ralph.process.limits import Limits
from ralph.process.pipes import Outlet
from ralph.process.signals import Signals
from ralph.process.silence import Silence

SIGNAL_GRACE_S = 4.0
"""Longest grace after a signal to us: the summary is to be written within 5 s (design 2.3)."""
_OBEDIENCE_S = 1.0
"""How much later than ordered the program may still be there before the guardian counts as stopped or broken."""
_SWEEP_S = 15.0
"""Longest sweep: the guardian's rounds are bounded and take less."""


class Drain:
    """One child from its start to the end of its tree; made for one `run`.

    moved: the content of the work tree changed since it was last asked. hard_at: monotonic second at which the guardian
    acts by itself, moved on when the run is suspended by Ctrl-Z.
    """

    def __init__(
        self,
        job: Job,
        started: Started,
        watcher: Watcher,
        *,
        clock: Clock,
        signals: Signals,
        moved: Callable[[], bool],
        began: float,
        hard_in_s: float,
    ) -> None:
        self._rules = job.time
        self._guarded, self._inlet = started.guarded, started.inlet
        self._outlets: tuple[tuple[Stream, Outlet], ...] = (("out", started.out), ("err", started.err))
        self._watcher = watcher
        self._clock = clock
        self._signals = signals
        self._began = began
        self._hard_in_s = hard_in_s
        self._paused_s = 0.0
        # It asks without reading our answers: it is read no further until it does.
        self._choked = False
        self._cut: Cut | None = None
        self._at_once = False
        self._obey_by: float | None = None
        self._drain_until: float | None = None
        self._swept = False
        self._leaky = False
        self._last_output: float | None = None
        silence = Silence(
            self._rules.idle_s,
            now=began,
            cpu_s=lambda: tree.cpu_of_tree(self._guarded.pid),
            excused=watcher.excused,
            moved=moved,
        )
        self._limits = Limits(self._rules, silence, began=began)

    def run(self, ears: Ears, *, sides: tuple[Side, ...]) -> Ended:
        """See the child to its end."""
        self._listen_to(ears, sides)
        while not self._is_over():
            self._converse(ears)
            ears.listen(self._timeout())
            self._check()
        for stream, outlet in self._outlets:
            self._hand_on(stream, outlet.end())
        return self._ended()

    def _listen_to(self, ears: Ears, sides: tuple[Side, ...]) -> None:
        guarded = self._guarded
        self._listen_to_output(ears)
        ears.add(guarded.status, lambda: self._news() and guarded.reporting)
        if guarded.pidfd is not None:
            ears.add(guarded.pidfd, self._news)
        ears.add(self._signals.fileno(), self._signal)
        for side in sides:
            ears.add(side.fileno(), lambda side=side: self._side(side))  # type: ignore[misc]

    def _listen_to_output(self, ears: Ears) -> None:
        for stream, outlet in self._outlets:
            if outlet.open:
                ears.add(outlet.fd, lambda stream=stream, outlet=outlet: self._read(stream, outlet))  # type: ignore[misc]

    # what was heard

    def _read(self, stream: Stream, outlet: Outlet) -> bool:
        before = outlet.bytes
        lines = outlet.read()
        if outlet.bytes > before:
            now = self._now()
            self._last_output = now
            self._limits.heard(now)
        self._hand_on(stream, lines)
        self._choked = self._inlet is not None and self._inlet.is_full
        return outlet.open and not self._choked

    def _hand_on(self, stream: Stream, lines: list[bytes]) -> None:
        line_of = self._watcher.line
        for line in lines:
            cut = line_of(stream, line)
            if cut is not None:
                self._end(cut)
        if lines and self._watcher.finished():
            self._limits.finished(self._now())

    def _news(self) -> bool:
        self._guarded.hear()
        if self._guarded.how is not None and self._drain_until is None:
            self._drain_until = self._now() + self._rules.drain_s
            for stream, outlet in self._outlets:
                self._read(stream, outlet)
        return not self._guarded.over

    def _signal(self) -> bool:
        if self._signals.take():
            self._pause()
        count = len(self._signals.received)
        if count:
            name = signal.Signals(self._signals.received[0]).name
            self._end(Cut(Why.SIGNAL, f"got {name}", at_once=count > 1))
        return True

    def _side(self, side: Side) -> bool:
        cut = side.ready()
        if cut is not None:
            self._end(cut)
        return True

    # what is done about it

    def _converse(self, ears: Ears) -> None:
        inlet = self._inlet
        if inlet is None:
            return
        replies = self._watcher.replies()
        if inlet.open:
            inlet.add(replies)
            inlet.write()
        if self._choked and not inlet.is_full:
            self._choked = False
            self._listen_to_output(ears)
        if not inlet.open:
            return
        if inlet.busy:
            ears.add(inlet.fd, lambda: inlet.write() or inlet.busy, events=WRITE)  # type: ignore[func-returns-value]
        elif self._watcher.closes_stdin():
            inlet.close()

    def _check(self) -> None:
        now = self._now()
        if self._cut is None and self._drain_until is None:
            cut = self._limits.cut(now, self._clock.real())
            if cut is not None:
                self._end(cut)
        if self._drain_until is not None:
            self._finish(now, self._drain_until)
        if self._obey_by is not None and now >= self._obey_by:
            self._guarded.kill()
            self._obey_by = None

    def _finish(self, now: float, until: float) -> None:
        """The program has left: give the pipes their time, then have the rest of the tree swept."""
        if now >= until and self._is_open():
            self._leaky = True
            for _, outlet in self._outlets:
                outlet.close()
        if not self._swept and (self._cut is not None or not self._is_open()):
            self._swept = True
            self._guarded.order("sweep")
            self._obey_by = now + _SWEEP_S

    def _end(self, cut: Cut) -> None:
        if self._drain_until is not None:
            return
        if self._cut is None:
            self._cut = cut
            grace = min(self._rules.grace_s, SIGNAL_GRACE_S) if cut.why is Why.SIGNAL else self._rules.grace_s
            self._order_end(0.0 if cut.at_once else grace, at_once=cut.at_once)
        elif cut.at_once and not self._at_once:
            self._order_end(0.0, at_once=True)

    def _order_end(self, grace_s: float, *, at_once: bool) -> None:
        self._at_once = at_once
        if at_once:
            self._guarded.order("kill")
        self._guarded.order("end", in_s=grace_s)
        self._obey_by = self._now() + grace_s + _OBEDIENCE_S

    def _pause(self) -> None:
        """Ctrl-Z: stop the tree and ourselves; our timers stand still until somebody continues us (A21)."""
        at = self._clock.awake()
        self._guarded.order("hard", in_s=NEVER)
        tree.send(signal.SIGSTOP, self._guarded.pid)
        os.kill(os.getpid(), signal.SIGSTOP)
        self._paused_s += self._clock.awake() - at
        tree.send(signal.SIGCONT, self._guarded.pid)
        self._guarded.order("hard", in_s=self._hard_in_s)

    # what is known

    def _now(self) -> float:
        return self._clock.awake() - self._paused_s

    def _timeout(self) -> float | None:
        now = self._now()
        points = [at - now for at in (self._obey_by,) if at is not None]
        if self._drain_until is not None:
            points += [self._drain_until - now] if self._is_open() else []
        elif self._cut is None:
            due = self._limits.due_in(now, self._clock.real())
            points += [] if due is None else [due]
        return max(0.0, min(points)) if points else None

    def _is_open(self) -> bool:
        return any(outlet.open for _, outlet in self._outlets)

    def _is_over(self) -> bool:
        return self._guarded.over and not self._is_open()

    def _ended(self) -> Ended:
        (_, out), (_, err) = self._outlets
        return Ended(
            how=self._guarded.how or Poisoned(),
            cut=self._cut,
            elapsed_s=self._now() - self._began,
            survivors=tuple(self._guarded.survivors),
            leaky=self._leaky,
            bytes_out=out.bytes,
            bytes_err=err.bytes,
            lines_skipped=out.lines.skipped + err.lines.skipped,
            cpu_s=self._guarded.cpu_s,
            last_output_s=None if self._last_output is None else self._last_output - self._began,
            error_tail=err.tail,
            log_trouble=out.trouble or err.trouble,
        )
