"""The real Claude Code and Codex, driven end to end against a scripted model: no key, no network, no stand-in.

First each adapter alone with its program, then `ralph run` as a user types it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import pytest

from ralph.agents import adapter
from ralph.agents.adapter import Ask, Permissions
from ralph.facts.event import Event, Finish, Finished, Scope, Started, ToolCalled, ToolReturned, Troubled, UsageSeen
from tests.e2e.real_agents import FIXED, Place, broken_project, programs
from tests.scripted_model.server import scripted_model

pytestmark = [pytest.mark.real, pytest.mark.parametrize("agent", ["claude", "codex"])]

RALPH = Path(sys.executable).parent / "ralph"
TESTS = "python3 -B -m unittest -v"
HOURS_3 = 3 * 3600

Scenario = Mapping[str, object]
WORKS: Scenario = {
    "replies": [
        {"text": "I will fix it.", "do": "bash", "command": f"printf '{FIXED}' > calc.py".replace("\n", "\\n")},
        {"text": "Fixed."},
    ],
    "after": {"text": "Nothing left to do."},
}
WRITES: Scenario = {"replies": [{"do": "write", "path": "new.txt", "content": "hello\n"}, {"text": "Written."}]}
IDLES: Scenario = {"replies": [{"text": "Everything looks fine to me."}], "after": "last"}


def used_up(agent: str, reset: int) -> Scenario:
    """Return a model whose plan is used up until `reset` (epoch seconds), in the words of the agent's provider."""
    prefix = "anthropic-ratelimit-unified"
    headers = {f"{prefix}-status": "rejected", f"{prefix}-reset": str(reset)}
    headers |= {f"{prefix}-representative-claim": "five_hour", f"{prefix}-5h-status": "rejected"}
    headers |= {f"{prefix}-5h-reset": str(reset), f"{prefix}-5h-utilization": "1.0"}
    if agent == "claude":
        return {"after": "last", "replies": [{"error": 429, "message": "used up", "headers": headers}]}
    body = {"type": "usage_limit_reached", "extra": {"plan_type": "plus", "resets_at": reset}}
    return {"after": "last", "replies": [{"error": 429, "message": "used up", **body}]}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return broken_project(tmp_path, programs())


def spoken_with(place: Place, agent: str, *, scenario: Scenario, permissions: Permissions) -> list[Event]:
    """Start the program as its adapter says and return what its reader makes of it."""
    own = adapter(agent)
    program = (str(place.bin / agent),)
    ask = Ask(program, permissions=permissions, budget_micro=5_000_000, max_turns=50, as_root=os.getuid() == 0)
    launch = own.launch(ask)
    with scripted_model(scenario, repo=place.repo, work=place.work) as port:
        env = place.env(agent, port) | dict(launch.env)
        prompt = (place.repo / "PROMPT.md").read_bytes()
        done = subprocess.run(launch.argv, cwd=place.repo, env=env, input=prompt, capture_output=True, timeout=120)
    reader = own.reader()
    found = [e for line in done.stderr.split(b"\n") for e in reader.line("err", line)]
    found += [e for line in done.stdout.split(b"\n") for e in reader.line("out", line)]
    return [*found, *reader.end()]


def only(events: list[Event], kind: Callable[[Event], bool]) -> list[Any]:
    return [e for e in events if kind(e)]


def test_the_program_works_and_its_reader_tells_all_of_it(place: Place, agent: str) -> None:
    events = spoken_with(place, agent, scenario=WORKS, permissions="ask-nothing")
    assert (place.repo / "calc.py").read_text(encoding="utf-8") == FIXED
    assert only(events, lambda e: isinstance(e, Started))[0].session
    (called,) = only(events, lambda e: isinstance(e, ToolCalled))
    (returned,) = only(events, lambda e: isinstance(e, ToolReturned))
    assert (returned.id, returned.failed, returned.denied) == (called.id, False, False)
    assert "calc.py" in called.args
    (finished,) = only(events, lambda e: isinstance(e, Finished))
    assert (finished.how, finished.answer, finished.turns) == (Finish.OK, "Fixed.", 2)
    total = only(events, lambda e: isinstance(e, UsageSeen) and e.scope is not Scope.CALL)[0]
    assert (total.tokens.input, total.tokens.output) == (2000, 40)


