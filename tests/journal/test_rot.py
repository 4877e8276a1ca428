"""Kills of a real writer and flipped bits: nothing acknowledged is lost, nothing altered is accepted."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ralph.journal import entries
from ralph.journal.log import Log
from ralph.journal.read import parse, read
from tests.journal.examples import StillClock, started, stopped

WRITER = """
import sys
from pathlib import Path
from ralph.journal.log import Log
from tests.journal.examples import StillClock, started
log = Log.create(Path(sys.argv[1]), clock=StillClock())
log.append(*started())
n = 1
while True:
    log.append("finding", {"kind": "x", "detail": "y" * (n * 977 % 20000)})
    n += 1
    print(n, flush=True)
"""


def killed(path: Path, *, after: int) -> tuple[int, int]:
    """Return (records acknowledged, records on disk) of a writer killed while it writes."""
    root = Path(__file__).resolve().parents[2]
    child = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, cwd=root)
    assert child.stdout is not None
    last = 0
    for line in child.stdout:
        last = int(line)
        if last == after:
            child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    reading = read(path)
    assert reading.damage is None
    return last, len(reading.records)


@pytest.mark.parametrize("after", [2, 17, 40])
def test_no_acknowledged_record_is_lost_to_a_kill(tmp_path: Path, after: int) -> None:
    """S1."""
    acknowledged, there = killed(tmp_path / "journal.jsonl", after=after)
    assert there >= acknowledged >= after


@pytest.mark.slow
def test_no_acknowledged_record_is_lost_to_sixty_kills(tmp_path: Path) -> None:
    for number in range(60):
        acknowledged, there = killed(tmp_path / f"{number}.jsonl", after=2 + number * 7 % 90)
        assert there >= acknowledged


def flips(path: Path, count: int) -> None:
    with Log.create(path, clock=StillClock()) as log:
        log.append(*started())
        for number in range(1, 12):
            log.append(*entries.iteration_started(number, hold_micro=number, prompt_hash="ab" * 32, note="n"))
        log.append(*stopped())
    data = path.read_bytes()
    true = parse(data).records
    dice = random.Random(3)
    for _ in range(count):
        place, value = dice.randrange(len(data)), dice.randrange(256)
        value = data[place] ^ (1 << dice.randrange(8)) if dice.random() < 0.5 or value == data[place] else value
        reading = parse(data[:place] + bytes([value]) + data[place + 1 :])
        assert reading.records == true[: len(reading.records)], "an altered record was accepted"
        assert len(reading.records) < len(true)
        assert reading.damage is not None or value == 0 or len(reading.records) == len(true) - 1


def test_random_flips_are_never_accepted(tmp_path: Path) -> None:
    """S3."""
    flips(tmp_path / "journal.jsonl", 2000)


@pytest.mark.slow
def test_twenty_thousand_flips_are_never_accepted(tmp_path: Path) -> None:
    flips(tmp_path / "journal.jsonl", 100_000)
