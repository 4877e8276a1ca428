"""What the tests of this room share: a watcher that notes everything, and eyes for processes that should be gone."""

from __future__ import annotations

import os
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ralph.facts.ending import Cut, Ended
from ralph.facts.job import Job, Logs, StdinBytes, StdinPipe, TimeRules
from ralph.ports import Side, Stream
from ralph.process.launch import Launcher

STUB = Path(__file__).with_name("stub.py")
ENV = {"PATH": os.environ.get("PATH", os.defpath)}
QUICK = TimeRules(total_s=30.0, grace_s=0.2)
PATIENCE_S = 20.0


@dataclass
class Watch:
    """A watcher. on_line: asked for each line; last: a line that begins with it is the terminal event."""

    on_line: Callable[[bytes], Cut | None] = lambda _: None
    last: bytes | None = None
    quiet_for_a_reason: bool = False
    to_say: bytes = b""
    says_no_more: bool = True
    lines: list[tuple[Stream, bytes]] = field(default_factory=list)

    def line(self, stream: Stream, line: bytes) -> Cut | None:
        self.lines.append((stream, line))
        return self.on_line(line)

    def finished(self) -> bool:
        return self.last is not None and any(line.startswith(self.last) for _, line in self.lines)

    def excused(self) -> bool:
        return self.quiet_for_a_reason

    def replies(self) -> bytes:
        said, self.to_say = self.to_say, b""
        return said

    def closes_stdin(self) -> bool:
        return self.says_no_more

    @property
    def out(self) -> list[bytes]:
        return [line for stream, line in self.lines if stream == "out"]

    @property
    def err(self) -> list[bytes]:
        return [line for stream, line in self.lines if stream == "err"]


def when(line: bytes, act: Callable[[], Cut | None]) -> Callable[[bytes], Cut | None]:
    """Return an `on_line` that acts at exactly this line."""
    return lambda seen: act() if seen == line else None


@dataclass
class Stage:
    """A launcher, a directory, and a token that every stub process carries."""

    launcher: Launcher
    folder: Path
    token: str = field(default_factory=lambda: uuid.uuid4().hex)

    def run(
        self,
        *argv: str,
        watch: Watch | None = None,
        rules: TimeRules = QUICK,
        stdin: StdinBytes | StdinPipe = StdinBytes(),  # noqa: B008 - a frozen record
        logs: Logs | None = None,
        keep: tuple[str, ...] = (),
        env: Mapping[str, str] = ENV,
        line_cap: int = 16 << 20,
        sides: tuple[Side, ...] = (),
    ) -> Ended:
        job = Job(argv, self.folder, env, stdin=stdin, time=rules, logs=logs, keep=keep, line_cap=line_cap)
        return self.launcher.run(job, watch or Watch(), sides=sides)

    def stub(self, *steps: str) -> tuple[str, ...]:
        """Return the command line of a scripted child."""
        return (sys.executable, "-I", "-S", str(STUB), self.token, *steps)

    def alive(self) -> list[int]:
        """Return the pids of all processes that carry the token, zombies left out."""
        return alive(self.token)

    def born(self) -> list[int]:
        """Return the pids that escaping processes wrote down."""
        return [int(line) for line in Path(self.folder, "born").read_text().split()]


def alive(token: str) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and token.encode() in Path(folder, "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return [pid for pid in found if pid != os.getpid()]


def descriptors() -> int:
    """Return how many descriptors this process holds."""
    return len(list(Path("/proc/self/fd").iterdir()))


def state(pid: int) -> str:
    """Return the state letter of a process, "" if it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1]
    except OSError:
        return ""


def wait_until(claim: Callable[[], bool], *, what: str) -> None:
    """Look until the claim holds; fail naming it after the patience of a loaded machine."""
    until = time.monotonic() + PATIENCE_S
    while not claim():
        assert time.monotonic() < until, f"still not: {what}"
        time.sleep(0.005)
