"""Real agents that are ended: by a used-up plan, by a signal in the middle of a tool, by a cost limit."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.e2e.real_agents import Place, broken_project, programs
from tests.e2e.real_runs import AGENTS, Ran, Scenario, argv, ran, standing_in, summary_of, until
from tests.scripted_model.server import scripted_model

pytestmark = pytest.mark.real

MICRO = 1_000_000
PER_DAY = {
    "status": "RESOURCE_EXHAUSTED",
    "details": [
        {
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel", "quotaValue": "100"}],
        }
    ],
}
USED_UP: dict[str, Mapping[str, object]] = {
    "gemini": {"error": 429, "message": "You exceeded your current quota.", "extra": PER_DAY},
    "opencode": {"error": 402, "message": "Insufficient balance: your credits are used up."},
    "copilot": {"error": 402, "message": "You have no quota left for this month."},
    "qwen": {"error": 402, "type": "insufficient_quota", "message": "You exceeded your current quota."},
}
"""What a provider says when nothing is left. Claude Code and Codex: see `test_real_agents`."""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return broken_project(tmp_path, programs())


@pytest.mark.parametrize("agent", USED_UP)
def test_a_used_up_plan_ends_the_run(place: Place, agent: str) -> None:
    done = ran(place, agent, "--on-quota", "stop", scenario={"replies": [USED_UP[agent]], "after": "last"})
    assert (done.code, done.summary["reason"]) == (32, "agent-quota"), done.printed
    assert [i["outcome"] for i in done.summary["iterations"]] == ["quota"]
    assert standing_in(place.root) == []


@pytest.mark.parametrize("agent", AGENTS)
def test_a_signal_to_ralph_in_the_middle_of_a_tool_leaves_nothing(place: Place, agent: str) -> None:
    busy = place.work / "busy"
    works: Scenario = {"replies": [{"do": "bash", "command": f"touch {busy}; tail -f /dev/null"}], "after": "last"}
    with scripted_model(works, repo=place.repo, work=place.work) as port:
        env, words = place.env(agent, port), argv(place, agent)
        ralph = subprocess.Popen(words, cwd=place.repo, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(busy.exists, within_s=120)
        assert standing_in(place.repo) != []
        ralph.send_signal(signal.SIGTERM)
        assert ralph.wait(timeout=60) == 143
    assert standing_in(place.root) == []
    summary = json.loads(summary_of(place).read_text(encoding="utf-8"))
    assert (summary["reason"], summary["iterations"][-1]["outcome"]) == ("terminated", "interrupted")


DEAR: Scenario = {
    "usage": {"input": 100_000, "output": 1000},
    "replies": [{"do": "bash", "command": f"echo {n} >> log.txt"} for n in range(60)],
    "after": {"text": "Enough."},
}
PER_CALL = {"claude": 210_000, "opencode": 110_000, "codex": 530_000}
"""Micro-dollars of one call of that size: the model each of them asks for, at the price it has."""


@pytest.mark.parametrize("agent", PER_CALL)
def test_a_cost_limit_ends_the_agent_within_one_model_call(place: Place, agent: str) -> None:
    limit = 5 * PER_CALL[agent] + 1
    more = ("-m", "gpt-5.5") if agent == "codex" else ()
    done = ran(place, agent, "--max-cost", f"{limit / MICRO:.6f}", *more, scenario=DEAR)
    assert (done.code, done.summary["reason"]) == (22, "cost-limit"), done.printed
    total = round(done.summary["totals"]["cost_usd"]["value"] * MICRO)
    assert limit <= total <= limit + PER_CALL[agent], done.printed
    assert total >= reported(agent, place) > 0, "never charged below what the agent reported"
    assert paid_for(done) <= 7, "the sixth call passes the limit; the next may have been asked for by then"
    assert standing_in(place.root) == []


def paid_for(done: Ran) -> int:
    return len(done.requests)


def reported(agent: str, place: Place) -> int:
    """Return the micro-dollars an agent said it had used, or its tokens times the price, read from its own records."""
    outs = [p.read_text(encoding="utf-8") for s in place.states() for p in s.glob("iterations/*/agent.out")]
    if agent == "codex":
        sessions = [p.read_text(encoding="utf-8") for p in place.home.glob(".codex/sessions/*/*/*/rollout-*.jsonl")]
        return (
            sum(int(last(r'"total_token_usage":\{"input_tokens":(\d+)', text)) // 100_000 for text in sessions)
            * PER_CALL[agent]
        )
    if agent == "opencode":
        return round(sum(float(cost) for text in outs for cost in re.findall(r'"cost":([\d.]+)', text)) * MICRO)
    return round(sum(float(last(r'"total_cost_usd":([\d.]+)', text)) for text in outs) * MICRO)


def last(pattern: str, text: str) -> str:
    """Return the last figure of this kind, "0" if there is none."""
    found: list[str] = re.findall(pattern, text)
    return found[-1] if found else "0"
