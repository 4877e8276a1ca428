"""The fold over all steps of an iteration: detectors look, thresholds decide, each loop escalates by itself."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ralph.facts.settings import Detect
from ralph.judge.signals.course import Course
from ralph.judge.signals.recent import Recent
from ralph.judge.signals.sighting import Answer, Level, Sighting
from ralph.judge.signals.step import Step
from ralph.judge.signals.streak import Streak
from ralph.judge.signals.table import DETECTORS, Watcher
from ralph.judge.signals.text_loop import TextLoop

STREAMS_KEPT = 64
LOOPS_KEPT = 128
STEPS_KEPT = 48
REFUSALS = 2
"""So many refused tries of a denied call, and the turn is to end."""

Look = Callable[[], str | None]
"""Returns what stands for the work tree now, None where it cannot be told. May cost tens of milliseconds."""


@dataclass(slots=True)
class Loop:
    """One loop as far as it was reported. base: count at which it was started anew because the tree had moved."""

    level: int = 0
    base: int = 0
    mark: str | None = None
    tries: int = 0
    told: Sighting | None = None


class Watch:
    """Folds the steps of one iteration, each stream apart. look: asked only shortly before a denial or an end."""

    def __init__(self, detect: Detect | None = None, *, look: Look | None = None) -> None:
        self._levels = effective(detect or Detect())
        self._look = look
        self._streams: dict[str, Stream] = {}

    def see(self, step: Step) -> tuple[Sighting, ...]:
        """Take the next step; return the loops that reached a new level with it. Never raises."""
        stream = self._stream(step.stream)
        return tuple(stream.see(step))

    def said(self, text: str, *, stream: str = "") -> tuple[Sighting, ...]:
        """Take a complete message of the model."""
        return tuple(self._stream(stream).say(text))

    def refuses(self, args: str | None, *, stream: str = "") -> Sighting | None:
        """Return why a call that is about to run is refused, None where it may run.

        To be asked once for each try: the second refused try of a loop ends the turn.
        """
        found = self._streams.get(stream)
        return found.refuses(args) if found is not None and args is not None else None

    def _stream(self, name: str) -> Stream:
        found = self._streams.get(name)
        if found is None:
            found = self._streams[name] = Stream(name, self._levels, look=self._look)
            if len(self._streams) > STREAMS_KEPT:
                del self._streams[next(iter(self._streams))]
        return found


def effective(detect: Detect) -> dict[str, Watcher]:
    """Return the detectors that look, with the thresholds the user wants."""
    off = set(DETECTORS) if "all" in detect.off else set(detect.off)
    found = {name: watcher for name, watcher in DETECTORS.items() if name not in off}
    for name, levels in detect.levels.items():
        if name in found:
            wanted = {level: getattr(levels, level) for level in ("nudge", "deny", "end")}
            found[name] = replace(found[name], **{k: v for k, v in wanted.items() if v != "own"})
    return found


class Stream:
    """One stream: its course, its detectors, its loops."""

    def __init__(self, name: str, levels: dict[str, Watcher], *, look: Look | None) -> None:
        self._name = name
        self._levels = levels
        self._look = look
        self._looked: tuple[int, str | None] | None = None
        self._course = Course()
        self._epoch = 0
        self._detectors = {name: one.make() for name, one in levels.items() if one.make is not None}
        self._text = TextLoop() if "text-loop" in levels else None
        self._loops: Recent[Loop] = Recent(LOOPS_KEPT)
        self._denied: dict[str, Loop] = {}
        self._answers: deque[tuple[str | None, Answer]] = deque(maxlen=STEPS_KEPT)
        self._told = -1

    def see(self, step: Step) -> Iterator[Sighting]:
        """Take a step."""
        if self._text is not None:
            self._text.called()
        if self._course.begins_anew(step):
            self._restart()
        answer = Answer(step.index, step.tool, step.origin, step.call, step.quote)
        yield from self._each(self._turns(step, over=False))
        self._answers.append((step.args, answer))
        yield from self._each(self._streaks(step))
        yield from self._each(self._turns(step, over=True))

    def say(self, text: str) -> Iterator[Sighting]:
        """Take a message."""
        streak = self._text.message(text) if self._text is not None else None
        if streak is not None:
            yield from self._each(iter([("text-loop", streak)]))

    def refuses(self, args: str) -> Sighting | None:
        """Return why this call is refused; the second try of one loop is answered with its end."""
        loop = self._denied.get(args)
        if loop is None or loop.told is None:
            return None
        loop.tries += 1
        if loop.tries >= REFUSALS:
            loop.level = Level.END
            loop.told = replace(loop.told, level=Level.END, fresh=False)
        return loop.told

    def _restart(self) -> None:
        for detector in self._detectors.values():
            detector.restart()
        if self._text is not None:
            self._text.restart()
        self._loops.clear()
        self._denied.clear()

    def _turns(self, step: Step, *, over: bool) -> Iterator[tuple[str, Streak]]:
        """Yield what detectors say of a turn that is over: the one before this step's, or its own."""
        for turn in self._course.closed(step) if over else self._course.ended(step):
            for name, detector in self._detectors.items():
                yield from ((name, streak) for streak in detector.turn(turn))

    def _streaks(self, step: Step) -> Iterator[tuple[str, Streak]]:
        call = self._course.count(step)
        if self._course.epoch != self._epoch:
            self._epoch = self._course.epoch
            self._denied.clear()  # a change that went through closes what was denied
        for name, detector in self._detectors.items():
            streak = detector.other(step) if call is None else detector.call(call)
            if streak is not None:
                yield name, streak

    def _each(self, found: Iterator[tuple[str, Streak]]) -> Iterator[Sighting]:
        for name, streak in found:
            sighting = self._judged(name, streak)
            if sighting is not None:
                yield sighting

    def _judged(self, name: str, streak: Streak) -> Sighting | None:
        """Return the loop as it is to be reported, None where it has nothing new to say."""
        watcher = self._levels[name]
        factor = streak.weight
        first = min((n for n in (watcher.nudge, watcher.deny, watcher.end) if n is not None), default=None)
        if first is None or streak.count < first * factor - 1:
            return None
        identity = f"{name}:{streak.key}"
        loop = self._loops.get(identity)
        if loop is None:
            loop = Loop()
            self._loops.put(identity, loop)
        count = streak.count - loop.base
        level = _level(watcher, count, factor=factor)
        if self._has_moved(loop, watcher, count=count, factor=factor, acts=level >= Level.DENY > loop.level):
            loop.base, loop.tries = streak.count, 0
            return None
        if level <= loop.level:
            return None
        loop.level = level
        loop.told = self._sighting(name, identity, streak, level=Level(level))
        if level >= Level.DENY:
            self._deny(loop)
        return loop.told

    def _deny(self, loop: Loop) -> None:
        assert loop.told is not None, "it was reported before it is denied"
        for args in loop.told.calls:
            self._denied[args] = loop
        while len(self._denied) > LOOPS_KEPT:
            del self._denied[next(iter(self._denied))]

    def _has_moved(self, loop: Loop, watcher: Watcher, *, count: int, factor: int, acts: bool) -> bool:
        """Ask the real tree, but only one below the first act on, and once a turn."""
        act = watcher.deny if watcher.deny is not None else watcher.end
        if self._look is None or act is None or count < act * factor - 1:
            return False
        if loop.mark is None:
            loop.mark = self._tree()
            return False
        if not acts:
            return False
        here = self._tree()
        moved = here is not None and here != loop.mark
        loop.mark = here if moved else loop.mark
        return moved

    def _tree(self) -> str | None:
        assert self._look is not None, "asked only where there is somebody to ask"
        if self._looked is None or self._looked[0] != self._course.turns:
            self._looked = self._course.turns, self._look()
        return self._looked[1]

    def _sighting(self, name: str, identity: str, streak: Streak, *, level: Level) -> Sighting:
        first = streak.steps[0] if streak.steps else -1
        last = streak.steps[-1] if streak.steps else -1
        fresh = level > Level.NUDGE or first > self._told or not streak.steps
        self._told = max(self._told, last)
        newest = {args: answer for args, answer in self._answers if args in streak.calls}
        return Sighting(
            detector=name,
            identity=identity,
            level=level,
            count=streak.count,
            steps=streak.steps,
            detail=streak.detail,
            stream=self._name,
            calls=streak.calls,
            origin=next((answer for _, answer in self._answers if answer.step == first), None),
            answers=tuple(newest.values())[-6:],
            fresh=fresh,
        )


def _level(watcher: Watcher, count: int, *, factor: int) -> int:
    """Return the highest level whose count is reached, 0 where none is."""
    reached = ((Level.END, watcher.end), (Level.DENY, watcher.deny), (Level.NUDGE, watcher.nudge))
    return next((int(level) for level, at in reached if at is not None and count >= at * factor), 0)