def test_the_permission_edits_lets_it_edit(place: Place, agent: str) -> None:
    events = spoken_with(place, agent, scenario=WRITES, permissions="edits")
    assert [e.denied for e in only(events, lambda e: isinstance(e, ToolReturned))] == [False]
    assert (place.repo / "new.txt").read_text(encoding="utf-8") == "hello\n"


def test_with_its_own_permissions_a_refused_edit_is_a_denied_call(place: Place, agent: str) -> None:
    """R022: exit 0, a polite answer, and nothing was written."""
    events = spoken_with(place, agent, scenario=WRITES, permissions="own")
    assert not (place.repo / "new.txt").exists()
    assert [e.denied for e in only(events, lambda e: isinstance(e, ToolReturned))] == [True]


def test_a_used_up_plan_is_a_quota(place: Place, agent: str) -> None:
    reset = int(time.time()) + HOURS_3
    events = spoken_with(place, agent, scenario=used_up(agent, reset), permissions="ask-nothing")
    last = only(events, lambda e: isinstance(e, Troubled))[-1]
    assert (last.kind.value, last.final) == ("quota", True)


def run(place: Place, agent: str, *options: str, scenario: Scenario) -> tuple[int, dict[str, Any], str]:
    """Type `ralph run PROMPT.md …` and return exit code, summary and what it printed."""
    summary = place.work / "summary.json"
    argv = [str(RALPH), "run", "PROMPT.md", "--agent", agent, "--test", TESTS, "--summary", str(summary), *options]
    with scripted_model(scenario, repo=place.repo, work=place.work) as port:
        env = place.env(agent, port)
        done = subprocess.run(argv, cwd=place.repo, env=env, capture_output=True, text=True, timeout=180, check=False)
    printed = done.stdout + done.stderr
    assert summary.exists(), printed
    return done.returncode, json.loads(summary.read_text(encoding="utf-8")), printed


def standing_in(folder: Path) -> list[int]:
    """Return the processes that still work in a folder."""
    return [p.pid for p in psutil.process_iter(["cwd"]) if str(folder) in (p.info["cwd"] or "")]


def test_ralph_runs_it_until_its_own_test_run_is_green(place: Place, agent: str) -> None:
    code, summary, printed = run(place, agent, scenario=WORKS)
    assert (code, summary["reason"], summary["verified"]) == (0, "done", True), printed
    assert (place.repo / "calc.py").read_text(encoding="utf-8") == FIXED
    (iteration,) = summary["iterations"]
    assert iteration["outcome"] == "completed"
    assert iteration["answer"] == "Fixed."
    assert summary["totals"]["tokens"]
    assert standing_in(place.root) == []


def test_ralph_ends_a_run_in_which_it_changes_nothing(place: Place, agent: str) -> None:
    code, summary, printed = run(place, agent, scenario=IDLES)
    assert (code, summary["reason"]) == (10, "no-progress"), printed
    assert [i["outcome"] for i in summary["iterations"]] == ["completed"] * 3


def test_ralph_ends_at_a_used_up_plan_and_names_the_reset(place: Place, agent: str) -> None:
    reset = int(time.time()) + HOURS_3
    code, summary, printed = run(place, agent, "--on-quota", "stop", scenario=used_up(agent, reset))
    assert (code, summary["reason"]) == (32, "agent-quota"), printed
    (iteration,) = summary["iterations"]
    assert iteration["outcome"] == "quota"
    until = datetime.fromisoformat(iteration["until"])
    # Codex tells the minute only.
    assert abs((until - datetime.fromtimestamp(reset, UTC)).total_seconds()) < 61
