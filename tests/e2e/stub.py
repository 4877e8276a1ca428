"""The agent of the end-to-end tests: one real program that does what its command line says, one list a launch.

    stub.py WORK STEP… [/ STEP… [/ STEP…]]

The first launch does the first list, the second the second, every further launch the last. A step is a name of
`STEPS`, with a value after a colon where it takes one: `write:a.txt=one`, `exit:3`. Launches are counted and prompts
kept in WORK, outside the repository. Runs under `python -I -S`, so it imports the standard library only.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

RALPH = Path(sys.executable).parent / "ralph"
SESSION = "5e551011-0000-4000-8000-00000000000"


class Agent:
    """One launch. number: counted from 1 over all launches with the same WORK."""

    def __init__(self, work: Path) -> None:
        self.work = work
        with open(work / "launches", "a+b") as file:
            file.write(f"{os.getpid()}\n".encode())
            file.flush()
            file.seek(0)
            self.number = len(file.read().splitlines())
        self.prompt = b""

    def read(self, _: str = "") -> None:
        """Read the prompt from stdin and keep it."""
        self.prompt = sys.stdin.buffer.read()
        Path(self.work, f"prompt.{self.number}").write_bytes(self.prompt)

    @property
    def token(self) -> str:
        """Return the done token of the note, or the fixed word."""
        found = re.search(rb"DONE-[0-9a-f]{10}", self.prompt)
        return found[0].decode() if found else "SHIPPED"


def out(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def event(**fields: object) -> None:
    out(json.dumps(fields).encode() + b"\n")


def filled(agent: Agent, text: str) -> str:
    """Put this launch into a text: {n} its number, {token} the done token, {pid} the process."""
    for name, value in (("n", agent.number), ("token", agent.token), ("pid", os.getpid()), ("now", time.time_ns())):
        text = text.replace("{" + name + "}", str(value))
    return text.encode().decode("unicode_escape") if "\\" in text else text


def parts(agent: Agent, value: str) -> tuple[str, str]:
    name, _, text = value.partition("=")
    return filled(agent, name), filled(agent, text)


def say(agent: Agent, value: str) -> None:
    out(filled(agent, value).encode("utf-8", "surrogateescape") + b"\n")


def part(agent: Agent, value: str) -> None:
    out(filled(agent, value).encode())


def complain(agent: Agent, value: str) -> None:
    os.write(2, filled(agent, value).encode() + b"\n")


def write(agent: Agent, value: str) -> None:
    name, text = parts(agent, value)
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(f"{text}\n", encoding="utf-8")


def append(agent: Agent, value: str) -> None:
    name, text = parts(agent, value)
    with open(name, "a", encoding="utf-8") as file:
        file.write(f"{text or agent.number}\n")


def walk(agent: Agent, value: str) -> None:
    """Write the n-th of the words to target.txt, the last for ever after."""
    words = value.split()
    Path("target.txt").write_text(words[min(agent.number, len(words)) - 1] + "\n", encoding="utf-8")


def remove(agent: Agent, value: str) -> None:
    subprocess.run(["rm", "-rf", value], check=True)


def git(agent: Agent, value: str) -> None:
    """Run the agent's git; a failure is a fault of the test."""
    subprocess.run(["git", *filled(agent, value).split()], check=True, stdout=subprocess.DEVNULL)


def commit(agent: Agent, _: str) -> None:
    git(agent, "add -A")
    git(agent, "commit -qm step-{n}")


def shell(agent: Agent, value: str) -> None:
    """Run a shell line; its output is the agent's own, its exit code is kept in WORK/shell."""
    code = subprocess.run(["/bin/sh", "-c", filled(agent, value)], check=False).returncode
    with open(agent.work / "shell", "a", encoding="utf-8") as file:
        file.write(f"{code}\n")


def ralph(agent: Agent, value: str) -> None:
    """Call ralph as an agent's shell would, keep code and words in WORK/ralph."""
    done = subprocess.run([str(RALPH), *value.split()], check=False, capture_output=True, text=True)
    with open(agent.work / "ralph", "a", encoding="utf-8") as file:
        file.write(f"{done.returncode} {done.stderr}")


def hang(agent: Agent, _: str) -> None:
    (agent.work / "at.hang").touch()
    while True:
        time.sleep(600)


def trickle(agent: Agent, _: str) -> None:
    while True:
        out(b".\n")
        time.sleep(0.05)


def hold(agent: Agent, _: str) -> None:
    """Leave a process behind that holds stdout and stderr, in a session of its own with nothing in its environment."""
    child = subprocess.Popen(["sleep", "600"], env={}, start_new_session=True)
    with open(agent.work / "born", "a", encoding="utf-8") as file:
        file.write(f"{child.pid}\n")


