"""What is said to an agent that goes in circles: said once, refused, ended, and never held against it."""

from __future__ import annotations

import json

import pytest

from ralph.facts.event import Finish, Finished, ToolCalled, ToolReturned
from ralph.facts.settings import Detect
from ralph.facts.steer import ALLOW, Answer, Asked
from ralph.judge.signals.sighting import Sighting
from ralph.judge.steering import AGAIN, ENDING, LAST_CALLS, LAST_S, Steering

LS = json.dumps({"command": "ls src"})


def words(sighting: Sighting) -> str:
    return f"{sighting.level.word}: {sighting.detector} {sighting.count}"


class Agent:
    """An agent at work, one call a turn."""

    def __init__(self, *, laned: bool = True, by_shell: bool = False, tool: str = "Bash") -> None:
        self.steering = Steering(Detect(), words=words, laned=laned, advises=("before", "after"))
        self.at = 0.0
        self.calls = 0
        self.tool = tool
        self.by_shell = by_shell
        self.stands = ALLOW

    def tries(self, args: str = LS, *, stream: str = "", result: str = "a.py\nb.py") -> Answer:
        """Call a tool as a hooked agent does: asked before, told after; return the answer it got before."""
        self.calls += 1
        name = f"t{self.calls}"
        self._hear(ToolCalled(name, self.tool, args, f"m{self.calls}", stream))
        answer = self.steering.answer(Asked("before", self.tool, args, name), at=self.at)
        refused = answer.act == "deny"
        text = f"PreToolUse:Bash hook error: {answer.text}" if refused else result
        self._hear(ToolReturned(name, text, failed=refused, denied=refused, stream=stream))
        return answer

    def runs(self, args: str = LS, *, result: str = "a.py\nb.py") -> str:
        """Call a shell tool as an agent with the shell lane does; return what it was given."""
        self.calls += 1
        name, stands = f"t{self.calls}", self.stands
        barred = stands.act == "deny" and (not stands.only or json.loads(args)["command"] in stands.only)
        given = f"{stands.text}\n" if barred else f"{stands.text}\n{result}" if stands.act == "advise" else result
        self._hear(ToolCalled(name, self.tool, args, f"m{self.calls}"))
        self._hear(ToolReturned(name, given, failed=barred))
        return given

    def _hear(self, event: ToolCalled | ToolReturned) -> None:
        self.steering.see(self.steering.heard(event), at=self.at)
        if self.by_shell:
            self.stands = self.steering.command()


def test_a_repeat_is_advised_once_then_refused_then_the_turn_ends() -> None:
    agent = Agent()
    answers = [agent.tries() for _ in range(6)]
    assert answers[:3] == [ALLOW] * 3
    assert answers[3:] == [
        Answer("advise", "nudge: identical 3"),
        Answer("deny", "deny: identical 4"),
        Answer("deny", ENDING),
    ]
    assert [(s.detector, s.level) for s in agent.steering.signals] == [
        ("identical", "nudge"),
        ("identical", "deny"),
        ("identical", "end"),
    ]


def test_refusals_are_counted_since_an_agent_need_not_show_them() -> None:
    agent = Agent()
    for _ in range(8):
        agent.tries()
    assert [s.detail for s in agent.steering.account()][-1].endswith("4 times; calls refused by ralph: 4")
    shell = Agent(by_shell=True)
    for _ in range(6):
        shell.runs()
    assert [s.detail for s in shell.steering.account()][-1].endswith("calls refused by ralph: 2")
    assert Agent().steering.account() == ()


def test_what_has_been_told_already_is_known_by_its_id() -> None:
    """A sub-agent's hook names another stream than its events do."""
    agent = Agent()
    for _ in range(3):
        agent.tries(stream="sub")
    assert agent.tries('{"command":"pwd"}', result="/repo") == ALLOW
    assert agent.tries(stream="sub") == Answer("advise", "nudge: identical 3")


def test_another_call_than_the_looping_one_may_run() -> None:
    agent = Agent()
    for _ in range(4):
        agent.tries()
    assert agent.tries('{"command":"pwd"}', result="/repo") == ALLOW
    assert agent.tries().act == "deny"


