"""Names for the model turns of an agent that names none itself."""

from __future__ import annotations


class Turns:
    """Counts model responses: one begins with the first words or call after tools have returned."""

    def __init__(self) -> None:
        self._number = 0
        self._running = 0
        self._fresh = True

    @property
    def count(self) -> int | None:
        """Return the turns so far, None before the first."""
        return self._number or None

    @property
    def name(self) -> str:
        """Return the name of the turn that is on."""
        return f"turn_{max(1, self._number)}"

    def said(self) -> str:
        """Note that the model spoke and return the turn it belongs to."""
        if self._fresh and not self._running:
            self._number += 1
            self._fresh = False
        return self.name

    def called(self) -> str:
        """Note that the model called a tool and return the turn it belongs to."""
        name = self.said()
        self._running += 1
        return name

    def returned(self) -> None:
        """Note that a tool returned."""
        self._running = max(0, self._running - 1)
        self._fresh = True

    def closed(self) -> None:
        """Note that the agent said that a response is over."""
        self._fresh = True
