"""Real agents that speak the Agent Client Protocol: `ralph run -a acp -- COMMAND` against a scripted model."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.real_agents import FIXED, Place, broken_project, programs
from tests.e2e.real_runs import Ran, Scenario, argv, asked, standing_in, summary_of, until
from tests.scripted_model.server import scripted_model

pytestmark = pytest.mark.real

COMMANDS = {
    "gemini": ("gemini", "--acp"),
    "opencode": ("opencode", "acp"),
    "copilot": ("copilot", "--acp", "--disable-builtin-mcps"),
    "qwen": ("qwen", "--acp", "--auth-type", "openai"),
}
MODELS = {"gemini": ("-m", "gemini-2.5-pro"), "opencode": ("-m", "scripted/scripted-model")}
ADVICE = "Two ways out:"
LOOKS = "cat calc.py; echo looked"
MENDS = f"printf '{FIXED}' > calc.py; echo mended".replace("\n", "\\n")
REPEATS: Scenario = {
    "replies": [{"text": "Looking.", "do": "bash", "command": LOOKS, "times": 12}],
    "after": {"text": "I give up."},
}
TURNS: Scenario = {
    "replies": [{"do": "bash", "command": LOOKS}, {"do": "bash", "command": "cat test_calc.py"}] * 10,
    "after": {"text": "I give up."},
}
"""For Gemini, which ends a turn by itself at the fifth same call in a row, and tells no result of a command."""
MENDS_IT: Scenario = {
    "replies": [
        {"text": "I will fix it.", "do": "bash", "command": MENDS},
        {"do": "write", "path": "new.txt", "content": "hello\n"},
        {"text": "Fixed."},
    ],
    "after": {"text": "Nothing left to do."},
}
SLEEPS: Scenario = {"replies": [{"do": "bash", "command": "touch ../work/slept; sleep 600"}], "after": {"text": "Up."}}


def words(place: Place, agent: str, *options: str) -> list[str]:
    program, *rest = COMMANDS[agent]
    return argv(place, "acp", *options, *MODELS.get(agent, ()), command=(str(place.bin / program), *rest))


@dataclass(frozen=True, slots=True)
class Site:
    """One agent with its place."""

    agent: str
    place: Place

    def ran(self, *options: str, scenario: Scenario) -> Ran:
        place = self.place
        with scripted_model(scenario, repo=place.repo, work=place.work, bodies=True) as port:
            env, line = place.env(self.agent, port), words(place, self.agent, *options)
            done = subprocess.run(
                line, cwd=place.repo, env=env, capture_output=True, text=True, timeout=240, check=False
            )
        printed = done.stdout + done.stderr
        assert summary_of(place).exists(), printed
        summary = json.loads(summary_of(place).read_text(encoding="utf-8"))
        return Ran(done.returncode, summary, printed, asked(place))


@pytest.fixture(params=COMMANDS)
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Site:
    return Site(request.param, broken_project(tmp_path, programs()))


def test_it_mends_the_file_and_ralph_s_own_tests_say_so(site: Site) -> None:
    run = site.ran("-n", "2", scenario=MENDS_IT)
    assert (run.code, run.summary["reason"], run.summary["verified"]) == (0, "done", True), run.printed
    assert (site.place.repo / "calc.py").read_text(encoding="utf-8") == FIXED
    assert (site.place.repo / "new.txt").read_text(encoding="utf-8") == "hello\n"
    assert run.last["outcome"] == "completed", run.printed
    assert run.last["answer"] == "Fixed."
    assert run.last["tokens"] >= 1020
    assert standing_in(site.place.root) == []


def test_advice_about_a_repeated_call_is_a_new_prompt_that_the_model_reads(site: Site) -> None:
    run = site.ran("-n", "1", scenario=TURNS if site.agent == "gemini" else REPEATS)
    told = [n for n, body in enumerate(run.requests) if ADVICE in body]
    assert told, run.printed
    # The history is kept: the request with the advice has the prompt and the repeated call before it.
    first = run.requests[told[0]]
    assert first.index("Make the tests pass.") < first.index("echo looked") < first.index(ADVICE), site.agent
    assert run.last["signals"], run.printed
    assert standing_in(site.place.root) == []


def test_a_signal_in_the_middle_of_a_tool_leaves_nothing(site: Site) -> None:
    place = site.place
    with scripted_model(SLEEPS, repo=place.repo, work=place.work) as port:
        env, line = place.env(site.agent, port), words(place, site.agent, "-n", "1")
        live = subprocess.Popen(line, cwd=place.repo, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        until(lambda: (place.work / "slept").exists() or live.poll() is not None, within_s=60)
        live.terminate()
        printed, _ = live.communicate(timeout=30)
    assert live.returncode == 143, printed.decode()
    assert standing_in(place.root) == []
