"""Own the signals of this process while a run lasts: handlers note, the selector hears, old handlers come back."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from types import FrameType, TracebackType

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LAST = 3
"""The third signal leaves at once: whoever sends it has waited for two."""


class Signals:
    """Context manager that owns INT, TERM, HUP and TSTP in the main thread.

    A signal that was ignored when we came (nohup, a job without job control) stays ignored. The owned ones are
    unblocked and SIGCHLD is reset, since both are inherited and would make a child's end invisible (A28).
    last_words: called with the number of the third signal before the process leaves with 128 + number; whatever it
    raises is dropped, as there is nobody left to tell.
    then_deaf: once one of the three came, they are ignored from the end on: the process is about to leave with its own
    code, and an impatient second Ctrl-C in the last milliseconds must not change it.
    """

    def __init__(self, last_words: Callable[[int], object] | None = None, *, then_deaf: bool = False) -> None:
        self._last_words = last_words
        self._then_deaf = then_deaf
        self._received: list[int] = []
        self._stop_wanted = False
        self._old: dict[int, object] = {}
        self._old_mask: set[int] = set()
        self._old_wakeup = -1
        self._ear = self._mouth = -1

    def __enter__(self) -> Signals:
        self._ear, self._mouth = os.pipe()
        os.set_blocking(self._ear, False)
        os.set_blocking(self._mouth, False)
        self._old_wakeup = signal.set_wakeup_fd(self._mouth, warn_on_full_buffer=False)
        for number in _ENDING:
            self._take(number, self._note)
        self._take(signal.SIGTSTP, self._note_stop)
        self._old[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._old_mask = set(signal.pthread_sigmask(signal.SIG_UNBLOCK, {*_ENDING, signal.SIGTSTP, signal.SIGCHLD}))
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._old_mask)
        for number, handler in self._old.items():
            # None: set by C code that Python cannot name, so it cannot be put back either
            deaf = self._then_deaf and self._received and number in _ENDING
            back = signal.SIG_IGN if deaf else handler or signal.SIG_DFL
            signal.signal(number, back)  # type: ignore[arg-type]  # as signal() gave it
        self._old.clear()
        signal.set_wakeup_fd(self._old_wakeup)
        os.close(self._ear)
        os.close(self._mouth)

    @property
    def received(self) -> tuple[int, ...]:
        """Return the numbers of all INT, TERM and HUP so far, in order."""
        return tuple(self._received)

    def fileno(self) -> int:
        """Return the descriptor that turns readable on every signal."""
        return self._ear

    def take(self) -> bool:
        """Empty the wake-up pipe; return whether a stop (Ctrl-Z) was asked since the last call."""
        try:
            while os.read(self._ear, 512):
                pass
        except BlockingIOError:
            pass
        wanted, self._stop_wanted = self._stop_wanted, False
        return wanted

    def _take(self, number: int, handler: Callable[[int, FrameType | None], None]) -> None:
        if signal.getsignal(number) is not signal.SIG_IGN:
            self._old[number] = signal.signal(number, handler)

    def _note(self, number: int, _: FrameType | None) -> None:
        self._received.append(number)
        if len(self._received) >= _LAST:
            try:
                if self._last_words is not None:
                    self._last_words(number)
            finally:
                os._exit(128 + number)

    def _note_stop(self, *_: object) -> None:
        self._stop_wanted = True
