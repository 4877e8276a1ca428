"""Where an end-to-end test plays: a real repository, a state directory, the installed command and the stub agent."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest
from _pytest.mark import ParameterSet

RALPH = Path(sys.executable).parent / "ralph"
STUB = Path(__file__).with_name("stub.py")
PATIENCE_S = 60.0
QUICK = (
    "--set",
    "limits.grace=200ms",
    "--set",
    'limits.quick_failure_pauses=["10ms"]',
    "--set",
    'limits.backoff=["10ms"]',
)
"""Settings that keep a run short without touching what it decides."""

Table = dict[str, Any]
T = TypeVar("T")


def cases(table: Mapping[str, T], *, slow: Collection[str] = ()) -> list[ParameterSet]:
    """Return the rows of a table for `parametrize`, those named as slow left to the slow stage."""
    assert set(slow) <= set(table)
    return [pytest.param(row, id=name, marks=[pytest.mark.slow] * (name in slow)) for name, row in table.items()]


@dataclass(frozen=True, slots=True)
class Result:
    """How one command ended. launches: of the agent, over all runs of the site. records: of the newest run."""

    code: int
    out: str
    err: str
    summary: Table
    records: list[Table]
    launches: int

    @property
    def reason(self) -> str:
        return cast(str, self.summary.get("reason"))

    @property
    def outcomes(self) -> list[str]:
        return [i["outcome"] for i in self.summary["iterations"]]

    @property
    def findings(self) -> list[str]:
        return [f["kind"] for f in self.summary["findings"]]

    def of(self, kind: str) -> list[Table]:
        """Return the journal's records of one type."""
        return [record for record in self.records if record["type"] == kind]


@dataclass
class Live:
    """A run in progress."""

    site: Site
    process: subprocess.Popen[str]

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def end(self) -> Result:
        """Wait for the end and return how it came out; nothing may be left running."""
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return self.site.result(self.process.returncode, out, err)

    def finished(self) -> Result:
        """Wait for the exit alone: for runs whose streams the test reads itself."""
        self.process.wait(timeout=PATIENCE_S)
        return self.site.result(self.process.returncode, "", "")


