"""A conversed agent, end to end: `ralph run -a acp -- COMMAND` with a stub that speaks the Agent Client Protocol."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import pytest

from tests.e2e.site import Live, Result, Site, Table

pytestmark = pytest.mark.slow

STUB = Path(__file__).with_name("acp_stub.py")
ONE = ("-n", "1")


def start(site: Site, *steps: str, options: tuple[str, ...] = ONE) -> Live:
    """Type `ralph run -a acp -- STUB STEP…`."""
    stub = (sys.executable, "-I", "-S", str(STUB), str(site.work), *steps)
    return Live(site, site.popen([*site.argv(("--agent", "acp", *options), None), "--", *stub]))


def run(site: Site, *steps: str, options: tuple[str, ...] = ONE) -> Result:
    return start(site, *steps, options=options).end()


def heard(site: Site) -> list[Table]:
    """Return all that the agent was told, over all launches."""
    return [json.loads(line) for line in (site.work / "heard.jsonl").read_text().splitlines()]


def prompts(site: Site) -> list[str]:
    """Return the text of every prompt the agent was sent."""
    return [m["params"]["prompt"][0]["text"] for m in heard(site) if m.get("method") == "session/prompt"]


def answers(site: Site) -> list[str]:
    """Return what the agent's questions were answered, by option."""
    outcomes = [m["result"]["outcome"] for m in heard(site) if "outcome" in (m.get("result") or {})]
    return [outcome.get("optionId", outcome["outcome"]) for outcome in outcomes]


def test_an_agent_asks_before_a_tool_is_answered_and_leaves_when_its_stdin_is_closed(site: Site) -> None:
    """The whole conversation, in order."""
    result = run(site, "say:I will write.", "ask:echo new > made.txt", "say:Written.")
    assert result.outcomes == ["completed"], result.err
    (iteration,) = result.summary["iterations"]
    assert (iteration["answer"], iteration["exit"]) == ("Written.", "exit 0")
    assert (site.repo / "made.txt").read_text() == "new\n"
    methods = [m.get("method", "(answer)") for m in heard(site)]
    setup = ["initialize", "session/new", "session/set_mode", "session/prompt"]
    assert methods == [*setup, "(answer)", "(end of input)"]
    assert heard(site)[1]["params"]["cwd"] == str(site.repo.resolve())
    assert heard(site)[2]["params"] == {"sessionId": "s-1", "modeId": "yolo"}
    assert prompts(site) == ["Improve it.\n"]
    assert answers(site) == ["allow_once-id"]
    assert "speaking acp, as given, permissions ask-nothing" in result.err


def test_every_iteration_is_a_conversation_of_its_own(site: Site) -> None:
    result = run(site, "ask:date +%s%N > now.txt", options=("-n", "3", "--notes", "off"))
    assert (result.reason, result.launches) == ("iteration-limit", 3)
    assert prompts(site) == ["Improve it.\n"] * 3
    assert result.outcomes == ["completed"] * 3


def test_advice_is_a_prompt_of_its_own_in_the_same_session_and_the_end_of_the_turn_is_one_more(site: Site) -> None:
    """A repeated call is nudged, then told to stop, by cancellation and a new prompt; nothing is lost on the way."""
    result = run(site, "say:Looking.", "asks:cat target.txt", "/", "say:I see.", "ask:echo else > other.txt")
    assert result.outcomes == ["completed"], result.err
    first, advice = prompts(site)
    assert first == "Improve it.\n"
    assert "cat target.txt" in advice
    cancels = [i for i, m in enumerate(heard(site)) if m.get("method") == "session/cancel"]
    assert len(cancels) == 1
    assert {m["params"]["sessionId"] for m in heard(site) if "sessionId" in m.get("params", {})} == {"s-1"}
    assert (site.repo / "other.txt").read_text() == "else\n"
    assert result.summary["iterations"][0]["answer"] == "I see."
    assert result.summary["iterations"][0]["signals"]


