"""The one place that picks the platform; also the plain POSIX steps taken once at start."""

from __future__ import annotations

import os
import sys

if sys.platform == "darwin":
    from ralph.process.darwin import (
        adopt_orphans,
        children,
        cpu_s,
        harden,
        name,
        parent,
        started,
        unsupported,
        watch_pid,
    )
else:
    from ralph.process.linux import (
        adopt_orphans,
        children,
        cpu_s,
        harden,
        name,
        parent,
        started,
        unsupported,
        watch_pid,
    )

__all__ = [
    "adopt_orphans",
    "children",
    "cpu_s",
    "harden",
    "name",
    "parent",
    "reopen_standard",
    "started",
    "unsupported",
    "watch_pid",
]


def reopen_standard() -> None:
    """Open /dev/null in place of each of the descriptors 0-2 that is closed (A28).

    Otherwise the next file or socket opened would take that number, and what is printed would go into it.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)  # the lowest free number: this one
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            os.set_inheritable(number, True)
