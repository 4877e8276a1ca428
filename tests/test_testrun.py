"""Test commands as real processes: what becomes of exit codes, reports and hostile behaviour."""

from __future__ import annotations

import errno
import os
import selectors
import shlex
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ralph.facts.ending import Cut, Ended, Exited, How, NotStarted, Poisoned, Signalled, Why
from ralph.facts.job import Job, Logs
from ralph.facts.suite import Suite, Verdict
from ralph.ports import Side, Watcher
from ralph.testrun import Interrupted, TestRunner
from ralph.testrun.collect import HEAD_BYTES, TAIL_BYTES, Collector


class PlainClock:
    def real(self) -> float:
        return time.monotonic()

    def awake(self) -> float:
        return time.monotonic()

    def now(self) -> datetime:
        return datetime.now(UTC)


class PlainProcesses:
    """A stand-in without a guardian: a group of its own, both pipes, a time limit. No promise about escapes."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def run(self, job: Job, watcher: Watcher, *, sides: tuple[Side, ...] = ()) -> Ended:
        self.jobs.append(job)
        try:
            child = subprocess.Popen(
                job.argv,
                cwd=job.cwd,
                env=dict(job.env),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            return Ended(NotStarted(error.errno or 0, str(error)))
        cut = self._drain(child, job, watcher)
        code = child.wait()
        how: How = Signalled(-code) if code < 0 else Exited(code)
        return Ended(how, cut=cut)

    def _drain(self, child: subprocess.Popen[bytes], job: Job, watcher: Watcher) -> Cut | None:
        assert child.stdout is not None
        assert child.stderr is not None
        cut = None
        ends = time.monotonic() + (job.time.total_s or 60)
        held = {child.stdout: b"", child.stderr: b""}
        with selectors.DefaultSelector() as selector, child.stdout, child.stderr:
            for pipe in held:
                selector.register(pipe, selectors.EVENT_READ)
            while selector.get_map():
                for key, _ in selector.select(max(0.0, ends - time.monotonic())):
                    pipe = child.stdout if key.fileobj is child.stdout else child.stderr
                    data = os.read(pipe.fileno(), 65536)
                    *lines, held[pipe] = (held[pipe] + data).split(b"\n")
                    for line in lines:
                        watcher.line("out" if pipe is child.stdout else "err", line)
                    if not data:
                        selector.unregister(pipe)
                if cut is None and time.monotonic() >= ends:
                    cut = Cut(Why.ITERATION_TIME)
                    os.killpg(child.pid, signal.SIGKILL)
                    ends += 60
        return cut

    def wait(self, seconds: float, *, sides: tuple[Side, ...] = ()) -> Cut | None:
        raise NotImplementedError

    def interruption(self) -> int | None:
        return None


class Scripted(PlainProcesses):
    """Ends as told, without a child: for endings that only a guardian can report."""

    def __init__(self, ended: Ended) -> None:
        super().__init__()
        self.ended = ended

    def run(self, job: Job, watcher: Watcher, *, sides: tuple[Side, ...] = ()) -> Ended:
        self.jobs.append(job)
        return self.ended


def runner(top: Path, processes: PlainProcesses | None = None) -> TestRunner:
    scratch = top.parent / f"{top.name}-scratch"
    scratch.mkdir(exist_ok=True)
    environment = {"PATH": os.environ["PATH"], "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return TestRunner(processes or PlainProcesses(), PlainClock(), top=top, environment=environment, scratch=scratch)


def outcome(
    test_runner: TestRunner, command: tuple[str, ...], *, report: str = "auto", timeout_s: float = 60.0
) -> Suite | Interrupted:
    logs = Logs(test_runner.scratch / "out.log", test_runner.scratch / "err.log")
    return test_runner.run("tests", command, report=report, timeout_s=timeout_s, deadline_s=None, logs=logs)


def suite(top: Path, command: str | tuple[str, ...], *, report: str = "auto", timeout_s: float = 60.0) -> Suite:
    argv = ("/bin/sh", "-c", command) if isinstance(command, str) else command
    result = outcome(runner(top), argv, report=report, timeout_s=timeout_s)
    assert isinstance(result, Suite)
    return result


PYTEST = f"{shlex.quote(sys.executable)} -m pytest -q -p no:cacheprovider"
JUNIT = "<testsuite><testcase name='a'/><testcase name='b'/></testsuite>"
JUNIT_RED = "<testsuite><testcase name='a'/><testcase name='b'><failure/></testcase></testsuite>"


@pytest.fixture
def top(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def test_a_real_pytest_run_with_a_report_gives_ids(top: Path) -> None:
    (top / "test_a.py").write_text("def test_x(): pass\ndef test_y(): assert 0\n")
    result = suite(top, f"{PYTEST} --junitxml={{report}}")
    assert (result.verdict, result.format) == (Verdict.RED, "junit")
    assert (result.passing, result.failing) == (frozenset({"test_a::test_x"}), frozenset({"test_a::test_y"}))
    assert (result.passed, result.total, result.exit) == (1, 2, "exit 1")


def test_a_real_pytest_run_without_a_report_is_read_from_its_text(top: Path) -> None:
    (top / "test_a.py").write_text("def test_x(): pass\n")
    result = suite(top, PYTEST)
    assert (result.verdict, result.format, result.passed, result.total) == (Verdict.GREEN, "pytest", 1, 1)
    assert "1 passed" in result.tail


def test_no_tests_is_never_green(top: Path) -> None:
    """R097: pytest's exit 5, and the same hidden behind exit 0."""
    assert suite(top, PYTEST).verdict is Verdict.NONE_RAN
    assert suite(top, f"{PYTEST} || true").verdict is Verdict.NONE_RAN
    assert suite(top, "echo \"<testsuite tests='7'/>\" > {report}").verdict is Verdict.NONE_RAN


