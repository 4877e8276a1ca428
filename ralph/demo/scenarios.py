"""One scenario for each way a run can end: its options, its exit code, and the throw-away repository it runs in."""

from __future__ import annotations

import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from ralph.facts.reason import Reason

CALC = '''"""A small module with three mistakes in it."""


def add(a, b):
    return a - b  # add


def subtract(a, b):
    return a + b  # subtract


def multiply(a, b):
    return a * a  # multiply
'''

CALC_TESTS = """import unittest

import calc


class CalcTest(unittest.TestCase):
    def test_add(self):
        self.assertEqual(calc.add(2, 3), 5)

    def test_subtract(self):
        self.assertEqual(calc.subtract(5, 3), 2)

    def test_multiply(self):
        self.assertEqual(calc.multiply(2, 3), 6)
"""

PROMPT = "Make the tests of calc.py pass, one function in each session. Do not change the tests.\n"


@dataclass(frozen=True, slots=True)
class Scenario:
    """What the scripted agent does, how the run must end, and the options that make it end soon."""

    name: str
    about: str
    reason: Reason
    options: tuple[str, ...] = ()


SCENARIOS = (
    Scenario("done", "tests go from red to green, one function at a time", Reason.DONE),
    Scenario("stuck", "the agent talks and changes nothing", Reason.NO_PROGRESS),
    Scenario("oscillate", "the agent goes to and fro between two states", Reason.OSCILLATION),
    Scenario("tests", "files change, the failing tests stay", Reason.TESTS_STUCK),
    Scenario("blocked", "the agent gives up honestly", Reason.BLOCKED),
    Scenario(
        "time",
        "the agent works past the run's time",
        Reason.TIME_LIMIT,
        ("--max-time", "2s", "--set", "limits.grace=500ms"),
    ),
    Scenario(
        "cost",
        "the agent spends more than it may",
        Reason.COST_LIMIT,
        ("--max-cost", "1.00", "--tests-stuck-after", "off"),
    ),
    Scenario("auth", "the agent is not logged in", Reason.AGENT_AUTH),
    Scenario("quota", "the agent's usage limit lifts after the deadline", Reason.AGENT_QUOTA),
    Scenario(
        "crash",
        "the agent dies at every start",
        Reason.AGENT_FAILING,
        ("--set", 'limits.quick_failure_pauses=["100ms","200ms","300ms"]'),
    ),
    Scenario(
        "hang",
        "the agent never ends by itself",
        Reason.AGENT_HANG,
        ("--iteration-timeout", "700ms", "--set", "limits.grace=200ms"),
    ),
    Scenario("leak", "the agent leaves processes behind; all are swept", Reason.DONE),
)
BY_NAME = {s.name: s for s in SCENARIOS}


def throw_away_repository(folder: Path) -> Path:
    """Make the small git repository that a scenario plays in, and return its top."""
    top = folder / "calc"
    top.mkdir()
    for name, text in (("calc.py", CALC), ("test_calc.py", CALC_TESTS), ("PROMPT.md", PROMPT)):
        (top / name).write_text(text, encoding="utf-8")
    identity = ["-c", "user.name=ralph demo", "-c", "user.email=demo@example.invalid"]
    plain = ["-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false", "-c", "init.templateDir="]
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "calc, with three mistakes"]):
        subprocess.run(["git", *identity, *plain, *words], cwd=top, check=True, capture_output=True)
    return top


def run_arguments(scenario: Scenario, top: Path, state: Path, *, ralph: str) -> list[str]:
    """Return the arguments of `ralph run` that play this scenario in the repository `top`."""
    tests = shlex.join([sys.executable, "-B", "-m", "unittest", "-v"])
    agent = [sys.executable, "-I", "-S", str(Path(__file__).with_name("agent.py")), scenario.name, str(state), ralph]
    where = ["PROMPT.md", "-C", str(top), "--state-dir", str(state / "state")]
    return [*where, "--test", tests, "-a", "claude", *scenario.options, "--", *agent]
