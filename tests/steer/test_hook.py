"""The hook program and the shell lane: they hand on what the run answers, and fail open in every other case."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from ralph.facts.ending import Cut
from ralph.loop.control import Control
from ralph.steer import hook, shell
from ralph.steer.channel import Channel

PROGRAM = [sys.executable, "-I", "-S", str(hook.__file__)]


def answer(moment: str, payload: Mapping[str, object]) -> tuple[str, Cut | None]:
    return json.dumps({"heard": moment, "tool": payload.get("tool_name")}), None


@pytest.fixture
def channel() -> Iterator[Channel]:
    control = Control()
    made = Channel(agent=control.agent(), operator=control.operator(), who=lambda _pid: "agent")
    with control.hooks(answer):
        yield made
    made.close()


def called(channel: Channel, stdin: bytes, moment: str = "before") -> str:
    env = {"RALPH_SOCKET": str(channel.path), "PATH": os.environ["PATH"]}
    with subprocess.Popen([*PROGRAM, moment], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(stdin)
        child.stdin.close()
        while child.poll() is None:
            channel.ready()
        assert child.returncode == 0
        return child.stdout.read().decode()


def test_a_hook_prints_what_the_run_answers(channel: Channel) -> None:
    out = called(channel, json.dumps({"tool_name": "Bash", "tool_response": "x" * 300_000}).encode())
    assert json.loads(out) == {"heard": "before", "tool": "Bash"}


@pytest.mark.parametrize("stdin", [b"", b"not json", b"[1]", b"\xff\xfe"])
def test_a_hook_fails_open_on_what_it_cannot_read(channel: Channel, stdin: bytes) -> None:
    assert called(channel, stdin) in ("", json.dumps({"heard": "before", "tool": None}))


@pytest.mark.parametrize("env", [{}, {"RALPH_SOCKET": "/nonexistent"}])
def test_a_hook_fails_open_without_a_run(env: dict[str, str]) -> None:
    done = subprocess.run([*PROGRAM, "before"], input=b"{}", capture_output=True, env=env, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def bash(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    (folder / "lane.sh").write_text(shell.script(folder))
    env = {"BASH_ENV": str(folder / "lane.sh"), "PATH": os.environ["PATH"]}
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=env, check=False)


def test_the_shell_lane_says_advice_once_before_the_command(tmp_path: Path) -> None:
    shell.put(tmp_path, shell.ADVICE, "try $(another) `way`")
    assert bash(tmp_path, "echo ran").stdout == "try $(another) `way`\nran\n"
    assert bash(tmp_path, "echo ran").stdout == "ran\n"


def test_the_shell_lane_refuses_commands_until_the_refusal_is_lifted(tmp_path: Path) -> None:
    shell.put(tmp_path, shell.REFUSAL, "no")
    for _ in range(2):
        refused = bash(tmp_path, f"touch {tmp_path}/made; echo ran")
        assert (refused.returncode, refused.stdout) == (1, "no\n")
    shell.lifted(tmp_path)
    assert not (tmp_path / "made").exists()
    assert bash(tmp_path, "echo ran").stdout == "ran\n"


LOOPING = """cat 'a b'*; echo "it's" $HOME"""


def test_the_shell_lane_refuses_the_looping_command_and_no_other(tmp_path: Path) -> None:
    shell.put(tmp_path, shell.REFUSAL, "no", only=("ls", LOOPING, "cat <<EOF\nhi\nEOF"))
    wrapped = f"shopt -u extglob\n(\n{LOOPING}\n)\nexit 0"
    refused = (LOOPING, "ls", "cat <<EOF\nhi\nEOF", wrapped)
    assert [bash(tmp_path, command).stdout for command in refused] == ["no\n"] * 4
    runs = ("echo ls", f"echo; {LOOPING}", "ls\t", "cat <<EOF\nho\nEOF")
    assert [bash(tmp_path, command).stdout == "no\n" for command in runs] == [False] * 4


def test_a_refusal_that_follows_another_forgets_its_commands(tmp_path: Path) -> None:
    shell.put(tmp_path, shell.REFUSAL, "no", only=("ls",))
    shell.put(tmp_path, shell.REFUSAL, "stop")
    assert bash(tmp_path, "echo ran").stdout == "stop\n"
    assert shell.taken_back(tmp_path) == (shell.REFUSAL,)
    assert [p.name for p in tmp_path.iterdir()] == ["lane.sh"]


def test_a_script_that_starts_the_agent_does_not_use_the_lane_up(tmp_path: Path) -> None:
    """Version managers start programs through scripts of their own."""
    shell.put(tmp_path, shell.ADVICE, "try this")
    shim = tmp_path / "shim"
    shim.write_text("#!/usr/bin/env bash\nbash -c 'echo ran'\n")
    shim.chmod(0o755)
    (tmp_path / "lane.sh").write_text(shell.script(tmp_path))
    env = {"BASH_ENV": str(tmp_path / "lane.sh"), "PATH": os.environ["PATH"]}
    done = subprocess.run([str(shim)], capture_output=True, text=True, env=env, check=False)
    assert done.stdout == "try this\nran\n"


def test_the_shell_lane_reads_the_file_it_stands_in_for(tmp_path: Path) -> None:
    own = tmp_path / "own file.sh"
    own.write_text("echo own\n")
    (tmp_path / "lane.sh").write_text(shell.script(tmp_path, before=str(own)))
    env = {"BASH_ENV": str(tmp_path / "lane.sh"), "PATH": os.environ["PATH"]}
    done = subprocess.run(["bash", "-c", "echo ran"], capture_output=True, text=True, env=env, check=False)
    assert (done.stdout, done.stderr) == ("own\nran\n", "")


def test_the_shell_lane_leaves_scripts_below_a_command_alone(tmp_path: Path) -> None:
    (tmp_path / "lane.sh").write_text(shell.script(tmp_path))
    inner = f"cp {tmp_path}/kept {tmp_path}/{shell.ADVICE}; bash -c 'echo inner'"
    (tmp_path / "kept").write_text("advice\n")
    assert bash(tmp_path, inner).stdout == "inner\n"


def test_the_shell_lane_is_silent_without_a_flag(tmp_path: Path) -> None:
    done = bash(tmp_path, "true")
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
