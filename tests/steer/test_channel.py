"""The control socket: the peer's pid decides, nothing blocks, hostile bytes are an answer and not a crash."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.errors import UserError
from ralph.facts.ending import Cut, Why
from ralph.facts.finding import Blocked
from ralph.steer.blocked import blocked_from_answer, blocked_from_fields
from ralph.steer.channel import Channel, Reply
from ralph.steer.speak import ask


def stop(_message: Mapping[str, object]) -> Reply:
    return {"ok": True}, Cut(Why.STOP_NOW)


def blocked(message: Mapping[str, object]) -> Reply:
    return {"ok": True, "heard": message["needed"]}, Cut(Why.BLOCKED)


@pytest.fixture
def agent_pids() -> set[int]:
    return set()


@pytest.fixture
def channel(agent_pids: set[int]) -> Iterator[Channel]:
    made = Channel(
        agent={"blocked": blocked},
        operator={"stop": stop},
        who=lambda pid: "agent" if pid in agent_pids else "operator",
    )
    yield made
    made.close()


def served(channel: Channel, message: Mapping[str, object]) -> tuple[Mapping[str, object], Cut | None]:
    """Ask from a thread while this one plays the supervisor."""
    answers: list[Mapping[str, object]] = []

    def run() -> None:
        try:
            answers.append(ask(str(channel.path), message))
        except UserError as e:
            answers.append({"refused": e.what})

    asker = threading.Thread(target=run)
    asker.start()
    cut: Cut | None = None
    while asker.is_alive():
        cut = channel.ready() or cut
        asker.join(0.001)
    return answers[0], cut


def test_the_operator_may_stop_the_run(channel: Channel) -> None:
    assert served(channel, {"verb": "stop"}) == ({"ok": True}, Cut(Why.STOP_NOW))


def test_e2_the_agent_may_report_blocked_and_nothing_else(channel: Channel, agent_pids: set[int]) -> None:
    agent_pids.add(os.getpid())
    assert served(channel, {"verb": "blocked", "needed": "a key"}) == ({"ok": True, "heard": "a key"}, Cut(Why.BLOCKED))
    answer, cut = served(channel, {"verb": "stop"})
    assert "the agent may not say 'stop'" in str(answer["refused"])
    assert cut is None


def test_e2_the_operator_may_not_pose_as_the_agent(channel: Channel) -> None:
    answer, cut = served(channel, {"verb": "blocked", "needed": "x"})
    assert "the operator may not say 'blocked'" in str(answer["refused"])
    assert cut is None


def test_the_pid_is_that_of_the_real_process_at_the_other_end(channel: Channel, agent_pids: set[int]) -> None:
    code = "import sys; from ralph.steer.speak import ask; ask(sys.argv[1], {'verb': 'blocked', 'needed': 'x'})"
    child = subprocess.Popen([sys.executable, "-c", code, str(channel.path)])
    agent_pids.add(child.pid)
    cut = None
    while child.poll() is None:
        cut = channel.ready() or cut
    assert child.returncode == 0
    assert cut == Cut(Why.BLOCKED)


def test_silent_connections_do_not_shut_the_operator_out(channel: Channel) -> None:
    silent = []
    for _ in range(100):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(channel.path))
        silent.append(connection)
        channel.ready()
    assert served(channel, {"verb": "stop"})[0] == {"ok": True}
    for connection in silent:
        connection.close()


@pytest.mark.parametrize("data", [b"\xff\n", b"[1]\n", b"{" * 5000 + b"\n", b"x" * 70_000, b"\n", b'{"verb": {}}\n'])
def test_hostile_bytes_get_an_answer(channel: Channel, data: bytes) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(channel.path))
        connection.sendall(data[:65536])
        connection.setblocking(False)
        heard = b""
        while not heard:
            assert channel.ready() is None
            try:
                heard = connection.recv(65536)
            except BlockingIOError:
                continue
        assert json.loads(heard)["ok"] is False


def test_e2_an_asker_that_cannot_be_placed_is_nobody() -> None:
    made = Channel(agent={"blocked": blocked}, operator={"stop": stop}, who=lambda _pid: None)
    answer, cut = served(made, {"verb": "stop"})
    made.close()
    assert "who is asking cannot be told" in str(answer["refused"])
    assert cut is None


def test_the_folder_is_private_and_goes_with_the_channel(channel: Channel) -> None:
    folder = channel.path.parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert len(str(channel.path)) < 100
    channel_two = Channel(agent={}, operator={}, who=lambda _pid: None)
    channel_two.close()
    assert not channel_two.path.parent.exists()


def test_nobody_there_is_one_clear_error() -> None:
    with pytest.raises(UserError, match="does not answer"):
        ask("/nonexistent/socket", {"verb": "stop"})


@pytest.mark.parametrize(
    ("fields", "claim"),
    [
        ({"tried": ["a", " "], "needed": " key "}, Blocked(("a",), "key")),
        ({"tried": [], "needed": "key"}, "say at least one thing you tried: --tried TEXT"),
        ({"tried": ["a"]}, "say what you need to go on: --needed TEXT"),
        ({"tried": "a", "needed": 3}, "say at least one thing you tried: --tried TEXT"),
    ],
)
def test_a_claim_needs_something_tried_and_something_needed(fields: dict[str, object], claim: object) -> None:
    assert blocked_from_fields(fields) == claim


def test_r069_two_lines_of_text_are_enough_for_an_agent_without_a_shell() -> None:
    answer = "I give up.\n`BLOCKED-7 tried: reading the docs`\r\n**BLOCKED-7 needed: an API key**\n"
    assert blocked_from_answer(answer, "BLOCKED-7") == Blocked(("reading the docs",), "an API key")
    assert blocked_from_answer(answer, "BLOCKED-8") is None
    assert blocked_from_answer("BLOCKED-7 needed: a key", "BLOCKED-7") is None


@given(st.text(max_size=400))
def test_any_answer_is_read_without_a_crash(answer: str) -> None:
    assert blocked_from_answer(answer, "BLOCKED-0123456789") is None
