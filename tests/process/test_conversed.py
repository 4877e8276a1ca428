"""A child that is spoken to while it works: every reply arrives, in order, and what is owed is bounded."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from ralph.facts.ending import Cut, Exited, Why
from ralph.facts.job import StdinPipe, TimeRules
from ralph.ports import Stream
from tests.process.watch import Stage, Watch

READS_WHILE_IT_ASKS = """
import hashlib, os, sys, threading
def ask():
    for n in range(40_000):
        os.write(1, b"%d\\n" % n)
thread = threading.Thread(target=ask)
thread.start()
wanted = all(sys.stdin.buffer.readline() == b"%06d" % n + b"x" * 1000 + b"\\n" for n in range(40_000))
thread.join()
print("all in order" if wanted else "lost", flush=True)
sys.stdin.buffer.read()
"""
NEVER_READS = """
import os
while True:
    os.write(1, b"more\\n" * 1000)
"""
CLOSES_AND_ASKS = """
import os
os.close(0)
for n in range(100_000):
    os.write(1, b"more\\n")
"""


@dataclass
class Answering(Watch):
    """Answers each line of stdout with a thousand bytes. owed: bytes of answers made."""

    owed: int = 0

    def line(self, stream: Stream, line: bytes) -> Cut | None:
        if line == b"all in order":
            self.says_no_more = True
            return super().line(stream, line)
        reply = b"%06d" % int(line) + b"x" * 1000 + b"\n" if line.isdigit() else b"y" * 1000 + b"\n"
        self._replies += reply
        self.owed += len(reply)
        return None

    def __post_init__(self) -> None:
        self._replies = bytearray()
        self.says_no_more = False

    def replies(self) -> bytes:
        said, self._replies = bytes(self._replies), bytearray()
        return said


def test_forty_megabytes_of_answers_reach_a_child_that_reads_while_it_asks(stage: Stage) -> None:
    watch = Answering()
    ended = stage.run(sys.executable, "-I", "-S", "-c", READS_WHILE_IT_ASKS, watch=watch, stdin=StdinPipe())
    assert (ended.how, watch.out) == (Exited(0), [b"all in order"])


def test_a_child_that_asks_and_never_reads_is_read_no_further_and_ended_by_its_limit(stage: Stage) -> None:
    watch = Answering()
    rules = TimeRules(total_s=1.5, grace_s=0.2)
    ended = stage.run(sys.executable, "-I", "-S", "-c", NEVER_READS, watch=watch, stdin=StdinPipe(), rules=rules)
    assert ended.cut is not None
    assert ended.cut.why is Why.ITERATION_TIME
    assert watch.owed < 48 << 20


def test_answers_to_a_child_that_closed_its_stdin_are_dropped(stage: Stage) -> None:
    watch = Answering()
    ended = stage.run(sys.executable, "-I", "-S", "-c", CLOSES_AND_ASKS, watch=watch, stdin=StdinPipe(b"x" * 100_000))
    assert ended.how == Exited(0)
    assert watch.replies() == b""
    assert watch.owed == 100_000 * 1001
