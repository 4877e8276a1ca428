"""What an agent of the same user may try on its guardian and its supervisor, and what the supervisor survives."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from ralph.facts.ending import Exited, Poisoned, Why
from ralph.facts.job import Job, TimeRules
from ralph.process.boot import GUARDIAN, Interpreter
from ralph.process.guarded import Started, start
from tests.process.watch import ENV, Stage, Watch, alive, state, wait_until

ROOT = Path(__file__).resolve().parents[2]


def test_the_guardian_fits_two_screens() -> None:
    assert len(GUARDIAN.read_text().splitlines()) <= 120


def test_a12_a_killed_guardian_leaves_nobody_behind(stage: Stage) -> None:
    ended = stage.run(*stage.stub("escape=scrubbed_daemon", "kill-guardian", "sleep=600"))
    assert ended.how == Poisoned()
    assert ended.survivors
    assert stage.born()
    assert stage.alive() == []


def test_a13_a_stopped_guardian_does_not_save_its_agent(stage: Stage) -> None:
    ended = stage.run(*stage.stub("escape=daemon", "stop=guardian", "sleep=600"),
                      rules=TimeRules(total_s=0.4, grace_s=0.2))  # fmt: skip
    assert ended.cut is not None
    assert ended.cut.why is Why.ITERATION_TIME
    assert stage.alive() == []


def test_a13_a_guardian_whose_supervisor_is_stopped_ends_its_agent_by_itself(stage: Stage) -> None:
    job = Job(stage.stub("escape=daemon", "sleep=600"), stage.folder, ENV, time=TimeRules(grace_s=0.1))
    started = start(job, hard_at=time.monotonic() + 0.4, by=Interpreter(), others=frozenset())
    assert isinstance(started, Started)
    guarded = started.guarded
    try:
        assert guarded.pidfd is not None
        assert select.select([guarded.pidfd], [], [], 30.0)[0]  # nobody reads, nobody orders
        assert stage.alive() == []
    finally:
        guarded.hear()
        started.close()
        guarded.release()


def test_e14_no_module_of_the_work_tree_is_taken(stage: Stage) -> None:
    for name in ("select", "_ctypes", "marshal", "time", "os", "sitecustomize", "usercustomize", "encodings"):
        Path(stage.folder, f"{name}.py").write_text(f"open({str(stage.folder / 'taken')!r}, 'a').write('{name} ')\n")
    env = {**ENV, "PYTHONPATH": str(stage.folder), "PYTHONSTARTUP": str(stage.folder / "os.py")}
    assert stage.run("/bin/true", env=env).how == Exited(0)
    assert not Path(stage.folder, "taken").exists()


def test_a_guardian_copied_out_works_the_same(stage: Stage, tmp_path: Path) -> None:
    copy = Path(tmp_path, "copied.py")
    copy.write_bytes(GUARDIAN.read_bytes())
    stage.launcher._by = Interpreter(guardian=copy)  # the fixture's launcher is built without it
    ended = stage.run(*stage.stub("escape=daemon", "exit=3"))
    assert ended.how == Exited(3)
    assert stage.alive() == []


def test_a_guardian_that_cannot_start_is_told_apart(stage: Stage) -> None:
    stage.launcher._by = Interpreter(guardian=Path("/nonexistent/guardian.py"))
    ended = stage.run("/bin/true")
    assert ended.how == Poisoned()
    assert b"nonexistent" in ended.error_tail


@contextmanager
def supervisor(folder: Path, *steps: str, rules: str = "30,0.2") -> Iterator[tuple[subprocess.Popen[bytes], str, Path]]:
    """Yield a supervising process, its stub's token and where it writes the ending."""
    token, result = uuid.uuid4().hex, Path(folder, "result")
    argv = [sys.executable, "-m", "tests.process.supervise", str(result), token, rules, *steps]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(argv, cwd=folder, env=env, stdout=subprocess.PIPE, start_new_session=True) as process:
        try:
            yield process, token, result
        finally:
            with suppress(ProcessLookupError):
                process.kill()


