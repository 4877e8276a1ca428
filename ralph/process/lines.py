"""Cut a byte stream into lines, in linear time and bounded memory whatever its shape."""

from __future__ import annotations


class Lines:
    """The splitter of one stream. cap: longest line handed on, in bytes; longer ones are counted and skipped."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._pending: list[bytes] = []
        self._size = 0
        self._skipping = False
        self.skipped = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that this chunk completes, without their newlines.

        An unfinished line is kept as the chunks it came in and joined once: appending to one buffer is quadratic.
        """
        head, *rest = chunk.split(b"\n")
        self._hold(head)
        if not rest:
            return []
        lines = [] if self._skipping else [b"".join(self._pending)]
        self._forget()
        *whole, tail = rest
        if len(chunk) > self._cap:
            fit = [line for line in whole if len(line) <= self._cap]
            self.skipped += len(whole) - len(fit)
            whole = fit
        self._hold(tail)
        return lines + whole

    def rest(self) -> list[bytes]:
        """Return the last line if the stream ended without a newline, [] otherwise."""
        last = b"".join(self._pending)
        self._forget()
        return [last] if last else []

    def _hold(self, part: bytes) -> None:
        if self._skipping or not part:
            return
        self._size += len(part)
        if self._size > self._cap:
            self.skipped += 1
            self._skipping = True
            self._pending.clear()
        else:
            self._pending.append(part)

    def _forget(self) -> None:
        self._pending.clear()
        self._size = 0
        self._skipping = False
