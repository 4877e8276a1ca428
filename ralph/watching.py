"""Waits until files below some folders change: a hint to look again, never the truth (events get lost in silence).

The kernel's watches can be used up by other programs (C25): then the folders are polled instead, which is said once.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

STEP_S = 1.0
"""Changes are gathered for so long: a smaller step wakes us for every line an agent prints."""

Changes = Callable[[tuple[Path, ...], float], Iterator[bool]]
"""(folders, patience in seconds) -> an endless iterator that gives True for a change and False when patience ended."""


def notified(folders: tuple[Path, ...], patience_s: float) -> Iterator[bool]:
    """Yield what the kernel tells of these folders, not of those inside them.

    Raises: OSError, RuntimeError where it has no watches left or a folder is gone.
    """
    from watchfiles import watch

    step_ms = int(STEP_S * 1000)
    for changes in watch(
        *folders,
        watch_filter=None,
        step=step_ms,
        debounce=step_ms,
        rust_timeout=max(step_ms, int(patience_s * 1000)),
        yield_on_timeout=True,
        recursive=False,
    ):
        yield bool(changes)


def polled(folders: tuple[Path, ...], patience_s: float) -> Iterator[bool]:
    """Yield what a look at the sizes and times of the files, once a step, tells. A missing folder is an empty one."""
    before = _seen(folders)
    while True:
        until = time.monotonic() + patience_s
        now = before
        while now == before and (left := until - time.monotonic()) > 0:
            select.select([], [], [], min(STEP_S, left))
            now = _seen(folders)
        yield now != before
        before = now


class Watching:
    """Waits for changes; one object a follower, so that the warning is said once.

    tell: takes the warning. by: how to learn of changes, as long as it works.
    """

    def __init__(self, *, tell: Callable[[str], None], by: Changes = notified) -> None:
        self._tell = tell
        self._by = by
        self._folders: tuple[Path, ...] = ()
        self._changes: Iterator[bool] = iter(())

    def wait(self, *folders: Path, patience_s: float) -> bool:
        """Wait until a file right in one of these folders changed, or for so long; return whether one did.

        A change before the first call with these folders may be missed: look, then wait, then look again.
        """
        if folders != self._folders:
            self._folders, self._changes = folders, self._by(folders, patience_s)
        try:
            return next(self._changes)
        except (OSError, RuntimeError) as error:
            if self._by is not polled:
                self._tell(f"cannot watch for changes ({error}); looking every {STEP_S:g} s instead")
            self._by, self._changes = polled, polled(folders, patience_s)
            return next(self._changes)


def _seen(folders: tuple[Path, ...]) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for folder in folders:
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    found[entry.path] = (status.st_size, status.st_mtime_ns)
    return found
