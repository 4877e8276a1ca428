"""The escape matrix: however a process hides, it is gone when `run` returns (faults.md 3.1; A5, A6, A7)."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ralph.facts.ending import Cut, Exited, Why
from tests.process.watch import Stage, Watch, descriptors, when

SHAPES = (
    "plain",
    "nohup",
    "ignores_term",
    "own_group",
    "own_session",
    "daemon",
    "scrubbed_daemon",
    "respawner",
    "pid_namespace",
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux adopts orphans")


@pytest.fixture(params=SHAPES)
def shape(request: pytest.FixtureRequest) -> str:
    if request.param == "pid_namespace":
        allowed = subprocess.run(["unshare", "-pf", "true"], capture_output=True, check=False).returncode == 0
        if not allowed:
            pytest.skip("this user may not make process namespaces")
    return str(request.param)


def test_no_escape_outlives_a_leader_that_left(stage: Stage, shape: str) -> None:
    """A5 (daemons), A6 (groups and sessions of their own), A7 (whoever starts another for each TERM)."""
    ended = stage.run(*stage.stub(f"escape={shape}", "exit=0"))
    assert ended.how == Exited(0)
    assert stage.born()
    assert stage.alive() == []
    assert ended.survivors


def test_no_escape_outlives_a_leader_that_is_ended(stage: Stage, shape: str) -> None:
    """A5, A6, A7."""
    watch = Watch(on_line=when(b"ready", lambda: Cut(Why.LOOPING)))
    ended = stage.run(*stage.stub(f"escape={shape}", "say=ready", "sleep=600"), watch=watch)
    assert ended.cut == Cut(Why.LOOPING)
    assert stage.born()
    assert stage.alive() == []


def test_a8_a_fork_bomb_is_swept(stage: Stage) -> None:
    watch = Watch(on_line=when(b"ready", lambda: Cut(Why.LOOPING, at_once=True)))
    script = '"$@" & while [ $(cat born 2>/dev/null | wc -l) -lt 64 ]; do sleep 0.01; done; echo ready; wait'
    ended = stage.run("/bin/sh", "-c", script, "sh", *stage.stub("bomb=6"), watch=watch)
    assert ended.cut == Cut(Why.LOOPING, at_once=True)
    assert len(stage.born()) >= 64
    assert stage.alive() == []


def test_a9_a_pid_hopper_is_swept(stage: Stage) -> None:
    ended = stage.run(*stage.stub("hop", "say=hopping"))
    assert ended.how == Exited(0)
    assert stage.alive() == []


def test_a10_a_stopped_child_and_a_stopped_helper_are_ended(stage: Stage) -> None:
    watch = Watch(on_line=when(b"ready", lambda: Cut(Why.LOOPING)))
    ended = stage.run(*stage.stub("escape=own_session", "say=ready", "stop=self", "sleep=600"), watch=watch)
    assert ended.cut == Cut(Why.LOOPING)
    assert stage.alive() == []


def test_survivors_are_named(stage: Stage) -> None:
    ended = stage.run("/bin/sh", "-c", "setsid sleep 600 >/dev/null 2>&1 & exit 3")
    assert ended.how == Exited(3)
    assert [survivor.name for survivor in ended.survivors] in (["sleep"], ["setsid"], ["sh"])
    assert not ended.leaky


def test_nothing_is_reported_where_nothing_was_left(stage: Stage) -> None:
    ended = stage.run("/bin/sh", "-c", "sleep 0 & wait; true | cat")
    assert (ended.how, ended.survivors, ended.leaky) == (Exited(0), (), False)


def test_descriptors_do_not_leak_into_the_child_or_pile_up_here(stage: Stage) -> None:
    """C23: a child sees 0, 1, 2 and nothing of ours."""
    watch = Watch()
    stage.run("/bin/true")
    before = descriptors()
    for _ in range(3):
        stage.run("/bin/sh", "-c", "ls /proc/$$/fd", watch=watch)
    assert set(watch.out) <= {b"0", b"1", b"2"}
    assert descriptors() == before
