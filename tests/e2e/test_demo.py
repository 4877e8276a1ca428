"""R053: every documented ending is reached end to end through the installed command, with the bundled agent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from ralph.demo.scenarios import SCENARIOS, Scenario

RALPH = Path(sys.executable).parent / "ralph"


def play(name: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    return subprocess.run([str(RALPH), "demo", name], capture_output=True, text=True, env=env, timeout=60, check=False)


def summary_of(tmp_path: Path) -> dict[str, object]:
    found = list(tmp_path.glob("ralph-demo-*/agent/state/**/summary.json"))
    assert len(found) == 1
    data = json.loads(found[0].read_text(encoding="utf-8"))
    assert isinstance(data, dict)
    return data


def left_over(tmp_path: Path) -> list[str]:
    """Return the command lines of processes that still stand in the scenario's folders."""
    alive = []
    for process in psutil.process_iter(["cmdline", "cwd"]):
        words = " ".join(process.info["cmdline"] or [])
        if str(tmp_path) in words or str(tmp_path) in (process.info["cwd"] or ""):
            alive.append(words)
    return alive


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
def test_each_scenario_ends_as_it_says_and_leaves_nothing_running(scenario: Scenario, tmp_path: Path) -> None:
    done = play(scenario.name, tmp_path)
    assert done.returncode == scenario.reason.exit_code, done.stderr + done.stdout
    assert done.stdout.startswith(f"{scenario.reason.value}: "), done.stdout
    summary = summary_of(tmp_path)
    assert (summary["reason"], summary["exit_code"]) == (scenario.reason.value, scenario.reason.exit_code)
    assert left_over(tmp_path) == []


def test_the_list_names_every_scenario(tmp_path: Path) -> None:
    done = subprocess.run([str(RALPH), "demo", "--list"], capture_output=True, text=True, check=True)
    assert [line.split()[0] for line in done.stdout.splitlines()] == [s.name for s in SCENARIOS]


def test_an_unknown_scenario_names_the_known_ones(tmp_path: Path) -> None:
    done = play("nonsense", tmp_path)
    assert done.returncode == 2
    assert "oscillate" in done.stderr