def test_our_refusal_is_no_evidence_and_no_permission_s() -> None:
    agent = Agent()
    for _ in range(4):
        agent.tries()
    event = ToolReturned("t9", "Denied by preToolUse hook: deny: identical 4", failed=True, denied=True)
    assert agent.tries().act == "deny"
    assert agent.steering.heard(event) == ToolReturned("t9", event.result, failed=True, denied=False)
    assert {s.detector for s in agent.steering.signals} == {"identical"}


def test_our_advice_in_a_result_does_not_make_it_new() -> None:
    agent = Agent()
    for _ in range(4):
        agent.tries()
    heard = agent.steering.heard(ToolReturned("t9", "nudge: identical 3\na.py\nb.py"))
    assert heard == ToolReturned("t9", "a.py\nb.py")


@pytest.mark.parametrize("what", ["turns", "calls", "time"])
def test_after_the_end_an_agent_has_two_turns_or_a_minute(what: str) -> None:
    """Where refusals do not show in the stream no turn is counted, but refused calls are."""
    agent = Agent()
    for _ in range(6):
        agent.tries()
    steering = agent.steering
    assert steering.cut(at=0.0) is None
    if what == "turns":
        agent.tries()
        assert steering.cut(at=0.0) is None
        agent.tries()
        assert steering.cut(at=0.0) is not None
    elif what == "calls":
        for _ in range(LAST_CALLS):
            assert steering.answer(Asked("before", "Bash", LS), at=0.0) == Answer("deny", ENDING)
        assert steering.cut(at=0.0) is not None
    else:
        assert steering.cut(at=LAST_S - 1) is None
        assert steering.cut(at=LAST_S) is not None


def test_an_agent_that_finishes_in_time_is_not_ended() -> None:
    agent = Agent()
    for _ in range(6):
        agent.tries()
    agent.steering.see(Finished(Finish.OK, "This is what I have."), at=0.0)
    assert agent.steering.cut(at=LAST_S * 2) is None


def test_without_a_lane_the_turn_ends_at_once_and_the_advice_waits_for_the_next_prompt() -> None:
    agent = Agent(laned=False)
    for n in range(5):
        assert agent.steering.cut(at=0.0) is None, n
        agent._hear(ToolCalled(f"t{n}", "Bash", LS, f"m{n}"))
        agent._hear(ToolReturned(f"t{n}", "a.py"))
    assert agent.steering.cut(at=0.0) is not None
    assert agent.steering.unsaid() == ("nudge: identical 3", "deny: identical 4", "end: identical 5")


def test_advice_nobody_came_for_waits_for_the_next_prompt() -> None:
    agent = Agent()
    for _ in range(3):
        agent.tries()
    assert agent.steering.unsaid() == ("nudge: identical 3",)


def test_a_shell_lane_bars_the_looping_command_alone_and_ends_the_turn_at_the_second_try() -> None:
    agent = Agent(by_shell=True)
    given = [agent.runs() for _ in range(4)]
    assert given == ["a.py\nb.py"] * 3 + ["nudge: identical 3\na.py\nb.py"]
    assert agent.stands == Answer("deny", "deny: identical 4", only=("ls src",))
    assert agent.runs('{"command":"cat a.py"}', result="x = 1") == "x = 1"
    assert [agent.runs(), agent.runs()] == ["deny: identical 4\n"] * 2
    assert agent.stands == Answer("deny", ENDING)
    assert [s.level for s in agent.steering.signals] == ["nudge", "deny", "end"]


def test_a_command_that_may_have_changed_something_lifts_the_bar() -> None:
    agent = Agent(by_shell=True)
    for _ in range(4):
        agent.runs()
    assert agent.stands.act == "deny"
    agent.runs('{"command":"./build.sh"}', result="built")
    assert agent.stands == ALLOW


def test_where_no_command_can_be_barred_the_shell_lane_says_so_instead() -> None:
    agent = Agent(by_shell=True, tool="read_file")
    for _ in range(4):
        agent.runs('{"path": "a.py"}')
    assert agent.stands == Answer("advise", "deny: identical 4")


def test_the_full_reason_is_given_once() -> None:
    """Said on each call, it would be a loop itself; two loops may share a refusal."""
    assert AGAIN != ENDING
    agent = Agent()
    for _ in range(4):
        agent.tries()
    assert [agent.tries().text, agent.tries().text, agent.tries().text] == ["deny: identical 4", ENDING, ENDING]