def test_failures_behind_exit_0_are_red(top: Path) -> None:
    """E3, R101: an exit 0 wrapper."""
    (top / "test_a.py").write_text("def test_y(): assert 0\n")
    result = suite(top, f"{PYTEST} || true")
    assert (result.verdict, result.failing) == (Verdict.RED, frozenset({"test_a.py::test_y"}))
    assert result.detail == "failures are reported although it exited 0"


@pytest.mark.parametrize("said", ["1 failed, 1 passed in 0.10s", "Ran 2 tests in 0.1s\n\nFAILED (failures=1)"])
def test_failures_that_are_only_counted_are_red_behind_exit_0(top: Path, said: str) -> None:
    """E3, R101."""
    result = suite(top, f"echo {shlex.quote(said)}")
    assert (result.verdict, result.failing) == (Verdict.RED, frozenset({"unnamed failures"}))


def test_a_red_exit_without_failing_tests_is_red_under_its_exit(top: Path) -> None:
    """R101: the exit code rules."""
    result = suite(top, f'echo "{JUNIT}" > {{report}}; exit 3')
    assert (result.verdict, result.failing) == (Verdict.RED, frozenset({"exit 3"}))
    assert result.passing == frozenset({"a", "b"})


def test_a_missing_program_is_broken(top: Path) -> None:
    """R101: both as argv and inside a shell's text."""
    for command in (("no-such-program-here",), "no-such-program-here --all"):
        result = suite(top, command)
        assert result.verdict is Verdict.BROKEN
        assert "not found" in result.detail


def test_the_report_path_is_fresh_and_quoted(top: Path, tmp_path: Path) -> None:
    """E3: it does not exist before the run, survives a scratch folder with odd characters, and is gone after it."""
    odd = tmp_path / "it's $(odd)"
    odd.mkdir()
    plain = runner(top)
    quirky = TestRunner(plain.processes, plain.clock, top=top, environment=plain.environment, scratch=odd)
    result = outcome(quirky, ("sh", "-c", f'test ! -e {{report}} && echo "{JUNIT}" > {{report}}'))
    assert isinstance(result, Suite)
    assert (result.verdict, result.format) == (Verdict.GREEN, "junit")
    assert [path.name for path in odd.iterdir() if path.is_dir()] == []


def test_an_argv_command_gets_the_path_unquoted(top: Path) -> None:
    write = f"import sys, pathlib; pathlib.Path(sys.argv[1]).write_text({JUNIT_RED!r})"
    result = suite(top, (sys.executable, "-c", write, "{report}"))
    assert (result.verdict, result.failing) == (Verdict.RED, frozenset({"b"}))


@pytest.mark.parametrize(
    ("make", "why"),
    [
        ("true {report}", "no report was written"),
        ("ln -s $PWD/old.xml {report}", "report cannot be opened"),
        ("ln $PWD/old.xml {report}", "report is a second name of another file"),
        ("cp -p $PWD/old.xml {report}", "report is older than the run"),
        ("mkfifo {report}", "report is not a regular file"),
        ("mkdir {report}", "report is not a regular file"),
        ("head -c 21000000 /dev/zero > {report}", "report is larger than 20 MiB"),
        ("echo nonsense > {report}", "report is in no known format"),
        ("echo '<!DOCTYPE a []><testsuite/>' > {report}", "report has a document type declaration"),
    ],
)
def test_a_report_that_is_not_fresh_and_plain_never_makes_green(top: Path, make: str, why: str) -> None:
    """E3, E5: exit 0 is no evidence where a report was asked for."""
    old = top / "old.xml"
    old.write_text(JUNIT)
    os.utime(old, (1_000_000_000, 1_000_000_000))
    result = suite(top, make)
    assert result.verdict is Verdict.BROKEN
    assert result.detail.startswith(why)


