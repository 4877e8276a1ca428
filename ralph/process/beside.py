"""A program that runs beside the loop (`setup.command`: a database), under a guardian of its own."""

from __future__ import annotations

import time

from ralph.facts.ending import How, NotStarted
from ralph.facts.job import Job
from ralph.process.ears import Ears
from ralph.process.guarded import Started
from ralph.process.pipes import Outlet

_SWEEP_S = 5.0


class Beside:
    """One such program. how: how it ended, None while it runs."""

    def __init__(self, job: Job, started: Started | NotStarted) -> None:
        self._grace_s = job.time.grace_s
        self._started = None if isinstance(started, NotStarted) else started
        self._failure = started if isinstance(started, NotStarted) else None
        self._swept = False
        self._closed = False

    @property
    def how(self) -> How | None:
        """Return how the program ended, None while it runs."""
        return self._started.guarded.how if self._started is not None else self._failure

    @property
    def pid(self) -> int | None:
        """Return its guardian's pid, None if nothing was started."""
        return self._started.guarded.pid if self._started is not None else None

    def ended(self) -> bool:
        """Return whether the program is no longer there, as far as its guardian has said by now."""
        self._news()
        return self.how is not None

    def join(self, ears: Ears) -> None:
        """Have its pipes read and its end noticed while these ears listen."""
        if self._started is None:
            return
        for outlet in (self._started.out, self._started.err):
            if outlet.open:
                ears.add(outlet.fd, lambda outlet=outlet: _read(outlet))  # type: ignore[misc]  # default binds it
        guarded = self._started.guarded
        if not guarded.over:
            ears.add(guarded.status, lambda: self._news() and guarded.reporting)
            if guarded.pidfd is not None:
                ears.add(guarded.pidfd, self._news)

    def close(self) -> None:
        """End the program and its whole tree: TERM, its grace, KILL. Calling it again does nothing."""
        if self._started is None or self._closed:
            return
        self._closed = True
        guarded = self._started.guarded
        guarded.order("end", in_s=self._grace_s)
        ears = Ears()
        try:
            self.join(ears)
            until = time.monotonic() + self._grace_s + _SWEEP_S
            while not guarded.over and (left := until - time.monotonic()) > 0:
                ears.listen(left)
        finally:
            ears.close()
            if not guarded.over:
                guarded.abandon()
            self._started.close()
            guarded.release()

    def _news(self) -> bool:
        if self._started is None or self._started.guarded.over:
            return False
        guarded = self._started.guarded
        guarded.hear()
        if guarded.how is not None and not self._swept:
            self._swept = True
            guarded.order("sweep")
        return not guarded.over


def _read(outlet: Outlet) -> bool:
    outlet.read()
    return outlet.open
