"""What a child prints: lines, raw logs, counts; whatever its size, shape and bytes."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.facts.ending import Exited
from ralph.facts.job import Logs
from ralph.process.lines import Lines
from ralph.process.rawlog import RawLog
from tests.process.watch import Stage, Watch

BYTES = st.lists(st.sampled_from([b"\n", b"a", b"bb", b"\r\n", b"\xff\x00", b"c" * 9]), max_size=60).map(b"".join)


def split(text: bytes, sizes: list[int]) -> list[bytes]:
    chunks, at = [], 0
    for size in sizes:
        chunks.append(text[at : at + size])
        at += size
    return [chunk for chunk in [*chunks, text[at:]] if chunk]


@given(text=BYTES, sizes=st.lists(st.integers(1, 12), max_size=40), cap=st.integers(1, 20))
def test_lines_do_not_depend_on_how_the_bytes_arrive(text: bytes, sizes: list[int], cap: int) -> None:
    lines = Lines(cap)
    got = [line for chunk in split(text, sizes) for line in lines.feed(chunk)] + lines.rest()
    every = text.split(b"\n")
    if not every[-1]:
        every.pop()
    assert got == [line for line in every if len(line) <= cap]
    assert lines.skipped == len(every) - len(got)


@given(parts=st.lists(st.binary(max_size=30), max_size=20), cap=st.integers(1, 40))
def test_b1_a_raw_log_is_head_note_and_tail(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], cap: int
) -> None:
    path = tmp_path_factory.mktemp("log") / "out"
    log = RawLog(path, cap_bytes=cap)
    for part in parts:
        log.write(part)
    log.close()
    everything = b"".join(parts)
    head, tail = cap // 2, max(1, cap - cap // 2)
    left_out = len(everything) - head - tail
    expected = everything
    if left_out > 0:
        expected = everything[:head] + b"\n[ralph: %d bytes left out here]\n" % left_out + everything[-tail:]
    assert path.read_bytes() == expected
    assert log.trouble == ""


def test_b3_bytes_come_through_as_they_are(stage: Stage, tmp_path: Path) -> None:
    odd = b"\x00\xff\xfe\xc3\n\xed\xa0\x80\r\nlast without newline \xe2\x82"
    Path(tmp_path, "odd").write_bytes(odd)
    logs, watch = Logs(tmp_path / "out", tmp_path / "err"), Watch()
    ended = stage.run("/bin/cat", "odd", watch=watch, logs=logs)
    assert watch.out == odd.split(b"\n")
    assert (logs.out.read_bytes(), logs.err.read_bytes()) == (odd, b"")
    assert ended.bytes_out == len(odd)


def test_e13_logs_are_ours_alone_and_follow_no_planted_link(stage: Stage, tmp_path: Path) -> None:
    Path(tmp_path, "victim").write_text("untouched")
    logs = Logs(tmp_path / "out", tmp_path / "err")
    logs.err.symlink_to(tmp_path / "victim")
    ended = stage.run("/bin/sh", "-c", "echo to out; echo to err >&2", logs=logs)
    assert ended.how == Exited(0)
    assert logs.out.stat().st_mode & 0o777 == 0o600
    assert Path(tmp_path, "victim").read_text() == "untouched"
    assert str(logs.err) in ended.log_trouble


def test_a_full_disk_ends_the_log_and_not_the_run(stage: Stage, tmp_path: Path) -> None:
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, old[1]))
    try:
        log = RawLog(tmp_path / "out", cap_bytes=10_000)
        for _ in range(5):
            log.write(b"x" * 600)
        log.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
    assert log.trouble
    assert Path(tmp_path, "out").stat().st_size == 1000


def test_b2_a_line_over_the_cap_is_counted_skipped_and_logged(stage: Stage, tmp_path: Path) -> None:
    watch, logs = Watch(), Logs(tmp_path / "out", tmp_path / "err", cap_bytes=200)
    script = "echo first; head -c 3000000 /dev/zero; echo; echo last; head -c 5000 /dev/zero"
    ended = stage.run("/bin/sh", "-c", script, watch=watch, logs=logs, line_cap=4096)
    assert (watch.out, ended.lines_skipped) == ([b"first", b"last"], 2)
    assert logs.out.read_bytes().startswith(b"first\n\0")
    assert logs.out.stat().st_size < 300


def test_a_long_line_under_the_cap_comes_whole(stage: Stage) -> None:
    watch = Watch()
    ended = stage.run("/bin/sh", "-c", "head -c 9000000 /dev/zero | tr '\\0' x", watch=watch)
    assert [len(line) for line in watch.out] == [9_000_000]
    assert ended.lines_skipped == 0


def memory_over(stage: Stage, megabytes: int) -> int:
    """Return by how many KiB this process grew at its highest while a child printed so much."""
    stage.run("/bin/true")
    Path("/proc/self/clear_refs").write_text("5")  # forget the highest so far
    before = highest_kib()
    line = "x" * 4900
    script = f"yes {line} | head -c {megabytes << 20}"

    class Forgetful(Watch):
        def line(self, stream: object, line: bytes) -> None:
            return None

    logs = Logs(stage.folder / "out", stage.folder / "err", cap_bytes=1 << 20)
    ended = stage.run("/bin/sh", "-c", script, watch=Forgetful(), logs=logs)
    assert ended.bytes_out == megabytes << 20
    return highest_kib() - before


def highest_kib() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def test_b1_memory_stays_flat_over_200_mb(stage: Stage) -> None:
    assert memory_over(stage, 200) < 8 << 10


@pytest.mark.slow
def test_b1_memory_stays_flat_over_1_gb(stage: Stage) -> None:
    assert memory_over(stage, 1024) < 8 << 10


def test_the_child_is_not_held_up_by_a_log_that_cannot_be_made(stage: Stage) -> None:
    logs = Logs(Path("/nonexistent/out"), Path("/nonexistent/err"))
    watch = Watch()
    ended = stage.run("/bin/echo", "hello", logs=logs, watch=watch)
    assert (ended.how, watch.out) == (Exited(0), [b"hello"])
    assert "/nonexistent/out" in ended.log_trouble
    assert not os.path.lexists("/nonexistent")
