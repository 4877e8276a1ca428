"""An agent's own record is followed as it grows, and neither waited for nor trusted."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ralph.agents.codex_stream import CodexReader
from ralph.agents.plain import PlainReader
from ralph.facts.event import Event, Started, UsageSeen
from ralph.loop.record import NEWEST, Record

THREAD = "01a22abd-b3bf-7882-8c97-f660544a893f"


def counted(total: int) -> bytes:
    usage = {"input_tokens": total, "cached_input_tokens": 0, "output_tokens": 10}
    payload = {"type": "token_count", "info": {"total_token_usage": usage}}
    return json.dumps({"type": "event_msg", "payload": payload}, separators=(",", ":")).encode() + b"\n"


def started(home: Path) -> Record:
    reader = CodexReader()
    reader.line("out", json.dumps({"type": "thread.started", "thread_id": THREAD}).encode())
    return Record(reader, {"CODEX_HOME": str(home)})


def path_of(home: Path, day: str = "2026/11/30") -> Path:
    path = home / "sessions" / day / f"rollout-2026-11-30T04-36-45-{THREAD}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def inputs(events: tuple[Event, ...]) -> list[int]:
    return [e.tokens.input for e in events if isinstance(e, UsageSeen) and e.tokens is not None]


def test_each_model_call_is_told_as_it_is_written(tmp_path: Path) -> None:
    record = started(tmp_path)
    assert record.news() == ()
    path = path_of(tmp_path)
    path.write_bytes(b'{"type":"session_meta","payload":{"id":"x"}}\n' + counted(1000))
    assert inputs(record.news()) == [1000]
    assert record.news() == ()
    with path.open("ab") as file:
        file.write(counted(2000) + counted(3000)[:40])
    assert inputs(record.news()) == [2000]
    with path.open("ab") as file:
        file.write(counted(3000)[40:])
    assert inputs(record.news()) == [3000]


def test_its_model_is_told(tmp_path: Path) -> None:
    record = started(tmp_path)
    path_of(tmp_path).write_bytes(b'{"type":"turn_context","payload":{"model":"gpt-5.5"}}\n')
    assert record.news() == (Started(THREAD, "gpt-5.5"),)


def test_of_many_days_the_newest_are_looked_at(tmp_path: Path) -> None:
    record = started(tmp_path)
    for day in range(10, 20):
        (tmp_path / "sessions" / "2026" / "11" / str(day)).mkdir(parents=True)
    path_of(tmp_path, "2026/11/10").write_bytes(counted(1))
    assert record.news() == ()
    path_of(tmp_path, f"2026/11/{20 - NEWEST}").write_bytes(counted(2))
    assert inputs(record.news()) == [2]


@pytest.mark.parametrize("kind", ["pipe", "link", "folder"])
def test_what_is_no_plain_file_is_not_read_and_not_waited_for(tmp_path: Path, kind: str) -> None:
    path = path_of(tmp_path)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        (tmp_path / "other").write_bytes(counted(1000))
        path.symlink_to(tmp_path / "other")
    else:
        path.mkdir()
    assert started(tmp_path).news() == ()


@pytest.mark.parametrize(
    "line", [b"", b"\xff", b"[1]", b'{"payload":7}"token_count"', b'{"payload":{"info":["token_count"]}}']
)
def test_no_line_of_it_makes_the_reader_fail(line: bytes) -> None:
    assert CodexReader().recorded(line) == ()


@pytest.mark.parametrize("thread", ["", "../../etc/passwd", "*", "x" * 100])
def test_a_name_that_is_none_is_not_looked_for(tmp_path: Path, thread: str) -> None:
    reader = CodexReader()
    reader.line("out", json.dumps({"type": "thread.started", "thread_id": thread}).encode())
    assert reader.record({"CODEX_HOME": str(tmp_path)}) is None


def test_other_agents_have_none(tmp_path: Path) -> None:
    assert Record(PlainReader(), {"HOME": str(tmp_path)}).news() == ()
