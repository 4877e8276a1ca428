"""What one hook costs an agent: the start of our program, the question to the run, its decision, the answer."""

from __future__ import annotations

import json
import os
import select
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping

import pytest

from ralph.agents import adapter
from ralph.agents.lanes import Hooked
from ralph.facts.settings import Detect
from ralph.judge.steering import Steering
from ralph.steer import hook
from ralph.steer.channel import Channel, Reply

ROUNDS = 60
MOST_MS = 30.0
PROGRAM = [sys.executable, "-I", "-S", hook.__file__]
PAYLOAD = {
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "python -m pytest -q tests/a_test.py"},
    "tool_use_id": "toolu_1",
    "tool_response": {"stdout": "x" * 20_000},
}


def run_of(agent: Hooked) -> Channel:
    """Return the run's end of the hook, its decision included."""
    steering = Steering(Detect(), words=lambda s: s.detail, laned=True, advises=("before", "after"))

    def answer(message: Mapping[str, object]) -> Reply:
        payload = message["payload"]
        asked = agent.asked("before", payload) if isinstance(payload, dict) else None
        assert asked is not None
        return {"ok": True, "out": agent.answered(asked, steering.answer(asked, at=0.0))}, None

    return Channel(agent={"hook": answer}, operator={}, who=lambda pid: "agent")


def step(channel: Channel, stdin: bytes) -> None:
    """Do what stands between an agent and its tool: start the hook, answer it, read what it prints."""
    env = {"RALPH_SOCKET": str(channel.path)}
    with subprocess.Popen([*PROGRAM, "before"], stdin=-1, stdout=-1, env=env) as child:
        assert answered(channel, child, stdin) == b"", "the call may run"


def bare() -> None:
    subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], check=True)


def cost_ms(deed: Callable[[], None]) -> tuple[float, float]:
    """Return the milliseconds of the clock, and those of a processor, children included."""
    began, busy = time.perf_counter(), os.times()
    deed()
    took, now = time.perf_counter() - began, os.times()
    return took * 1000, 1000 * sum(now[n] - busy[n] for n in range(4))


def answered(channel: Channel, child: subprocess.Popen[bytes], stdin: bytes) -> bytes:
    """Return what the hook prints, its question answered as the run does."""
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(stdin)
    child.stdin.close()
    ends = [channel.fileno(), child.stdout.fileno()]
    while ends[1] not in select.select(ends, [], [], 10.0)[0]:
        channel.ready()
    return child.stdout.read()


def hooked() -> Hooked:
    agent = adapter("codex")
    assert isinstance(agent, Hooked)
    return agent


def bare_ms() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], check=True)
    return (time.perf_counter() - began) * 1000


@pytest.mark.slow
def test_a_hook_step_costs_at_most_30_ms(capsys: pytest.CaptureFixture[str]) -> None:
    """Of a processor: on a machine with something to spare that is the time it takes. Both are printed."""
    channel = run_of(hooked())
    stdin = json.dumps(PAYLOAD).encode()
    try:
        steps = [cost_ms(lambda: step(channel, stdin)) for _ in range(ROUNDS)]
    finally:
        channel.close()
    bares = [cost_ms(bare) for _ in range(ROUNDS)]
    # The processor's clock ticks in hundredths: only the mean over many rounds tells.
    means = {
        name: [statistics.mean(column) for column in zip(*rows, strict=True)]
        for name, rows in (("hook step", steps), ("bare interpreter", bares))
    }
    with capsys.disabled():
        for name, (clock, processor) in means.items():
            print(f"\n{name}: {processor:.1f} ms of a processor, {clock:.1f} ms by the clock")
    assert means["hook step"][1] <= MOST_MS


def test_a_hook_that_has_nothing_to_say_loads_no_module_of_python_s_own() -> None:
    """Its start is paid for each tool call."""
    channel = run_of(hooked())
    code = f"import sys; sys.argv = ['h', 'before']; exec(open({hook.__file__!r}).read()); print(sorted(sys.modules))"
    try:
        with subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", code], stdin=-1, stdout=-1, env={"RALPH_SOCKET": str(channel.path)}
        ) as child:
            out = answered(channel, child, json.dumps(PAYLOAD).encode())
    finally:
        channel.close()
    assert b"'_socket'" in out
    assert not [name for name in ("json", "re", "socket", "enum", "selectors") if f"'{name}'".encode() in out]
