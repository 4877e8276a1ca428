"""Plain lines for people on stderr and JSON lines for machines on stdout; losing either never hurts the run.

A sink: whatever is printed here is free of control bytes, of secrets and of commands to a CI job.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import datetime

from ralph.encode.redact import Redactor
from ralph.encode.terminal import clean
from ralph.encode.workflow import continued, harmless, harmless_json


class Lines:
    """Prints what it is told. quiet: nothing for people; as_json: events as JSON lines on stdout.

    redactor: knows the secrets of our environment. Each line begins with the local time, so that a morning's reader
    sees when things happened.
    """

    def __init__(self, *, quiet: bool = False, as_json: bool = False, redactor: Redactor | None = None) -> None:
        self._quiet = quiet
        self._as_json = as_json
        self.redactor = redactor or Redactor()

    def say(self, text: str) -> None:
        """Print one line about the run on stderr."""
        if not self._quiet:
            stamp = datetime.now().astimezone().strftime("%H:%M:%S")
            shown = continued(self.redactor.text(clean(text)))
            _write(2, f"{stamp} {shown}\n".encode("utf-8", "replace"))

    def event(self, kind: str, fields: Mapping[str, object]) -> None:
        """Print one event as a JSON line on stdout, where that was asked for."""
        if self._as_json:
            line = json.dumps(self.redactor.value({"type": kind, **fields}))
            _write(1, harmless_json(line).encode("ascii") + b"\n")

    def verdict(self, block: str) -> None:
        """Print the verdict block on stdout; with JSON the last event says it all."""
        if not self._as_json:
            _write(1, harmless(self.redactor.text(clean(block))).encode("utf-8", "replace") + b"\n")


def _write(descriptor: int, data: bytes) -> None:
    # A27: the reader may be gone (`ralph run | head`); the run goes on and the journal has everything.
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(descriptor, view) :]
    except OSError:
        return
