"""The journal as it is written: what stands on the disk, and what is noticed when somebody else writes there."""

from __future__ import annotations

import json
import os
import stat
import zlib
from pathlib import Path

import pytest

from ralph.errors import UserError
from ralph.facts.reason import Reason
from ralph.journal import entries
from ralph.journal.log import Log
from ralph.journal.read import Record, Tail, parse, read
from tests.journal.examples import StillClock, iteration, started, stopped


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def begun(path: Path, *, records: int = 3) -> Log:
    log = Log.create(path, clock=StillClock())
    log.append(*started())
    for number in range(1, records):
        log.append(*entries.iteration_finished(iteration(number)))
    return log


def test_a_line_is_what_the_design_shows(path: Path) -> None:
    begun(path).close()
    line = path.read_bytes().splitlines()[1]
    data = json.loads(line)
    assert list(data)[:4] == ["n", "at", "up_s", "type"]
    assert list(data)[-1] == "crc"
    assert data["n"] == 2
    assert data["at"].endswith("Z")
    body, _, seal = line.rpartition(b',"crc":"')
    assert seal == b"%08x" % zlib.crc32(body) + b'"}'


def test_what_is_appended_is_read_back_in_order(path: Path) -> None:
    with begun(path, records=5):
        reading = read(path)
    assert [r.n for r in reading.records] == [1, 2, 3, 4, 5]
    assert [r.kind for r in reading.records] == ["run_started"] + ["iteration_finished"] * 4
    assert (reading.tail, reading.damage, reading.good_bytes) == (b"", None, path.stat().st_size)


def test_only_we_can_read_it(path: Path) -> None:
    """E13: 0600, and a planted link is not followed."""
    begun(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    other = path.with_name("other.jsonl")
    other.symlink_to(path.with_name("victim"))
    with pytest.raises(UserError) as caught:
        Log.create(other, clock=StillClock())
    assert caught.value.reason is Reason.STORAGE
    assert not path.with_name("victim").exists()


def test_the_descriptor_is_not_inherited(path: Path) -> None:
    with begun(path):
        ours = [p.name for p in Path("/proc/self/fd").iterdir() if p.exists() and p.samefile(path)]
        assert ours
        assert not any(os.get_inheritable(int(fd)) for fd in ours)


def test_an_iteration_comes_back_with_its_surrogates_and_escapes(path: Path) -> None:
    begun(path).close()
    data = read(path).records[1].fields["iteration"]
    assert isinstance(data, dict)
    assert data["changes"]["paths"][1] == "src/b\udcff.py"
    assert data["answer"] == "I fixed \x1b[31mit\x1b[0m"
    assert path.read_bytes().isascii()


def test_a_field_may_not_take_a_name_of_the_frame(path: Path) -> None:
    with begun(path) as log, pytest.raises(ValueError, match="crc"):
        log.append("finding", {"crc": "00000000"})


def test_going_on_continues_number_and_time(path: Path) -> None:
    begun(path).close()
    earlier = read(path).records
    told: list[Record] = []
    with Log.open(path, clock=StillClock(5.0), tell=told.append) as log:
        log.append(*stopped())
    assert told[: len(earlier)] == list(earlier)
    last = read(path).records[-1]
    assert last.n == len(earlier) + 1 == told[-1].n
    assert earlier[-1].up_s < last.up_s < earlier[-1].up_s + 10


@pytest.mark.parametrize("tail", [b'{"n":4,"at":"20', b"\0" * 4096, b"garbage", b"\xff\xfe\n", b"\n", b"{}\n"])
def test_a_torn_end_goes_to_a_side_file(path: Path, tail: bytes) -> None:
    """S2, R092: longest valid prefix; the tail is moved, not deleted."""
    begun(path).close()
    sound = path.read_bytes()
    path.write_bytes(sound + tail)
    assert read(path).tail == tail
    with Log.open(path, clock=StillClock()) as log:
        log.append(*stopped())
    assert path.read_bytes().startswith(sound)
    assert len(read(path).records) == 4
    assert [p.read_bytes() for p in path.parent.glob("journal.torn-*")] == [tail]


def test_two_torn_ends_at_one_place_are_both_kept(path: Path) -> None:
    begun(path).close()
    sound = path.read_bytes()
    for tail in (b"one", b"two"):
        path.write_bytes(sound + tail)
        Log.open(path, clock=StillClock()).close()
    assert sorted(p.read_bytes() for p in path.parent.glob("journal.torn-*")) == [b"one", b"two"]


def test_every_truncation_gives_the_longest_valid_prefix(path: Path) -> None:
    """S2: at each byte, the records whose newline is still there, and never "damaged"."""
    begun(path, records=4).close()
    data = path.read_bytes()
    for size in range(len(data)):
        reading = parse(data[:size])
        assert len(reading.records) == data[:size].count(b"\n")
        assert reading.damage is None
        assert data[: reading.good_bytes] + reading.tail == data[:size]


def test_an_altered_record_refuses_to_go_on(path: Path) -> None:
    """S3: bit rot in the middle and in the last record."""
    begun(path, records=4).close()
    data = path.read_bytes()
    for place in (data.index(b"elapsed_s"), data.rindex(b"elapsed_s"), data.rindex(b'"crc"') + 8, len(data) - 1):
        path.write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
        with pytest.raises(UserError, match="was altered") as caught:
            Log.open(path, clock=StillClock())
        assert caught.value.reason is Reason.STORAGE


def test_upper_case_hex_is_not_the_same_seal(path: Path) -> None:
    """S3: 37 flips were accepted where the hex was parsed as a number."""
    log = begun(path, records=12)
    log.close()
    lines = path.read_bytes().split(b"\n")
    at = next(n for n, line in enumerate(lines) if any(c in b"abcdef" for c in line[-10:-2]))
    lines[at] = lines[at][:-10] + lines[at][-10:].upper()
    assert len(parse(b"\n".join(lines)).records) == at


@pytest.mark.parametrize("schema", [2, 99, "1", None])
def test_another_major_schema_is_refused_by_name(path: Path, schema: object) -> None:
    """S8."""
    kind, fields = started()
    with Log.create(path, clock=StillClock()) as log:
        log.append(kind, {**fields, "schema": schema})
    with pytest.raises(UserError, match=r"schema .*this ralph reads schema 1"):
        read(path)
    with pytest.raises(UserError, match="schema"):
        Log.open(path, clock=StillClock())


def test_a_journal_without_a_record_cannot_be_resumed(path: Path) -> None:
    path.write_bytes(b"")
    with pytest.raises(UserError, match="no record"):
        Log.open(path, clock=StillClock())


def test_a_pipe_in_its_place_does_not_hang_the_reader(path: Path) -> None:
    os.mkfifo(path)
    with pytest.raises(UserError, match="not a plain file"):
        read(path)


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 10)