def read_line(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    return process.stdout.readline()


def kill_and_look(folder: Path) -> list[int]:
    """SIGKILL a supervisor whose agent has escaped twice over; return who is still there once its guardian left."""
    with supervisor(folder, "escape=respawner", "deaf", "say=ready", "sleep=600") as (process, token, _):
        assert read_line(process) == b"ready\n"
        process.kill()
        process.wait()
        wait_until(lambda: not alive(token), what="the tree is gone")
        return alive(token)


@pytest.mark.parametrize("round_", range(4))
def test_a22_a_killed_supervisor_leaves_nobody_behind(tmp_path: Path, round_: int) -> None:
    assert kill_and_look(tmp_path) == []
    assert Path(tmp_path, "born").exists()


def test_a13_a_stopped_guardian_wakes_when_its_supervisor_is_killed(tmp_path: Path) -> None:
    with supervisor(tmp_path, "escape=daemon", "stop=guardian", "say=ready", "sleep=600") as (process, token, _):
        assert read_line(process) == b"ready\n"
        process.kill()
        process.wait()
        wait_until(lambda: not alive(token), what="the tree is gone")


@pytest.mark.slow
@pytest.mark.parametrize("round_", range(100))
def test_a22_a_hundred_killed_supervisors_leave_nobody_behind(tmp_path: Path, round_: int) -> None:
    assert kill_and_look(tmp_path) == []


def test_a21_ctrl_z_stops_the_tree_and_continuing_wakes_it(tmp_path: Path) -> None:
    with supervisor(tmp_path, "escape=own_session", "say=ready", "sleep=0.3", "say=on") as (process, token, result):
        assert read_line(process) == b"ready\n"
        leaf = int(Path(tmp_path, "born").read_text())
        process.send_signal(signal.SIGTSTP)
        wait_until(lambda: state(process.pid) == "T" and state(leaf) == "T", what="both are stopped")
        process.send_signal(signal.SIGCONT)
        assert read_line(process) == b"on\n"
        assert process.wait() == 0
        assert result.read_text() == "exit 0 None None"
        assert alive(token) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a18_a20_a_signal_ends_the_agent_and_is_reported(tmp_path: Path, number: int) -> None:
    with supervisor(tmp_path, "escape=daemon", "say=ready", "sleep=600") as (process, token, result):
        assert read_line(process) == b"ready\n"
        process.send_signal(number)
        assert process.wait() == 0
        assert result.read_text().endswith(f" {number}")
        assert "SIGNAL" in result.read_text()
        assert alive(token) == []


def test_a19_a_third_signal_leaves_at_once_with_last_words(tmp_path: Path) -> None:
    """The second one already kills, so the supervisor is held up in between by its own stop."""
    with supervisor(tmp_path, "say=ready", "sleep=600", rules="30,20") as (process, token, result):
        assert read_line(process) == b"ready\n"
        process.send_signal(signal.SIGSTOP)
        wait_until(lambda: state(process.pid) == "T", what="it is stopped")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process.send_signal(number)
        process.send_signal(signal.SIGCONT)
        code = process.wait()
        last = code - 128
        assert last in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        assert result.read_text() == f"last words {last}"
        wait_until(lambda: not alive(token), what="the tree is gone")


def test_a27_a_closed_stdout_does_not_end_the_supervision(tmp_path: Path) -> None:
    with supervisor(tmp_path, "say=one", "sleep=0.2", "say=two", "exit=5") as (process, _, result):
        assert process.stdout is not None
        assert read_line(process) == b"one\n"
        process.stdout.close()
        assert process.wait() == 0
        assert result.read_text() == "exit 5 None None"


def test_a28_inherited_oddities_are_put_right(tmp_path: Path) -> None:
    """SIGCHLD ignored, INT blocked, 0-2 closed by whoever started us."""
    odd = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})\n"
        "os.umask(0o777 & 0o077)\n"
        "os.closerange(0, 3)\n"
        "os.execv(sys.executable, [sys.executable, '-m', 'tests.process.supervise', *sys.argv[1:]])\n"
    )
    result, token = Path(tmp_path, "result"), uuid.uuid4().hex
    steps = ("read-in", "complain=x", "exit=4")
    done = subprocess.run(
        [sys.executable, "-c", odd, str(result), token, "30,0.2", *steps],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    assert result.read_text() == "exit 4 None None"


def test_a20_hangup_stays_ignored_under_nohup(tmp_path: Path) -> None:
    with supervisor(tmp_path, "say=ready", "exit=0") as (process, _, result):
        process.wait()
        assert result.read_text() == "exit 0 None None"
    script = "trap '' HUP; exec \"$@\""
    result.unlink()
    argv = ["/bin/sh", "-c", script, "sh", sys.executable, "-m", "tests.process.supervise", str(result), "t", "30,0.2"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    steps = ("say=ready", "sleep=0.3", "exit=0")
    with subprocess.Popen([*argv, *steps], cwd=tmp_path, env=env, stdout=subprocess.PIPE) as process:
        assert read_line(process) == b"ready\n"
        process.send_signal(signal.SIGHUP)
        assert process.wait() == 0
    assert result.read_text() == "exit 0 None None"


def test_a_watch_that_is_never_asked_stays_empty(stage: Stage) -> None:
    watch = Watch()
    stage.run("/bin/true", watch=watch)
    assert watch.lines == []
