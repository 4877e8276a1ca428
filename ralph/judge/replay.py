"""A recorded run decided again under other thresholds: where it would have stopped, and what came behind that.

The iterations are as they were; only decisions differ. What an agent would have done instead nobody can tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ralph.facts.iteration import Iteration
from ralph.facts.replay import Inside, Replayed, Rest
from ralph.facts.run import Best, Moment, Opening, Stop, Totals
from ralph.facts.settings import Detect, Settings
from ralph.judge.history import History
from ralph.judge.signals.again import sighted
from ralph.judge.signals.sighting import Level
from ralph.judge.step import Kind
from ralph.judge.stops import decide
from ralph.judge.totals import TotalsFold


class Replay:
    """Folds a record, oldest first. settings: those it is decided by now. agents: as `History` takes them."""

    def __init__(self, opening: Opening, settings: Settings, *, agents: Sequence[str] = ()) -> None:
        self.stop: Stop | None = None
        self._settings = settings
        self._history = History(opening, settings, agents=agents)
        self._behind = TotalsFold()
        self._before: tuple[Totals, Best | None, int] | None = None
        self._new: list[int] = []
        self._count = self._last = 0
        self._done = False
        self._inside: list[Inside] = []

    @property
    def goes_on(self) -> bool:
        """Return whether the run has not been stopped yet."""
        return self.stop is None

    def add(self, iteration: Iteration, *, up_s: float) -> None:
        """Take the next finished iteration. up_s: how long the run had lasted then, real seconds."""
        missing = iteration.number - self._last - 1
        if self.stop is None:
            # Cut off by a crash: started and counted, and its record tells no more.
            self._history.count += max(0, missing)
        self._count, self._last = self._count + 1, iteration.number
        step = self._history.add(iteration)
        if self.stop is None:
            self.stop = decide(self._history, self._settings, self._moment(up_s))
            if self.stop is not None:
                self._before = self._now()
            return
        self._behind.add(iteration)
        self._new += [iteration.number] if step.kind is Kind.NEW else []
        self._done = self._done or (bool(iteration.gates) and all(gate.holds for gate in iteration.gates))

    def resumed(self) -> None:
        """Take note that the user looked at an ending and went on: here too, where it is the same one."""
        if self._before is not None and self._before[2] == self._last:
            self.stop = self._before = None
        self._history.resumed()

    def reloaded(self) -> None:
        """Take note that the prompt was taken anew."""
        self._history.restart_stretch()

    def ends_inside(self, ends: Iterable[Inside]) -> None:
        """Take note of ends in the middle of iterations before the stop."""
        self._inside += ends

    def result(self) -> Replayed:
        """Return what it comes to."""
        totals, best, after = self._before or self._now()
        late = self._history.best
        better = late if self.stop is not None and late is not None and late.number > after and late != best else None
        rest = Rest(self._behind.totals, tuple(self._new), better, self._done)
        return Replayed(self.stop, after, self._count, totals, rest, tuple(self._inside))

    def _now(self) -> tuple[Totals, Best | None, int]:
        return self._history.totals, self._history.best, self._last

    def _moment(self, up_s: float) -> Moment:
        limit = self._settings.limits.time
        return Moment(up_s, None if limit is None else limit - up_s)


def inside_limits(iteration: Iteration, settings: Settings) -> tuple[Inside, ...]:
    """Return which limits of one iteration this one passed."""
    limits, turns, found = settings.limits, iteration.spent.turns, []
    if limits.turns is not None and turns is not None and turns > limits.turns:
        found.append(Inside(iteration.number, "limits.turns", limits.turns, turns - limits.turns, "turns"))
    if limits.iteration_time is not None and iteration.elapsed_s > limits.iteration_time:
        over = iteration.elapsed_s - limits.iteration_time
        found.append(Inside(iteration.number, "limits.iteration_time", limits.iteration_time, over, "s"))
    return tuple(found)


def inside_loops(number: int, rows: Iterable[Sequence[object]], detect: Detect) -> tuple[Inside, ...]:
    """Return the first loop for which this iteration would be ended. rows: of its steps."""
    sightings, count = sighted(rows, detect)
    end = next((one for one in sightings if one.level is Level.END), None)
    if end is None:
        return ()
    last = end.steps[-1] + 1 if end.steps else count
    return (Inside(number, f"{end.detector}: {end.detail}", last, count - last, "calls"),)
