"""A guardian booted before its program is known: it serves like a fresh one, and a bad one costs nothing."""

from __future__ import annotations

import os
import select
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from ralph.facts.ending import Exited
from ralph.facts.job import Job, StdinBytes, StdinPipe
from ralph.process.boot import Booted, Interpreter, boot
from ralph.process.clock import SystemClock
from ralph.process.launch import Launcher
from ralph.process.signals import Signals
from tests.process.watch import ENV, Stage, Watch, descriptors, state, wait_until

BY = Interpreter()


@pytest.fixture
def eager(signals: Signals, tmp_path: Path) -> Iterator[Stage]:
    folder = tmp_path / "work"
    folder.mkdir()
    with Launcher(SystemClock(), signals, ahead=True) as launcher:
        yield Stage(launcher, folder)


@pytest.fixture
def booted(tmp_path: Path) -> Iterator[Booted]:
    made = boot(Job(("true",), tmp_path, ENV), by=BY)
    yield made
    made.drop()


def waiting(stage: Stage) -> Booted:
    made = stage.launcher._next  # the very thing these tests are about, with no other way to see it
    assert made is not None
    return made


def guardian_of(stage: Stage, *argv: str, stdin: bytes = b"") -> tuple[int | None, list[bytes]]:
    seen: list[int | None] = []
    watch = Watch(on_line=lambda _: seen.append(stage.launcher.guardian_pid))
    assert stage.run(*argv, watch=watch, stdin=StdinBytes(stdin)).how == Exited(0)
    return seen[0], watch.out


def test_the_next_program_runs_under_the_guardian_booted_ahead(eager: Stage) -> None:
    guardian_of(eager, "echo", "first")
    pid = waiting(eager).process.pid
    assert guardian_of(eager, "cat", stdin=b"the prompt\n") == (pid, [b"the prompt"])
    assert waiting(eager).process.pid != pid


def test_a_guardian_booted_ahead_serves_a_fed_and_a_conversed_program_alike(eager: Stage) -> None:
    guardian_of(eager, "echo", "first")
    pid, seen = waiting(eager).process.pid, list[int | None]()
    watch = Watch(on_line=lambda _: seen.append(eager.launcher.guardian_pid))
    assert eager.run("cat", watch=watch, stdin=StdinPipe(b"said\n")).how == Exited(0)
    assert (seen, watch.out) == ([pid], [b"said"])


def test_a_guardian_killed_while_it_waited_is_replaced(eager: Stage) -> None:
    guardian_of(eager, "echo", "first")
    pid = waiting(eager).process.pid
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: state(pid) == "Z", what="dead")
    other, out = guardian_of(eager, "echo", "second")
    assert (other != pid, out) == (True, [b"second"])


def test_a_program_without_input_reads_the_null_device_not_an_empty_file(eager: Stage) -> None:
    for _ in range(2):
        assert guardian_of(eager, "stat", "-L", "-c", "%F", "/dev/stdin")[1] == [b"character special file"]


def test_a_folder_made_anew_gets_a_guardian_of_its_own(eager: Stage) -> None:
    guardian_of(eager, "echo", "first")
    pid = waiting(eager).process.pid
    eager.folder.rename(eager.folder.with_name("old"))
    eager.folder.mkdir()
    Path(eager.folder, "fresh").touch()
    other, out = guardian_of(eager, "ls")
    assert (other != pid, out) == (True, [b"fresh"])


def test_a_folder_that_is_gone_starts_nothing(eager: Stage) -> None:
    guardian_of(eager, "echo", "first")
    shutil.rmtree(eager.folder)
    assert "work" in str(eager.run("echo", "second").how)


def test_another_environment_mark_gets_a_guardian_of_its_own(tmp_path: Path, booted: Booted) -> None:
    assert booted.fits(Job(("true",), tmp_path, ENV), by=BY)
    assert not booted.fits(Job(("true",), tmp_path, {**ENV, "RALPH_RUN": "r"}), by=BY)


def test_a_waiting_guardian_leaves_when_its_life_line_ends(tmp_path: Path, booted: Booted) -> None:
    """SIGKILL of ralph closes the line: nothing may be left, also not a guardian that has nothing to guard."""
    watched = os.pidfd_open(booted.process.pid)
    os.close(booted.life)
    assert select.select([watched], [], [], 20.0)[0]
    os.close(watched)
    assert booted.process.wait() == 0


def test_a_launcher_leaves_no_descriptor_and_no_guardian_behind(signals: Signals, tmp_path: Path) -> None:
    before = descriptors()
    with Launcher(SystemClock(), signals, ahead=True) as launcher:
        stage = Stage(launcher, tmp_path)
        guardian_of(stage, "echo", "first")
        held, pid = descriptors(), waiting(stage).process.pid
        for _ in range(5):
            guardian_of(stage, "echo", "more")
        assert descriptors() == held
        pid = waiting(stage).process.pid
    assert (descriptors(), state(pid)) == (before, "")
