"""`ralph run` with a real agent against the scripted model, and what both left behind."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tests.e2e.real_agents import OPTIONS, Place
from tests.scripted_model.server import scripted_model

RALPH = Path(sys.executable).parent / "ralph"
TESTS = "python3 -B -m unittest -v"
AGENTS = ("claude", "codex", "gemini", "opencode", "copilot", "qwen")
Scenario = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Ran:
    """One run. requests: whole bodies of what the model was asked, side requests left out."""

    code: int
    summary: dict[str, Any]
    printed: str
    requests: tuple[str, ...]

    @property
    def last(self) -> dict[str, Any]:
        """Return the last iteration."""
        found: dict[str, Any] = self.summary["iterations"][-1]
        return found


def argv(place: Place, agent: str, *options: str, command: tuple[str, ...] = ()) -> list[str]:
    """Return `ralph run` as a user types it. command: what stands behind `--`, in place of the agent it would find."""
    words = [str(RALPH), "run", "PROMPT.md", "--agent", agent, "--test", TESTS, "--summary", str(summary_of(place))]
    return [*words, "--set", "limits.grace=2s", *options, *(("--", *command) if command else OPTIONS.get(agent, ()))]


def summary_of(place: Place) -> Path:
    return place.work / "summary.json"


def ran(place: Place, agent: str, *options: str, scenario: Scenario, command: tuple[str, ...] = ()) -> Ran:
    """Run it to its end."""
    with scripted_model(scenario, repo=place.repo, work=place.work, bodies=True) as port:
        env, words = place.env(agent, port), argv(place, agent, *options, command=command)
        done = subprocess.run(words, cwd=place.repo, env=env, capture_output=True, text=True, timeout=240, check=False)
    printed = done.stdout + done.stderr
    assert summary_of(place).exists(), printed
    summary = json.loads(summary_of(place).read_text(encoding="utf-8"))
    return Ran(done.returncode, summary, printed, asked(place))


def asked(place: Place) -> tuple[str, ...]:
    """Return the bodies of the requests that a model answered from the script."""
    lines = (place.work / "requests.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(json.dumps(r.get("body")) for r in map(json.loads, lines) if r.get("role") == "main")


def standing_in(folder: Path) -> list[str]:
    """Return the processes that still work in a folder."""
    found = psutil.process_iter(["pid", "name", "cwd"])
    return [f"{p.info['pid']} {p.info['name']}" for p in found if str(folder) in (p.info["cwd"] or "")]


def until(holds: Callable[[], bool], *, within_s: float) -> None:
    """Wait for a thing to be there."""
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.05)