def extend(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"{}\n")


def swap(path: Path) -> None:
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data)


def remove(path: Path) -> None:
    path.unlink()


def edit_first(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b'{"m"')


def edit_last(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(-30, os.SEEK_END)
        file.write(b"0")


@pytest.mark.parametrize("deed", [truncate, extend, swap, remove, edit_first, edit_last])
def test_another_hand_on_the_journal_ends_the_run(path: Path, deed) -> None:  # type: ignore[no-untyped-def]
    """C4: storage, "tampered", and an emergency copy with every record, the one to be written included."""
    log = begun(path)
    original = path.read_bytes()
    before_ns = path.stat().st_ctime_ns
    deed(path)
    while path.exists() and path.stat().st_ctime_ns == before_ns:  # the clock of the file system ticks coarsely
        os.utime(path)
    with pytest.raises(UserError, match="tampered") as caught:
        log.append(*entries.reloaded("a", "b"))
    assert caught.value.reason is Reason.STORAGE
    assert log.copy is not None
    assert str(log.copy) in caught.value.fix
    assert log.copy.read_bytes().startswith(original)
    with pytest.raises(UserError, match="tampered"):
        log.append(*stopped())
    copied = read(log.copy)
    assert [r.kind for r in copied.records[-2:]] == ["reloaded", "run_stopped"]
    assert copied.damage is None
    log.close()


def test_an_edit_within_one_tick_is_seen_at_the_end(path: Path) -> None:
    """C4: the last record re-reads everything, whatever the change time says."""
    log = begun(path)
    edit_first(path)
    log._changed_ns = path.stat().st_ctime_ns  # private: stands for an edit in the very tick of our own write
    log.append(*entries.reloaded("a", "b"))
    with pytest.raises(UserError, match="earlier records were altered"):
        log.append(*stopped())
    log.close()


def test_touching_without_changing_is_no_tampering(path: Path) -> None:
    """A backup program that sets times or links the file must not end a run."""
    with begun(path) as log:
        os.utime(path)
        os.link(path, path.with_name("backup"))
        log.append(*stopped())
    assert len(read(path).records) == 4


def test_a_follower_gets_each_record_once(path: Path) -> None:
    with begun(path, records=2) as log:
        tail = Tail(path)
        assert [r.n for r in tail.fresh()] == [1, 2]
        assert tail.fresh() == []
        log.append(*stopped())
        assert [r.kind for r in tail.fresh()] == ["run_stopped"]


def test_the_reserve_is_there_while_the_run_lasts(path: Path) -> None:
    log = begun(path)
    assert path.with_name("journal.reserve").stat().st_blocks * 512 >= 16 << 10
    log.close()
    assert [p.name for p in path.parent.iterdir()] == ["journal.jsonl"]
