"""The real clock: the one place that reads the system's time for decisions."""

from __future__ import annotations

import time
from datetime import UTC, datetime

_BOOT = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
# On macOS CLOCK_MONOTONIC goes on in sleep, so it is the boot-time clock there, and CLOCK_UPTIME_RAW the awake one.
_AWAKE = getattr(time, "CLOCK_UPTIME_RAW", time.CLOCK_MONOTONIC)


class SystemClock:
    """`ports.Clock` on the clocks of the kernel."""

    def real(self) -> float:
        """Return seconds since boot, suspension included."""
        return time.clock_gettime(_BOOT)

    def awake(self) -> float:
        """Return seconds since boot, suspension left out."""
        return time.clock_gettime(_AWAKE)

    def now(self) -> datetime:
        """Return aware UTC wall time."""
        return datetime.now(UTC)