@dataclass
class Site:
    """One test's ground. All processes started here carry the token in their environment."""

    root: Path
    environ: dict[str, str]
    repo: Path = field(init=False)
    state: Path = field(init=False)
    work: Path = field(init=False)
    token: str = field(default_factory=lambda: uuid.uuid4().hex)
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.repo, self.state, self.work = self.root / "repo", self.root / "state", self.root / "work"
        self.work.mkdir()
        self.environ["E2E_TOKEN"] = self.token

    # ── running ──────────────────────────────────────────────────────────────────────────────────────────────────

    def agent(self, *steps: str) -> tuple[str, ...]:
        """Return the stub as a command."""
        return (sys.executable, "-I", "-S", str(STUB), str(self.work), *steps)

    def argv(self, options: Sequence[str], steps: Sequence[str] | None) -> list[str]:
        command = [] if steps is None else ["--", *self.agent(*steps)]
        return [str(RALPH), "run", "--state-dir", str(self.state), *QUICK, *options, *command]

    def run(
        self,
        *options: str,
        agent: Sequence[str] | str | None = "say:hello",
        stdin: str | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        **popen: Any,
    ) -> Result:
        """Run ralph to its end. agent: steps of the stub, None: no COMMAND is typed."""
        return self.start(*options, agent=agent, env=env, cwd=cwd, stdin=stdin, **popen).end()

    def start(
        self,
        *options: str,
        agent: Sequence[str] | str | None = "say:hello",
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdin: str | None = None,
        **popen: Any,
    ) -> Live:
        """Start ralph; end it with `Live.end`."""
        steps = [agent] if isinstance(agent, str) else agent
        return Live(self, self.popen(self.argv(options, steps), env=env, cwd=cwd, stdin=stdin, **popen))

    def popen(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdin: str | None = None,
        **popen: Any,
    ) -> subprocess.Popen[str]:
        given = subprocess.DEVNULL
        if stdin is not None:
            path = self.work / "stdin"
            path.write_text(stdin, encoding="utf-8")
            given = os.open(path, os.O_RDONLY)
        options = {"stdin": given, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **popen}
        try:
            process: subprocess.Popen[str] = subprocess.Popen(
                argv,
                cwd=cwd or self.repo,
                env={**self.environ, **(env or {})},
                text=True,
                errors="replace",
                start_new_session=True,
                **options,
            )
            self.started.append(process)
            return process
        finally:
            if given >= 0:
                os.close(given)

    def command(self, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run another command of ralph on this site's runs."""
        argv = [str(RALPH), arguments[0], "--state-dir", str(self.state), *arguments[1:]]
        with self.popen(argv, cwd=cwd) as process:
            out, err = process.communicate(timeout=PATIENCE_S)
        return subprocess.CompletedProcess(argv, process.returncode, out, err)

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────

    def result(self, code: int, out: str, err: str) -> Result:
        left = self.left_running()
        assert left == [], f"left running: {left}\n{err}"
        assert "Traceback" not in err + out, err + out
        return Result(code, out, err, self.summary(), self.records(), self.launches)

    @property
    def launches(self) -> int:
        path = self.work / "launches"
        return len(path.read_text(encoding="ascii").splitlines()) if path.exists() else 0

    def runs(self) -> list[Path]:
        """Return the folders of runs, oldest first."""
        return sorted(self.state.glob("*/runs/*"), key=lambda p: p.stat().st_mtime_ns) if self.state.is_dir() else []

    def summary(self) -> Table:
        runs = [run for run in self.runs() if (run / "summary.json").exists()]
        return cast(Table, json.loads((runs[-1] / "summary.json").read_text(encoding="utf-8"))) if runs else {}

    def records(self) -> list[Table]:
        runs = [run for run in self.runs() if (run / "journal.jsonl").exists()]
        lines = (runs[-1] / "journal.jsonl").read_text(encoding="ascii").splitlines() if runs else []
        return [json.loads(line) for line in lines]

    def prompt(self, number: int) -> str:
        """Return what the n-th launch of the agent read."""
        return (self.work / f"prompt.{number}").read_text(encoding="utf-8")

    def left_running(self) -> list[str]:
        """Return the command lines of live processes of this site: by token, by folder, by the pids they wrote down."""
        born = (self.work / "born").read_text().split() if (self.work / "born").exists() else []
        found = []
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit() or int(folder.name) == os.getpid():
                continue
            try:
                line = (folder / "cmdline").read_bytes()
                zombie = (folder / "stat").read_text().rpartition(") ")[2][:1] == "Z"
                ours = self.token.encode() in (folder / "environ").read_bytes() or str(self.work).encode() in line
                ours = ours or str(self.repo) in str((folder / "cwd").readlink()) or folder.name in born
            except OSError:
                continue
            if ours and not zombie:
                found.append(f"{folder.name}: {line.replace(bytes(1), b' ').decode('utf-8', 'replace')}")
        return found

    def close(self) -> None:
        """End what a failed test left; killing ralph ends its whole tree."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.communicate()
                self.wait_until(lambda: self.left_running() == [], "all gone after a failed test")

    def wait_until(self, claim: Callable[[], object], what: str) -> None:
        """Look until the claim holds; fail naming it after the patience of a loaded machine."""
        until = time.monotonic() + PATIENCE_S
        while not claim():
            assert time.monotonic() < until, f"still not: {what}"
            time.sleep(0.01)

    def wait_for_launch(self, number: int = 1) -> None:
        """Wait until the n-th launch of the agent has read its prompt."""
        self.wait_until(lambda: (self.work / f"prompt.{number}").exists(), f"launch {number}")

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        """Run the user's git."""
        done = subprocess.run(["git", *arguments], cwd=cwd or self.repo, capture_output=True, text=True, check=True)
        return done.stdout

    def write(self, name: str, text: str) -> Path:
        path = self.repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def commit(self, message: str = "more") -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", message)
