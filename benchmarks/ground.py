"""What measured runs stand on: a small repository, an instant agent, an environment of their own, and ralph's argv."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

RALPH = (sys.executable, "-P", "-c", "from ralph.start import main; main()")
"""The `ralph` command of the tree that is measured, started without an installed script."""
FILES = 166
AGENT = """#!/bin/sh
cat >/dev/null
echo "edit $$" >>"{edited}"
echo "Implemented one more step; work remains."
"""
GIT = ("git", "-c", "user.name=bench", "-c", "user.email=bench@example.invalid", "-c", "gc.auto=0")


@dataclass(frozen=True, slots=True)
class Ground:
    """A repository `top` of 166 files with a PROMPT.md, an agent program beside it, a home and a state directory."""

    scratch: Path
    top: Path
    agent: Path

    @property
    def env(self) -> dict[str, str]:
        """Return an environment in which nothing of the user's counts."""
        home = {"HOME": str(self.scratch / "home"), "XDG_STATE_HOME": str(self.scratch / "state")}
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        return {**kept, **home, "GIT_CONFIG_NOSYSTEM": "1"}

    def run(self, *options: str, agent: tuple[str, ...] = ()) -> list[str]:
        """Return the argv of a `ralph run` that no rule of progress ends."""
        free = ("--no-progress-after", "off", "--oscillation-after", "off", "--tests-stuck-after", "off")
        return [*RALPH, "run", "-q", *free, *options, "--", *(agent or (str(self.agent),))]

    def journals(self) -> list[Path]:
        """Return the journals of the runs so far, oldest first."""
        return sorted((self.scratch / "state").glob("ralph/*/runs/*/journal.jsonl"), key=lambda p: p.stat().st_ctime_ns)


def lay_out(scratch: Path, *, files: int = FILES, agent: str = AGENT) -> Ground:
    """Make the repository, committed, and the agent that appends a line to one file in it."""
    top = scratch / "repo"
    (scratch / "home").mkdir(parents=True)
    for n in range(files):
        folder = top / f"m{n % 25:02d}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"f{n:04d}.py").write_text("".join(f"value_{k} = {n * k}\n" for k in range(60)), encoding="ascii")
    (top / "PROMPT.md").write_text("Do the next step.\n", encoding="ascii")
    program = scratch / "agent"
    program.write_text(agent.format(edited=top / "m00" / "f0000.py"), encoding="utf-8")
    program.chmod(0o755)
    ground = Ground(scratch, top, program)
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "base")):
        subprocess.run([*GIT, *words], cwd=top, env=ground.env, check=True, stdout=subprocess.DEVNULL)
    return ground
