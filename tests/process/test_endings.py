"""How one child's run ends: by itself, by a limit, by our word, by a signal; and what is reported of it."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest

from ralph.facts.ending import Cut, Ended, Exited, NotStarted, Signalled, Why
from ralph.facts.job import StdinBytes, StdinPipe, TimeRules
from ralph.process.clock import SystemClock
from ralph.process.launch import Launcher
from ralph.process.signals import Signals
from tests.process.watch import ENV, Stage, Watch, descriptors, when

FAR_S = 60.0


@pytest.mark.parametrize("code", [0, 1, 77, 255])
def test_the_exit_code_is_the_programs_own(stage: Stage, code: int) -> None:
    assert stage.run("/bin/sh", "-c", f"exit {code}").how == Exited(code)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a23_r020_death_by_a_signal_not_ours_is_told_as_such(stage: Stage, number: int) -> None:
    ended = stage.run(*stage.stub(f"die={number}"))
    assert (ended.how, ended.cut) == (Signalled(number), None)
    assert str(ended.how) == f"killed by signal {number}"


def test_a1_a_silent_child_is_idle(stage: Stage) -> None:
    ended = stage.run("/bin/sleep", "600", rules=TimeRules(total_s=FAR_S, idle_s=0.3, grace_s=0.2))
    assert ended.cut is not None
    assert ended.cut.why is Why.IDLE
    assert ended.last_output_s is None


def test_a_silent_child_with_a_reason_is_not_idle(stage: Stage) -> None:
    watch = Watch(quiet_for_a_reason=True)
    ended = stage.run(*stage.stub("sleep=0.5", "say=done"), watch=watch, rules=TimeRules(total_s=FAR_S, idle_s=0.1))
    assert (ended.how, ended.cut) == (Exited(0), None)


def test_a_silent_child_that_works_is_not_idle(stage: Stage) -> None:
    ended = stage.run(*stage.stub("spin=0.8"), rules=TimeRules(total_s=FAR_S, idle_s=0.2))
    assert (ended.how, ended.cut) == (Exited(0), None)


def test_a_silent_child_whose_files_move_is_not_idle(signals: Signals, tmp_path: Path) -> None:
    asked = []

    def moved() -> bool:
        asked.append(True)
        return len(asked) < 3

    with Launcher(SystemClock(), signals, moved=moved) as launcher:
        ended = Stage(launcher, tmp_path).run("/bin/sleep", "600", rules=TimeRules(idle_s=0.1, grace_s=0.2))
    assert ended.cut is not None
    assert ended.cut.why is Why.IDLE
    assert len(asked) == 3


def test_b7_output_on_stderr_alone_is_a_sign_of_life(stage: Stage) -> None:
    steps = [step for n in range(8) for step in ("sleep=0.1", f"complain={n}")]
    ended = stage.run(*stage.stub(*steps), rules=TimeRules(total_s=FAR_S, idle_s=0.6, grace_s=0.2))
    assert (ended.how, ended.cut) == (Exited(0), None)


def test_a2_whoever_ignores_term_is_killed_after_the_grace(stage: Stage) -> None:
    at: list[float] = []
    watch = Watch(on_line=when(b"deaf now", lambda: at.append(time.monotonic()) or Cut(Why.TURNS)))  # type: ignore[func-returns-value]
    ended = stage.run(*stage.stub("deaf", "say=deaf now", "sleep=600"), watch=watch)
    assert ended.how == Signalled(signal.SIGKILL)
    assert time.monotonic() - at[0] >= 0.2


def test_term_is_enough_for_a_child_that_listens(stage: Stage) -> None:
    watch = Watch(on_line=when(b"up", lambda: Cut(Why.COST)))
    ended = stage.run(*stage.stub("say=up", "sleep=600"), watch=watch, rules=TimeRules(grace_s=FAR_S))
    assert (ended.how, ended.cut) == (Signalled(signal.SIGTERM), Cut(Why.COST))


def test_a_cut_at_once_gives_no_grace(stage: Stage) -> None:
    watch = Watch(on_line=when(b"deaf now", lambda: Cut(Why.STOP_NOW, at_once=True)))
    began = time.monotonic()
    ended = stage.run(*stage.stub("deaf", "say=deaf now", "sleep=600"), watch=watch, rules=TimeRules(grace_s=FAR_S))
    assert ended.how == Signalled(signal.SIGKILL)
    assert time.monotonic() - began < FAR_S


def test_the_first_cut_is_the_one_reported(stage: Stage) -> None:
    cuts = iter([Cut(Why.LOOPING), Cut(Why.COST)])
    watch = Watch(on_line=lambda _: next(cuts, None))
    assert stage.run(*stage.stub("say=a", "say=b", "sleep=600"), watch=watch).cut == Cut(Why.LOOPING)


def test_the_iteration_limit_ends_a_child_that_prints_all_the_time(stage: Stage) -> None:
    """B8: a flood does not starve the timers."""
    ended = stage.run("/usr/bin/yes", rules=TimeRules(total_s=0.3, grace_s=0.2))
    assert ended.cut is not None
    assert ended.cut.why is Why.ITERATION_TIME
    assert ended.bytes_out > 1 << 18


def test_a3_r001_a_held_pipe_does_not_hold_the_iteration(stage: Stage) -> None:
    watch = Watch()
    ended = stage.run(*stage.stub("escape=own_session", "say=result", "exit=0"), watch=watch)
    assert (ended.how, ended.leaky, watch.out) == (Exited(0), True, [b"result"])
    assert ended.elapsed_s < FAR_S
    assert stage.alive() == []


def test_r006_a_flooding_helper_does_not_hold_the_iteration(stage: Stage) -> None:
    ended = stage.run(*stage.stub("flood", "say=result", "exit=0"))
    assert (ended.how, ended.leaky) == (Exited(0), True)
    assert stage.alive() == []


def test_a4_r002_a_child_that_lingers_after_its_last_event_is_ended(stage: Stage) -> None:
    watch = Watch(last=b"result")
    ended = stage.run(*stage.stub("say=result", "sleep=600"), watch=watch, rules=TimeRules(linger_s=0.1, grace_s=0.2))
    assert ended.cut is not None
    assert ended.cut.why is Why.LINGER


def test_a_child_that_leaves_after_its_last_event_does_not_linger(stage: Stage) -> None:
    ended = stage.run(*stage.stub("say=result", "exit=0"), watch=Watch(last=b"result"))
    assert (ended.how, ended.cut) == (Exited(0), None)


def test_r003_a_child_that_never_says_a_word_is_ended_by_the_iteration_limit(stage: Stage) -> None:
    ended = stage.run("/bin/sleep", "600", rules=TimeRules(total_s=0.2, grace_s=0.2))
    assert ended.cut is not None
    assert (ended.cut.why, ended.bytes_out, ended.bytes_err) == (Why.ITERATION_TIME, 0, 0)


@pytest.mark.parametrize("stdin", [StdinBytes(b"x" * 1_000_000), StdinPipe(b"x" * 1_000_000)], ids=["fed", "conversed"])
def test_r005_stderr_before_stdin_before_stdout_does_not_block(stage: Stage, stdin: StdinBytes | StdinPipe) -> None:
    watch = Watch()
    ended = stage.run(*stage.stub("write-err=2097152", "read-in"), watch=watch, stdin=stdin)
    assert (ended.how, watch.out) == (Exited(0), [b"read 1000000"])
    assert ended.bytes_err == 2097152


def test_r004_a26_stdin_is_never_ours_and_there_is_no_terminal(stage: Stage) -> None:
    watch = Watch()
    stage.run("/bin/sh", "-c", "cat; readlink /proc/$$/fd/0; (exec 3<>/dev/tty) 2>/dev/null || echo no terminal",
              watch=watch)  # fmt: skip
    assert watch.out == [b"/dev/null", b"no terminal"]


def test_a_fed_child_reads_a_file_without_a_name(stage: Stage) -> None:
    watch = Watch()
    stage.run("/bin/sh", "-c", "readlink /proc/$$/fd/0; cat", watch=watch, stdin=StdinBytes(b"prompt\n"))
    assert watch.out[0].endswith(b"(deleted)")
    assert watch.out[1:] == [b"prompt"]


def test_a_conversed_child_hears_replies_to_what_it_says(stage: Stage) -> None:
    watch = Watch(says_no_more=False)

    def answer() -> None:
        watch.to_say = b"pong\n"
        watch.says_no_more = True

    watch.on_line = when(b"ping", answer)
    ended = stage.run("/bin/sh", "-c", "read first; echo ping; read second; echo $first $second; cat", watch=watch,
                      stdin=StdinPipe(b"hello\n"))  # fmt: skip
    assert (ended.how, watch.out) == (Exited(0), [b"ping", b"hello pong"])


def test_a_conversed_child_that_closes_its_stdin_does_no_harm(stage: Stage) -> None:
    ended = stage.run("/bin/sh", "-c", "exec <&-; sleep 0.1; echo on", stdin=StdinPipe(b"x" * 1_000_000))
    assert ended.how == Exited(0)


@pytest.mark.parametrize(
    ("argv", "error"),
    [
        (("/nonexistent/agent",), errno.ENOENT),
        (("no-such-agent",), errno.ENOENT),
        (("/etc/passwd",), errno.EACCES),
        (("./text",), errno.ENOEXEC),
        (("/bin/echo", "x" * 200_000), errno.E2BIG),
    ],
)
def test_a16_what_cannot_start_is_a_value(stage: Stage, argv: tuple[str, ...], error: int) -> None:
    text = Path(stage.folder, "text")
    text.write_text("no magic number\n")
    text.chmod(0o755)
    ended = stage.run(*argv)
    assert isinstance(ended.how, NotStarted)
    assert ended.how.error == error
    assert argv[0] in ended.how.message
    assert ended.cut is None


def test_a16_a_missing_directory_is_a_value(stage: Stage) -> None:
    stage.folder = Path(stage.folder, "gone")
    ended = stage.run("/bin/true")
    assert isinstance(ended.how, NotStarted)
    assert (ended.how.error, "gone" in ended.how.message) == (errno.ENOENT, True)


def test_c26_running_out_of_descriptors_is_a_value_and_leaks_none(stage: Stage) -> None:
    before = descriptors()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest_free = os.open("/dev/null", os.O_RDONLY)
    os.close(lowest_free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free + 6, hard))
    try:
        ended = stage.run("/bin/true")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert isinstance(ended.how, NotStarted)
    assert ended.how.error == errno.EMFILE
    assert descriptors() == before


def test_bytes_and_times_are_told(stage: Stage) -> None:
    ended = stage.run(*stage.stub("say=four", "complain=seven", "spin=0.1"))
    assert (ended.bytes_out, ended.bytes_err, ended.error_tail) == (5, 6, b"seven\n")
    assert ended.last_output_s is not None
    assert 0 <= ended.last_output_s <= ended.elapsed_s
    assert ended.cpu_s is not None
    assert ended.cpu_s >= 0.05


def test_the_error_tail_is_the_last_8_kib(stage: Stage) -> None:
    ended = stage.run("/bin/sh", "-c", "head -c 100000 /dev/zero >&2; printf end >&2")
    assert (len(ended.error_tail), ended.error_tail[-4:]) == (8192, b"\0end")


def test_the_environment_is_exactly_the_one_given(stage: Stage) -> None:
    watch = Watch()
    stage.run("/usr/bin/env", watch=watch, env={"ONLY": "this", "BYTES": "\udcff"})
    assert sorted(watch.out) == [b"BYTES=\xff", b"ONLY=this"]


def test_a28_the_child_has_default_signals_and_nothing_blocked(stage: Stage) -> None:
    old = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    try:
        watch = Watch()
        stage.run("/bin/grep", "-E", "Sig(Blk|Ign)|ShdPnd", "/proc/self/status", watch=watch)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)
    values = {line.split(b":")[0]: int(line.split()[1], 16) & 0x7FFFFFFF for line in watch.out}
    assert values == {b"ShdPnd": 0, b"SigBlk": 0, b"SigIgn": 0}


def test_a15_the_exit_code_of_a_foreign_child_is_left_alone(stage: Stage) -> None:
    with subprocess.Popen(["/bin/sh", "-c", "exit 7"], start_new_session=True) as foreign:
        stage.run(*stage.stub("escape=daemon", "kill-guardian", "sleep=600"))
        stage.run("/bin/true")
        assert foreign.wait() == 7


def test_kept_processes_stay_and_end_with_the_run(signals: Signals, tmp_path: Path) -> None:
    with Launcher(SystemClock(), signals) as launcher:
        stage = Stage(launcher, tmp_path)
        script = '"$@" >/dev/null 2>&1 & while [ ! -e born ]; do sleep 0.01; done; setsid sleep 600 & exit 0'
        ended = stage.run("/bin/sh", "-c", script, "sh", *stage.stub("leaf"), keep=("python3", "python"))
        kept = [survivor for survivor in ended.survivors if survivor.kept]
        assert [survivor.pid for survivor in kept] == stage.born() == stage.alive()
        assert "sleep" in {survivor.name for survivor in ended.survivors if not survivor.kept}
        assert stage.run("/bin/true", env=ENV).how == Exited(0)
        assert stage.alive() == stage.born()
    assert stage.alive() == []


def test_a_watcher_with_a_bug_leaves_no_child_behind(stage: Stage) -> None:
    def fail() -> Cut:
        raise ZeroDivisionError

    watch = Watch(on_line=when(b"ready", fail))
    with pytest.raises(ZeroDivisionError):
        stage.run(*stage.stub("escape=respawner", "deaf", "say=ready", "sleep=600"), watch=watch)
    assert stage.alive() == []
    assert stage.launcher.guardian_pid is None
    assert stage.run("/bin/true").how == Exited(0)


def test_the_pid_of_the_guardian_is_known_while_a_child_runs(stage: Stage) -> None:
    seen: list[int | None] = []
    watch = Watch(on_line=lambda _: seen.append(stage.launcher.guardian_pid))
    stage.run("/bin/sh", "-c", "echo $PPID", watch=watch)
    assert seen == [int(watch.out[0])]
    assert stage.launcher.guardian_pid is None


def test_an_ending_is_a_whole_value(stage: Stage) -> None:
    ended = stage.run("/bin/true")
    assert ended == Ended(Exited(0), elapsed_s=ended.elapsed_s, cpu_s=ended.cpu_s)
