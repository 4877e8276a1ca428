"""A supervising process for tests that end, stop or starve it: `python supervise.py RESULT TOKEN RULES STEP...`.

RULES: "total_s,grace_s". Runs one stub with its lines passed on to stdout, and writes the repr of the ending to RESULT.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from ralph.facts.ending import Cut
from ralph.facts.job import Job, TimeRules
from ralph.ports import Stream
from ralph.process.clock import SystemClock
from ralph.process.launch import Launcher
from ralph.process.signals import Signals
from ralph.process.system import reopen_standard
from tests.process.watch import ENV, STUB, Watch


class Passing(Watch):
    """Passes lines on, whether or not anybody reads them."""

    def line(self, stream: Stream, line: bytes) -> Cut | None:
        with suppress(OSError):
            os.write(1, line + b"\n")
        return super().line(stream, line)


def main(result: str, token: str, rules: str, *steps: str) -> None:
    reopen_standard()
    total_s, grace_s = map(float, rules.split(","))
    job = Job(
        (sys.executable, "-I", "-S", str(STUB), token, *steps),
        Path.cwd(),
        {**ENV, "RALPH_RUN": token},
        time=TimeRules(total_s=total_s, grace_s=grace_s),
    )
    note = Path(result)
    with (
        Signals(lambda number: note.write_text(f"last words {number}")) as signals,
        Launcher(SystemClock(), signals) as launcher,
    ):
        ended = launcher.run(job, Passing())
        note.write_text(f"{ended.how} {ended.cut} {launcher.interruption()}")


if __name__ == "__main__":
    main(*sys.argv[1:])