def test_a_build_that_fails_before_its_report_is_red_not_broken(top: Path) -> None:
    result = suite(top, "echo no compiler luck >&2; exit 2; : {report}")
    assert (result.verdict, result.failing) == (Verdict.RED, frozenset({"exit 2"}))


def test_a_wanted_format_that_is_not_printed_is_broken_on_exit_0(top: Path) -> None:
    """E3."""
    result = suite(top, "echo all fine", report="tap")
    assert (result.verdict, result.detail) == (Verdict.BROKEN, "no tap report in what it printed")
    assert suite(top, "echo all fine", report="exit").verdict is Verdict.GREEN


def test_a_command_that_hangs_is_timed_out_not_red(top: Path) -> None:
    """E4, R099."""
    result = suite(top, "echo started; exec sleep 600", timeout_s=0.3)
    assert (result.verdict, result.failing, result.tail) == (Verdict.TIMED_OUT, frozenset(), "started")


def test_tests_see_ci_and_an_empty_input(top: Path) -> None:
    """R099, R103: no watch mode, no waiting for a key."""
    result = suite(top, 'read key; test -z "$key" && test "$CI" = 1')
    assert result.verdict is Verdict.GREEN


def test_a_flood_of_output_is_bounded_and_its_end_is_read(top: Path) -> None:
    """E4: 30 MB of noise, then the result."""
    flood = "import sys\nfor _ in range(3000): print('x' * 10000)\nprint('=== 1 failed, 2 passed in 0.10s ===')"
    result = suite(top, (sys.executable, "-c", flood))
    assert (result.format, result.verdict) == ("pytest", Verdict.RED)
    assert (result.passed, result.total, result.failing) == (2, 3, frozenset({"unnamed failures"}))
    assert len(result.tail) < 20_000


def test_the_collector_holds_no_more_than_its_bounds() -> None:
    """E4."""
    collector = Collector()
    for _ in range(2000):
        collector.line("out", b"y" * 100_000)
    assert collector.cut
    assert len(collector.text()) <= HEAD_BYTES + TAIL_BYTES + 2


def test_a_killed_command_is_red_under_its_signal(top: Path) -> None:
    result = suite(top, "kill -SEGV $$")
    assert (result.verdict, result.failing) == (Verdict.RED, frozenset({"killed by signal 11"}))


@pytest.mark.parametrize("why", [Why.SIGNAL, Why.STOP_NOW, Why.DEADLINE])
def test_an_end_that_is_not_the_commands_own_is_no_result(top: Path, why: Why) -> None:
    ended = Ended(Signalled(15), cut=Cut(why))
    assert outcome(runner(top, Scripted(ended)), ("true",)) == Interrupted(Cut(why))


def test_nothing_is_started_past_the_deadline(top: Path) -> None:
    processes = PlainProcesses()
    test_runner = runner(top, processes)
    logs = Logs(top / "o", top / "e")
    late = test_runner.run("tests", ("true",), timeout_s=5, deadline_s=time.monotonic() - 1, logs=logs)
    assert isinstance(late, Interrupted)
    assert late.cut.why is Why.DEADLINE
    assert processes.jobs == []


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (NotStarted(errno.ENOENT, "nope"), "program not found: nope"),
        (NotStarted(errno.EACCES, "permission denied"), "permission denied"),
        (Poisoned(), "its guardian vanished"),
    ],
)
def test_what_never_ran_is_broken(top: Path, how: How, words: str) -> None:
    result = outcome(runner(top, Scripted(Ended(how))), ("true",))
    assert isinstance(result, Suite)
    assert (result.verdict, result.detail, result.failing) == (Verdict.BROKEN, words, frozenset())


def test_the_digest_tells_results_apart_and_nothing_else(top: Path) -> None:
    """R050: a random duration, path and address in the output do not make another result."""
    noisy = f'echo "$$ at 0x7f$$aa in /tmp/x$$"; echo "{JUNIT_RED}" > {{report}}; exit 1'
    first, second = suite(top, noisy), suite(top, noisy)
    assert first.digest == second.digest
    assert first.tail != second.tail
    assert suite(top, f'echo "{JUNIT}" > {{report}}').digest != first.digest
