"""Real agents in a loop: ralph speaks to them while they work, and the model's next request has what it said.

One run an agent, looked at from several sides: it repeats itself, leaves a process behind, mends the file, and is done.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.real_agents import BASE_PATH, FIXED, Place, broken_project, older_claude, programs
from tests.e2e.real_runs import AGENTS, Ran, Scenario, ran, standing_in

pytestmark = pytest.mark.real

ADVICE = "You have made the same call with the same result 3 times"
LOOKS = "cat calc.py; echo looked"
LEAVES = "(setsid nohup sleep 3600 >/dev/null 2>&1 &) ; echo left"
MENDS = f"printf '{FIXED}' > calc.py; echo mended".replace("\n", "\\n")
REPEATS: Scenario = {
    "replies": [
        {"do": "bash", "command": LOOKS, "times": 4},
        {"do": "bash", "command": LEAVES},
        {"do": "bash", "command": MENDS},
        {"text": "Fixed."},
    ],
    "after": {"text": "Nothing left to do."},
}
STUCK: Scenario = {"replies": [{"do": "bash", "command": LOOKS, "times": 40}], "after": {"text": "I give up."}}
CLEANS_UP = ("codex", "qwen")
"""Agents that may have ended what their tools left before they are gone."""
SETTINGS_FILES = {
    "claude": ".claude/settings.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "opencode": ".config/opencode/opencode.json",
    "copilot": ".copilot/settings.json",
    "qwen": ".qwen/settings.json",
}


@dataclass(frozen=True, slots=True)
class Worked:
    """An agent's run. settings: the user's own settings file of this agent, before and after."""

    agent: str
    place: Place
    ran: Ran
    settings: tuple[bytes, bytes]


DONE: dict[str, Worked] = {}
"""One run an agent, whatever the order of the tests."""


@pytest.fixture(params=[*AGENTS, "older claude"])
def worked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Worked:
    name = str(request.param)
    if name not in DONE:
        DONE[name] = worked_by(name, tmp_path_factory)
    return DONE[name]


def worked_by(name: str, tmp_path_factory: pytest.TempPathFactory) -> Worked:
    older = name == "older claude"
    agent = "claude" if older else name
    place = broken_project(tmp_path_factory.mktemp(agent), older_claude() if older else programs())
    place.env(agent, 1)
    file = place.home / SETTINGS_FILES[agent]
    before = unported(file)
    done = ran(place, agent, "-n", "2", scenario=REPEATS)
    return Worked(agent, place, done, (before, unported(file)))


def unported(file: Path) -> bytes:
    """Return settings without the model's port, which differs from run to run."""
    return re.sub(rb"127\.0\.0\.1:\d+", b"127.0.0.1:PORT", file.read_bytes())


def test_it_mends_the_file_and_ralph_s_own_tests_say_so(worked: Worked) -> None:
    assert (worked.ran.code, worked.ran.summary["reason"], worked.ran.summary["verified"]) == (0, "done", True)
    assert (worked.place.repo / "calc.py").read_text(encoding="utf-8") == FIXED
    assert worked.ran.last["outcome"] == "completed", worked.ran.printed


def test_advice_on_a_repeated_call_is_in_the_model_s_next_request(worked: Worked) -> None:
    """Noticed with the third result: behind that one, or behind the fourth, which the model had asked for by then."""
    told = [ADVICE in body for body in worked.ran.requests]
    assert told.index(True) in (3, 4), worked.ran.printed
    assert [s["level"] for s in worked.ran.last["signals"] if s["detector"] == "identical"] == ["nudge", "deny"]


def test_what_it_left_running_is_swept(worked: Worked) -> None:
    assert "sleep" in worked.ran.last["swept"] or worked.agent in CLEANS_UP
    assert standing_in(worked.place.root) == []


def test_nothing_is_written_into_the_repository_or_the_user_s_settings(worked: Worked) -> None:
    argv = ["git", "status", "--porcelain", "--ignored"]
    env = {"PATH": BASE_PATH, "HOME": str(worked.place.home)}
    done = subprocess.run(argv, cwd=worked.place.repo, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["M", "calc.py"]
    before, after = worked.settings
    assert after == before


def test_hooks_are_gone_with_the_run(worked: Worked) -> None:
    assert [p.name for p in worked.place.work.iterdir() if p.name.startswith("ralph-")] == []
    states = {p for state in worked.place.states() for p in state.rglob("*") if p.is_file()}
    for path in worked.place.home.rglob("*"):
        ours = path in states or path.is_symlink() or not path.is_file() or path.stat().st_size > 1 << 20
        if not ours and path.suffix in (".json", ".toml", ".js", ".yaml"):
            assert b"hook.py" not in path.read_bytes(), path


def test_what_cannot_be_told_in_the_turn_is_on_top_of_the_next_prompt(tmp_path: Path) -> None:
    """A COMMAND as it was typed has no lane: its turn is ended, and the next prompt says why."""
    place = broken_project(tmp_path, programs())
    plain = ("claude", "-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions")
    command = ("env", "IS_SANDBOX=1", *plain)
    done = ran(place, "claude", "-n", "2", scenario=STUCK, command=command)
    assert [i["outcome"] for i in done.summary["iterations"]] == ["looping", "looping"], done.printed
    told = [ADVICE.partition(" 3 ")[0] in body for body in done.requests]
    first = told.index(True)
    assert told == [False] * first + [True] * (len(told) - first)
    assert 5 <= first <= 8, "the turn was ended with its fifth repeat"


@pytest.mark.parametrize("agent", ["claude", "codex", "copilot"])
def test_an_agent_that_does_not_listen_is_refused_and_then_ended(tmp_path: Path, agent: str) -> None:
    place = broken_project(tmp_path, programs())
    done = ran(place, agent, "-n", "1", scenario=STUCK)
    assert done.last["outcome"] == "looping", done.printed
    assert len(done.requests) <= 16
    assert "stop: write what you have" in done.requests[-1]
    assert standing_in(place.root) == []