def deaf(agent: Agent, _: str) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def wait_for(agent: Agent, value: str) -> None:
    """Wait until a file is in WORK: how a test holds an iteration open."""
    (agent.work / f"at.{value}").touch()
    while not (agent.work / value).exists():
        time.sleep(0.01)


def leave(agent: Agent, value: str) -> None:
    sys.exit(int(value))


def die(agent: Agent, value: str) -> None:
    os.kill(os.getpid(), int(value))


def keep_environment(agent: Agent, _: str) -> None:
    Path(agent.work, "environment").write_text(json.dumps(dict(os.environ)), encoding="utf-8")


def flood(agent: Agent, value: str) -> None:
    for _ in range(int(value)):
        out(b"x" * 999 + b"\n")


def errflood(agent: Agent, value: str) -> None:
    for _ in range(int(value)):
        os.write(2, b"x" * 999 + b"\n")


# ── Claude Code's dialect, as its stream-json prints it ──────────────────────────────────────────────────────────────


def session(agent: Agent) -> str:
    return f"{SESSION}{agent.number % 10}"


def c_init(agent: Agent, _: str) -> None:
    event(type="system", subtype="init", session_id=session(agent), model="stub-model", tools=["Bash", "Edit"])


def c_say(agent: Agent, value: str) -> None:
    content = [{"type": "text", "text": filled(agent, value)}]
    message = {"id": f"msg_{time.time_ns()}", "role": "assistant", "model": "stub-model", "content": content}
    event(type="assistant", session_id=session(agent), message=message)


def c_tool(agent: Agent, value: str) -> None:
    """Call a tool and print its result: NAME=RESULT."""
    name, text = parts(agent, value)
    call = f"toolu_{time.time_ns()}"
    use = {"type": "tool_use", "id": call, "name": name, "input": {"path": text}}
    message = {"id": f"msg_{call}", "role": "assistant", "model": "stub-model", "content": [use]}
    event(type="assistant", session_id=session(agent), message=message)
    back = {"type": "tool_result", "tool_use_id": call, "content": f"{text} {call}"}
    event(type="user", session_id=session(agent), message={"role": "user", "content": [back]})


def c_usage(agent: Agent, value: str) -> None:
    """Tell of a model call with so many output tokens."""
    usage = {"input_tokens": 10, "output_tokens": int(value)}
    message = {"id": f"msg_{time.time_ns()}", "role": "assistant", "model": "stub-model", "content": [], "usage": usage}
    event(type="assistant", session_id=session(agent), message=message)


def c_result(agent: Agent, value: str) -> None:
    """Print the result: TEXT, or TEXT=DOLLARS."""
    text, _, cost = value.partition("=")
    result(agent, filled(agent, text), cost=float(cost or 0.01))


def c_error(agent: Agent, value: str) -> None:
    result(agent, value, cost=0.0, failed=True)


def result(agent: Agent, text: str, *, cost: float, failed: bool = False) -> None:
    usage = {"input_tokens": 100, "output_tokens": 20}
    event(
        type="result",
        subtype="success",
        is_error=failed,
        result=text,
        session_id=session(agent),
        total_cost_usd=cost,
        num_turns=1,
        usage=usage,
        permission_denials=[],
    )


STEPS: dict[str, Callable[[Agent, str], None]] = {
    "read": Agent.read,
    "say": say,
    "part": part,
    "complain": complain,
    "write": write,
    "append": append,
    "walk": walk,
    "remove": remove,
    "git": git,
    "commit": commit,
    "shell": shell,
    "ralph": ralph,
    "hang": hang,
    "trickle": trickle,
    "hold": hold,
    "deaf": deaf,
    "wait_for": wait_for,
    "exit": leave,
    "die": die,
    "environment": keep_environment,
    "flood": flood,
    "errflood": errflood,
    "c-init": c_init,
    "c-say": c_say,
    "c-tool": c_tool,
    "c-usage": c_usage,
    "c-result": c_result,
    "c-error": c_error,
}


def main() -> None:
    agent = Agent(Path(sys.argv[1]))
    lists = [text.split("\0") for text in "\0".join(sys.argv[2:]).split("\0/\0")]
    steps = lists[min(agent.number, len(lists)) - 1]
    if "unread" not in steps:
        agent.read()
    for step in steps:
        name, _, value = step.partition(":")
        if name and name != "unread":
            STEPS[name](agent, value)


if __name__ == "__main__":
    main()