def test_an_agent_that_takes_no_advice_is_refused_asked_to_stop_and_ended(site: Site) -> None:
    result = run(site, "asks:cat target.txt")
    assert result.outcomes == ["looping"], result.err
    assert len(prompts(site)) >= 3
    assert any("write what you have" in text for text in prompts(site))
    assert len(answers(site)) < 40


@pytest.mark.parametrize(
    ("permissions", "command", "answer"),
    [("own", "echo x > made.txt", "reject_once-id"), ("edits", "echo x > made.txt", "reject_once-id")],
)
def test_what_nobody_may_allow_is_refused(site: Site, permissions: str, command: str, answer: str) -> None:
    """R022: nobody is there to answer, so the agent is not kept waiting."""
    result = run(site, f"ask:{command}", "say:Could not.", options=(*ONE, "--set", f"agent.permissions={permissions}"))
    assert answers(site) == [answer]
    assert not (site.repo / "made.txt").exists()
    assert result.outcomes == ["completed"]
    assert "session/set_mode" not in [m.get("method") for m in heard(site)]


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [("max_tokens", "truncated"), ("refusal", "refused"), ("max_turn_requests", "own-limit"), ("bogus", "quick")],
)
def test_a_stop_reason_is_an_outcome_of_its_own(site: Site, reason: str, outcome: str) -> None:
    assert run(site, "say:Hm.", f"stop:{reason}").outcomes == [outcome]


def test_a_login_that_is_missing_ends_the_run_with_the_agent_s_words(site: Site) -> None:
    result = run(site, "locked")
    assert (result.code, result.reason) == (31, "agent-auth")
    assert "Authentication required" in result.out


def test_a_used_up_plan_ends_as_quota(site: Site) -> None:
    words = "You've hit your usage limit. Try again in 3 hours."
    result = run(site, f"fail:429={words}", options=(*ONE, "--on-quota", "stop"))
    assert (result.code, result.reason) == (32, "agent-quota")


def test_a_program_that_does_not_speak_the_protocol_is_misconfigured(site: Site) -> None:
    """`cat` gives back what it is sent: a question of ours is no answer to itself."""
    live = Live(site, site.popen([*site.argv(("--agent", "acp", *ONE), None), "--", "cat"]))
    result = live.end()
    assert (result.code, result.reason) == (31, "agent-auth")


# nobody hangs ralph, and no reply is lost

SHORT = (*ONE, "--iteration-timeout", "2s")


def test_one_that_never_answers_is_ended_by_the_limits(site: Site) -> None:
    result = run(site, "mute", options=SHORT)
    assert result.outcomes == ["timed-out"]


def test_one_that_never_reads_is_ended_by_the_limits(site: Site) -> None:
    """It asks for ever: what is owed to it is bounded too (see the next), so only time ends it."""
    result = run(site, "drown", options=SHORT)
    assert result.outcomes == ["timed-out"]


def test_one_that_hangs_in_its_turn_is_ended_by_a_signal_to_us_at_once(site: Site) -> None:
    live = start(site, "say:Hm.", "hang")
    site.wait_until(lambda: (site.work / "hangs").exists(), "the agent hangs")
    live.signal(signal.SIGTERM)
    assert live.end().code == 143


def test_one_that_closes_its_stdin_loses_the_answers_and_nothing_else(site: Site) -> None:
    result = run(site, "shut", "say:Deaf.", "stop:end_turn")
    assert result.outcomes == ["completed"], result.err
    assert result.summary["iterations"][0]["answer"] == "Deaf."


def test_one_that_floods_gets_every_answer_in_order(site: Site) -> None:
    """20,000 questions before the first answer is read: two megabytes wait for a reader, a pipe holds 64 KiB."""
    result = run(site, "flood:20000")
    assert result.summary["iterations"][0]["answer"] == "answers in order: True, refused: True", result.err


def test_one_that_stays_after_its_result_only_lingers(site: Site) -> None:
    live = start(site, "stays")
    site.wait_until(lambda: (site.work / "hangs").exists(), "its stdin was closed")
    result = live.end()
    assert result.outcomes == ["completed"]
    assert result.summary["iterations"][0]["elapsed_s"] < 20
