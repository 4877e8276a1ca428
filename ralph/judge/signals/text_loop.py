"""D9, text loop: the end of a message says the same over and over, or whole messages come again without a tool call.

Only complete messages are judged: pieces of a stream invite alarms on lists, tables and generated data.
"""

from __future__ import annotations

import re

from ralph.judge.signals.streak import Streak

BLOCK_WORDS = 16
TIMES = 4
WORDS = 40
TAIL = 400
"""Words of the end of a message that are looked at."""
EQUAL = 3
EQUAL_WORDS = 5
"""A shorter message is no message: pieces of a stream repeat by chance."""
CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
LISTED = re.compile(r"^\s*(?:[-*+|>#]|\d+[.)]).*$", re.MULTILINE)


def repeated_tail(text: str) -> int:
    """Return how often the block of words at the end is said in a row; 0 where that is no loop."""
    prose = LISTED.sub("", CODE.sub("", text[-16_384:]))
    words = prose.split()[-TAIL:]
    for size in range(1, BLOCK_WORDS + 1):
        block, times = words[-size:], 1
        while len(block) == size and words[-(times + 1) * size : -times * size] == block:
            times += 1
        if times >= TIMES and times * size >= WORDS:
            return times
    return 0


class TextLoop:
    """Folds the complete messages of one stream: counts messages in a row that loop."""

    def __init__(self) -> None:
        self._loops = 0
        self._last = ""
        self._equal = 0
        self._said = 0

    def message(self, text: str) -> Streak | None:
        """Take a complete message. The number of a step is here the number of a message."""
        self._said += 1
        times = repeated_tail(text)
        self._loops = self._loops + 1 if times else 0
        words = text.split()
        whole = " ".join(words)[:4096] if len(words) >= EQUAL_WORDS else ""
        self._equal = self._equal + 1 if whole and whole == self._last else 1
        self._last = whole
        if times:
            return Streak("tail", self._loops, (), f"the end of a message says the same {times} times")
        if self._equal >= EQUAL:
            return Streak("equal", self._equal - EQUAL + 1, (), f"the same message {self._equal} times in a row")
        return None

    def called(self) -> None:
        """A tool was called: equal words around work are no monologue."""
        self._equal, self._last = 0, ""

    def restart(self) -> None:
        """Forget everything."""
        self._loops = 0
        self.called()
