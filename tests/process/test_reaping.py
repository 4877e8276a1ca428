"""A14: the pid of a child that was collected may be anybody's by the next moment: it is signalled no more."""

from __future__ import annotations

import select
import time
from pathlib import Path

import pytest

from ralph.facts.ending import Exited, Signalled
from ralph.facts.job import Job, TimeRules
from ralph.process.boot import GUARDIAN, Interpreter
from ralph.process.guarded import Started, start
from tests.process.watch import ENV, Stage

RECORDER = """
import os, runpy, sys

def noted(words, before, after):
    data = f"{words} {before} {after}\\n".encode()
    fd = os.open(%(log)r, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(fd, data)
    os.close(fd)

def recorded(name):
    real = getattr(os, name)
    def act(*args):
        if name != "waitpid":
            noted(name, *args)
        result = real(*args)
        if name == "waitpid" and result[0]:
            noted("reaped", result[0], 0)
        return result
    return act

for name in ("kill", "killpg", "waitpid"):
    setattr(os, name, recorded(name))
runpy.run_path(%(guardian)r, run_name="__main__")
"""


def calls_of(stage: Stage, *steps: str, end_s: float | None = None) -> tuple[list[tuple[str, int]], int, object]:
    """Run a program under a guardian that notes its calls; return (call, pid) in order, the program's pid, its end."""
    log, recorder = stage.folder / "calls", stage.folder / "recorder.py"
    recorder.write_text(RECORDER % {"log": str(log), "guardian": str(GUARDIAN)}, encoding="utf-8")
    job = Job(stage.stub(*steps), stage.folder, ENV, time=TimeRules(grace_s=0.1))
    by = Interpreter(guardian=recorder)
    started = start(job, hard_at=time.monotonic() + 600.0, by=by, others=frozenset())
    assert isinstance(started, Started)
    guarded = started.guarded
    try:
        if end_s is not None:
            guarded.order("end", in_s=end_s)
        assert guarded.pidfd is not None
        assert select.select([guarded.pidfd], [], [], 60.0)[0]
        guarded.hear()
        assert guarded.program is not None
        return noted(log), guarded.program, guarded.how
    finally:
        started.close()
        guarded.release()


def noted(log: Path) -> list[tuple[str, int]]:
    lines = log.read_text(encoding="ascii").splitlines() if log.exists() else []
    return [(words.split()[0], int(words.split()[1])) for words in lines]


def assert_nothing_collected_is_signalled(calls: list[tuple[str, int]]) -> None:
    for at, (call, pid) in enumerate(calls):
        if call == "reaped":
            assert ("kill", pid) not in calls[at:]
            assert ("killpg", pid) not in calls[at:]


def test_a14_a_group_is_signalled_before_its_leader_is_collected(stage: Stage) -> None:
    calls, program, how = calls_of(stage, "escape=ignores_term", "deaf", "sleep=600", end_s=0.5)
    assert isinstance(how, Signalled)
    assert ("killpg", program) in calls, "the limit ends the whole group"
    assert_nothing_collected_is_signalled(calls)
    assert stage.alive() == []


@pytest.mark.parametrize("shape", ["plain", "own_group", "respawner"])
def test_a14_a_leader_that_left_by_itself_is_not_signalled_though_its_group_lives(stage: Stage, shape: str) -> None:
    calls, program, how = calls_of(stage, f"escape={shape}", "exit=0")
    assert how == Exited(0)
    assert [call for call in calls if call[0] == "killpg"] == []
    assert ("reaped", program) in calls
    assert any(call == "kill" for call, _ in calls), "its helper is ended by its own pid"
    assert_nothing_collected_is_signalled(calls)
    assert stage.alive() == []
