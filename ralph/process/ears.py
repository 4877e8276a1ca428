"""A selector of callbacks: what every wait of this process goes through."""

from __future__ import annotations

import selectors
from collections.abc import Callable

READ = selectors.EVENT_READ
WRITE = selectors.EVENT_WRITE


class Ears:
    """Descriptors with what to call when they have news. A callback returns whether to go on listening."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()

    def add(self, fd: int, heard: Callable[[], bool], *, events: int = READ) -> None:
        """Listen to a descriptor until its callback says no; a descriptor already listened to stays as it is."""
        if fd not in self._selector.get_map():
            self._selector.register(fd, events, heard)

    def listen(self, timeout_s: float | None) -> None:
        """Wait for news at most so long (None: for ever) and call whoever has some."""
        for key, _ in self._selector.select(timeout_s):
            if not key.data():
                self._selector.unregister(key.fd)

    def close(self) -> None:
        """Give the selector's own descriptor back."""
        self._selector.close()
