"""An agent that speaks the Agent Client Protocol, as a real program that does what its command line says.

    acp_stub.py WORK STEP… [/ STEP… [/ STEP…]]

The first prompt of a launch does the first list of steps, the second the second, every further prompt the last. Before
each `ask` it waits for the answer, as such agents do. Launches, prompts and all that it hears are kept in WORK. Runs
under `python -I -S`, so it imports the standard library only.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Table = dict[str, Any]
RUNNING = "in_progress"


class Agent:
    """One launch."""

    def __init__(self, work: Path, lists: list[list[str]]) -> None:
        self.work = work
        self.lists = lists
        self.prompts = 0
        self.calls = 0
        self.cancelled = False
        self.stop = "end_turn"
        with open(work / "launches", "a", encoding="ascii") as file:
            file.write(f"{os.getpid()}\n")

    def hear(self) -> Table | None:
        """Return the next message, None at the end of input; what was heard is kept."""
        line = sys.stdin.buffer.readline()
        with open(self.work / "heard.jsonl", "ab") as file:
            file.write(line or b'{"method":"(end of input)"}\n')
        return json.loads(line) if line else None

    def send(self, **fields: object) -> None:
        data = json.dumps({"jsonrpc": "2.0", **fields}).encode() + b"\n"
        while data:
            data = data[os.write(1, data) :]

    def update(self, **fields: object) -> None:
        self.send(method="session/update", params={"sessionId": "s-1", "update": fields})

    def answered(self, number: int) -> Table:
        """Return the answer to a request of ours; a cancellation on the way is noted."""
        while (message := self.hear()) is not None:
            if message.get("method") == "session/cancel":
                self.cancelled = True
            elif message.get("id") == number:
                return message
        raise SystemExit(0)

    def serve(self) -> None:
        """Answer the client until it closes our input."""
        while (message := self.hear()) is not None:
            method = message.get("method")
            if method == "initialize":
                self.send(id=message["id"], result={"protocolVersion": 1, "agentInfo": {"version": "0.0.1"}})
            elif method == "session/new":
                self.opened(message)
            elif method == "session/set_mode":
                self.send(id=message["id"], result=None)
            elif method == "session/prompt":
                self.prompted(message)

    def opened(self, message: Table) -> None:
        if self.lists[0] == ["locked"]:
            self.send(id=message["id"], error={"code": -32000, "message": "Authentication required"})
            return
        modes = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "A"}, {"id": "yolo", "name": "Y"}]}
        self.send(id=message["id"], result={"sessionId": "s-1", "modes": modes})

    def prompted(self, message: Table) -> None:
        steps = self.lists[min(self.prompts, len(self.lists) - 1)]
        self.prompts += 1
        self.cancelled, self.stop = False, "end_turn"
        for step in steps:
            name, _, value = step.partition(":")
            STEPS[name](self, value)
            if self.cancelled:
                self.stop = "cancelled"
                break
        if self.stop:
            self.send(id=message["id"], result={"stopReason": self.stop})


def say(agent: Agent, value: str) -> None:
    agent.update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": value})


def ask(agent: Agent, value: str) -> None:
    """Ask before running a command, and wait for the answer."""
    agent.calls += 1
    call = {"toolCallId": f"call-{agent.calls}", "title": value, "kind": "execute", "rawInput": {"command": value}}
    agent.update(sessionUpdate="tool_call", status="pending", **call)
    options = [{"optionId": f"{kind}-id", "name": kind, "kind": kind} for kind in ("allow_once", "reject_once")]
    params = {"sessionId": "s-1", "toolCall": call, "options": options}
    agent.send(id=agent.calls, method="session/request_permission", params=params)
    outcome = agent.answered(agent.calls)["result"]["outcome"]
    if outcome.get("outcome") == "cancelled":
        agent.cancelled = True
    elif outcome["optionId"] == "allow_once-id":
        done = subprocess.run(value, shell=True, capture_output=True, text=True, check=False)
        content = [{"type": "content", "content": {"type": "text", "text": done.stdout + done.stderr}}]
        failed = "failed" if done.returncode else "completed"
        agent.update(sessionUpdate="tool_call_update", toolCallId=call["toolCallId"], status=failed, content=content)


def asks(agent: Agent, value: str) -> None:
    """Ask for the same command again and again, until the turn is cancelled or 40 were run."""
    for _ in range(40):
        if not agent.cancelled:
            ask(agent, value)


def flood(agent: Agent, value: str) -> None:
    """Ask for what no client serves, many times, without reading an answer before the last question."""
    for number in range(int(value)):
        agent.send(id=f"q{number}", method="fs/read_text_file", params={"path": "/etc/passwd"})
    answers = [agent.hear() for _ in range(int(value))]
    in_order = [a["id"] for a in answers if a] == [f"q{n}" for n in range(int(value))]
    refused = all(a and a["error"]["code"] == -32601 for a in answers)
    say(agent, f"answers in order: {in_order}, refused: {refused}")


def drown(agent: Agent, value: str) -> None:
    """Ask for ever and never read."""
    while True:
        agent.send(id=1, method="fs/read_text_file", params={"path": "x" * 1000})


def shut(agent: Agent, value: str) -> None:
    os.close(0)
    ask_without_ears = {"sessionId": "s-1", "toolCall": {"toolCallId": "x"}, "options": []}
    agent.send(id=1, method="session/request_permission", params=ask_without_ears)


def hang(agent: Agent, value: str) -> None:
    (agent.work / "hangs").touch()
    while True:
        signal.pause()


def stop(agent: Agent, value: str) -> None:
    agent.stop = value


def fail(agent: Agent, value: str) -> None:
    code, _, words = value.partition("=")
    agent.stop = ""
    agent.send(id=5, error={"code": int(code), "message": words})


STEPS: dict[str, Callable[[Agent, str], None]] = {
    f.__name__: f for f in (say, ask, asks, flood, drown, shut, hang, stop, fail)
}


def main() -> None:
    work, *words = sys.argv[1:]
    lists: list[list[str]] = [[]]
    for word in words:
        if word == "/":
            lists.append([])
        else:
            lists[-1].append(word)
    agent = Agent(Path(work), lists)
    if lists[0] == ["mute"]:
        hang(agent, "")
    if lists[0] == ["stays"]:
        lists[0] = ["say:done"]
        agent.serve()
        hang(agent, "")
    agent.serve()


main()
