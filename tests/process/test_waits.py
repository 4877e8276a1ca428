"""Waiting without a child, programs beside the loop, signals and sides, and the clocks."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from ralph.facts.ending import Cut, Exited, NotStarted, Signalled, Why
from ralph.facts.job import Job, Logs, TimeRules
from ralph.process.clock import SystemClock
from ralph.process.launch import Launcher
from ralph.process.signals import Signals
from tests.process.watch import ENV, Stage, Watch, alive, descriptors, wait_until, when


class Doorbell:
    """A side that asks for an end as soon as a byte comes."""

    def __init__(self, cut: Cut | None) -> None:
        self._cut = cut
        self.heard = 0
        self._ours, self.button = socket.socketpair()
        self._ours.setblocking(False)

    def fileno(self) -> int:
        return self._ours.fileno()

    def ready(self) -> Cut | None:
        self.heard += len(self._ours.recv(16))
        return self._cut

    def press(self) -> None:
        self.button.send(b"x")

    def close(self) -> None:
        self._ours.close()
        self.button.close()


@pytest.fixture
def bell() -> Iterator[Doorbell]:
    made = Doorbell(Cut(Why.STOP_NOW))
    yield made
    made.close()


class JumpingClock(SystemClock):
    """Real time may jump (suspension); the wall clock must not be asked."""

    ahead_s = 0.0

    def real(self) -> float:
        return super().real() + self.ahead_s

    def now(self) -> datetime:
        raise AssertionError("A25: nothing decides on the wall clock")


def interrupt(number: int = signal.SIGINT) -> None:
    os.kill(os.getpid(), number)


def test_a_wait_lasts_as_long_as_asked(stage: Stage) -> None:
    clock = SystemClock()
    began = clock.real()
    assert stage.launcher.wait(0.05) is None
    assert clock.real() - began >= 0.05


def test_a_wait_ends_early_by_a_side(stage: Stage, bell: Doorbell) -> None:
    bell.press()
    assert stage.launcher.wait(600, sides=(bell,)) == Cut(Why.STOP_NOW)


def test_a_wait_ends_early_by_a_signal(stage: Stage) -> None:
    timer = threading.Timer(0.05, interrupt)
    timer.start()
    assert stage.launcher.wait(600) == Cut(Why.SIGNAL, "got SIGINT")
    timer.join()
    assert stage.launcher.interruption() == signal.SIGINT
    assert stage.launcher.wait(600) == Cut(Why.SIGNAL, "got SIGINT")


def test_nothing_starts_after_a_signal(stage: Stage) -> None:
    interrupt(signal.SIGTERM)
    ended = stage.run(*stage.stub("escape=daemon"))
    assert isinstance(ended.how, NotStarted)
    assert ended.cut == Cut(Why.SIGNAL, "got SIGTERM")
    assert not Path(stage.folder, "born").exists()


def test_a18_the_first_signal_ends_the_child_with_grace(stage: Stage) -> None:
    watch = Watch(on_line=when(b"up", interrupt))
    ended = stage.run(*stage.stub("escape=daemon", "say=up", "sleep=600"), watch=watch)
    assert (ended.how, ended.cut) == (Signalled(signal.SIGTERM), Cut(Why.SIGNAL, "got SIGINT"))
    assert stage.alive() == []


def test_a19_the_second_signal_ends_the_child_at_once(stage: Stage) -> None:
    def twice() -> None:
        interrupt()
        timer.start()

    timer = threading.Timer(0.1, interrupt)
    watch = Watch(on_line=when(b"deaf now", twice))
    ended = stage.run(*stage.stub("deaf", "say=deaf now", "sleep=600"), watch=watch, rules=TimeRules(grace_s=600))
    timer.join()
    assert ended.how == Signalled(signal.SIGKILL)
    assert ended.cut == Cut(Why.SIGNAL, "got SIGINT")
    assert ended.elapsed_s < 4.0  # the longest grace after one signal


def test_signals_give_back_what_they_took() -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    opened = descriptors()
    with Signals() as signals:
        interrupt(signal.SIGHUP)
        assert signals.received == (signal.SIGHUP,)
        assert not signals.take()
    assert {number: signal.getsignal(number) for number in before} == before
    assert descriptors() == opened


def test_an_ignored_signal_stays_ignored() -> None:
    old = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Signals() as signals:
            interrupt(signal.SIGHUP)
            assert signals.received == ()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, old)


def test_a_side_is_heard_while_a_child_runs(stage: Stage, bell: Doorbell) -> None:
    watch = Watch(on_line=when(b"up", bell.press))
    ended = stage.run(*stage.stub("say=up", "sleep=600"), watch=watch, sides=(bell,))
    assert (ended.cut, bell.heard) == (Cut(Why.STOP_NOW), 1)


def test_a24_a_deadline_passed_while_the_machine_slept_ends_the_child(signals: Signals, tmp_path: Path) -> None:
    clock = JumpingClock()

    def sleep_overnight() -> None:
        clock.ahead_s = 50_000.0

    with Launcher(clock, signals) as launcher:
        watch = Watch(on_line=when(b"up", sleep_overnight))
        rules = TimeRules(total_s=1000, deadline_s=clock.real() + 1000, grace_s=0.2)
        ended = Stage(launcher, tmp_path).run("/bin/sh", "-c", "echo up; exec sleep 600", watch=watch, rules=rules)
    assert ended.cut is not None
    assert ended.cut.why is Why.DEADLINE


def test_a24_the_iteration_limit_does_not_count_sleep(signals: Signals, tmp_path: Path) -> None:
    clock = JumpingClock()
    clock.ahead_s = 1e6
    with Launcher(clock, signals) as launcher:
        ended = Stage(launcher, tmp_path).run("/bin/true", rules=TimeRules(total_s=100))
    assert (ended.how, ended.cut) == (Exited(0), None)


def test_a25_no_decision_asks_the_wall_clock(signals: Signals, tmp_path: Path) -> None:
    with Launcher(JumpingClock(), signals) as launcher:
        stage = Stage(launcher, tmp_path)
        assert stage.run("/bin/sleep", "600", rules=TimeRules(total_s=0.1, idle_s=50, grace_s=0.1)).cut is not None
        assert launcher.wait(0.01) is None


def database(stage: Stage, *steps: str, grace_s: float = 0.2) -> Job:
    logs = Logs(stage.folder / "db.out", stage.folder / "db.err")
    return Job(stage.stub(*steps), stage.folder, ENV, time=TimeRules(grace_s=grace_s), logs=logs)


def test_a_program_beside_runs_on_and_ends_with_its_whole_tree(stage: Stage) -> None:
    beside = stage.launcher.beside(database(stage, "escape=scrubbed_daemon", "say=serving", "deaf", "sleep=600"))
    wait_until(lambda: Path(stage.folder, "born").exists(), what="it serves")
    assert stage.run("/bin/true").how == Exited(0)
    assert not beside.ended()
    assert len(stage.alive()) >= 2
    beside.close()
    assert stage.alive() == []
    assert beside.ended()
    assert Path(stage.folder, "db.out").read_bytes() == b"serving\n"
    beside.close()


def test_a_program_beside_that_floods_is_read_while_a_child_runs(stage: Stage) -> None:
    script = "head -c 1000000 /dev/zero; touch done; exec sleep 600"
    logs = Logs(stage.folder / "db.out", stage.folder / "db.err", cap_bytes=1000)
    stage.launcher.beside(Job(("/bin/sh", "-c", script), stage.folder, ENV, time=TimeRules(grace_s=0.2), logs=logs))
    ended = stage.run("/bin/sh", "-c", "while [ ! -e done ]; do sleep 0.01; done")
    assert ended.how == Exited(0)


def test_a_program_beside_that_ends_says_so(stage: Stage) -> None:
    beside = stage.launcher.beside(database(stage, "escape=daemon", "exit=3"))
    wait_until(beside.ended, what="it has ended")
    assert beside.how == Exited(3)
    stage.launcher.wait(0.5)
    wait_until(lambda: stage.alive() == [], what="its daemon is swept")


def test_a_program_beside_that_cannot_start_has_ended(stage: Stage) -> None:
    beside = stage.launcher.beside(Job(("no-such-database",), stage.folder, ENV))
    assert beside.ended()
    assert isinstance(beside.how, NotStarted)
    beside.close()


def test_a_program_beside_survives_a_killed_guardian_of_a_child(stage: Stage) -> None:
    """A12: what a dead guardian leaves is told from what belongs to others."""
    beside = stage.launcher.beside(database(stage, "escape=daemon", "sleep=600"))
    wait_until(lambda: Path(stage.folder, "born").exists(), what="it serves")
    other = Stage(stage.launcher, stage.folder)
    other.run(*other.stub("escape=daemon", "kill-guardian", "sleep=600"))
    assert alive(other.token) == []
    assert len(stage.alive()) == 2
    assert not beside.ended()
    beside.close()
    assert stage.alive() == []


def test_closing_the_launcher_ends_what_runs_beside(signals: Signals, tmp_path: Path) -> None:
    opened = descriptors()
    with Launcher(SystemClock(), signals) as launcher:
        stage = Stage(launcher, tmp_path)
        launcher.beside(database(stage, "escape=daemon", "sleep=600"))
        wait_until(lambda: Path(stage.folder, "born").exists(), what="it serves")
    assert stage.alive() == []
    assert descriptors() == opened
