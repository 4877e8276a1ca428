"""When a silent child counts as hung (design 3.3, idle): asked rarely, and only of a child that prints nothing."""

from __future__ import annotations

from collections.abc import Callable

_BUSY = 0.01
"""Share of one core from which a silent tree counts as working."""


class Silence:
    """The idle limit of one child. All times are awake seconds; idle_s None: never hung.

    cpu_s: processor seconds of the tree so far. excused: silence is expected. moved: the tree's content changed since
    it was last asked. The first half of a silence costs nothing; then the processor time is sampled, and at the end it
    is compared and the other two are asked. A sign of life has it asked again after another half.
    """

    def __init__(
        self,
        idle_s: float | None,
        *,
        now: float,
        cpu_s: Callable[[], float],
        excused: Callable[[], bool],
        moved: Callable[[], bool],
    ) -> None:
        self._half = None if idle_s is None else idle_s / 2
        self._cpu_s = cpu_s
        self._excused = excused
        self._moved = moved
        self._sample: tuple[float, float] | None = None
        self.due: float | None = None
        self.heard(now)

    def heard(self, now: float) -> None:
        """Begin anew: a byte came."""
        self._sample = None
        self.due = None if self._half is None else now + self._half

    def is_hung(self, now: float) -> bool:
        """Look if it is time to; return whether the child is to be ended."""
        if self._half is None or self.due is None or now < self.due:
            return False
        used = self._cpu_s()
        earlier, self._sample = self._sample, (now, used)
        self.due = now + self._half
        if earlier is None:
            return False
        works = used - earlier[1] >= _BUSY * (now - earlier[0])
        return not works and not self._excused() and not self._moved()
