"""The small parts: environment, finding programs, silence, limits, trees, leftovers."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.facts.ending import Why
from ralph.facts.job import TimeRules
from ralph.process import system
from ralph.process.environment import DENIED, child_environment
from ralph.process.leftovers import Leftover, end_leftovers, leftovers
from ralph.process.limits import RECHECK_S, Limits
from ralph.process.program import Missing, find_program
from ralph.process.silence import Silence
from ralph.process.tree import cpu_of_tree, descendants, is_below
from tests.process.watch import wait_until


def test_the_environment_leaves_out_what_is_denied_and_names_it() -> None:
    inherited = {
        "PATH": "/bin",
        "HOME": "/root",
        "ANTHROPIC_API_KEY": "k",
        "CLAUDE_CONFIG_DIR": "/c",
        "GIT_DIR": "/g",
        "GITHUB_TOKEN": "t",
        "ACTIONS_RUNTIME_TOKEN": "t",
        "RUNNER_TEMP": "/t",
        "PYTHONPATH": "/p",
        "CLAUDECODE": "1",
        "CODEX_SANDBOX_NETWORK_DISABLED": "1",
        "RALPH_NOTIFY__URL": "secret",
        "RALPH_LIMITS__COST": "5",
        "RALPH_RUN": "outer",
    }
    env, dropped = child_environment(inherited, extra={"RALPH_RUN": "r1", "RALPH_SOCKET": "/s"})
    assert env == {
        "PATH": "/bin",
        "HOME": "/root",
        "ANTHROPIC_API_KEY": "k",
        "CLAUDE_CONFIG_DIR": "/c",
        "RALPH_RUN": "r1",
        "RALPH_SOCKET": "/s",
    }
    assert dropped == tuple(
        sorted(set(inherited) - {"PATH", "HOME", "ANTHROPIC_API_KEY", "CLAUDE_CONFIG_DIR"} - set(env))
    )


def test_r026_no_mark_of_an_outer_session_goes_in() -> None:
    marks = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CODEX_SANDBOX", "GEMINI_CLI", "OPENCODE")
    env, dropped = child_environment(dict.fromkeys(marks, "1"), extra={})
    assert (env, dropped) == ({}, tuple(sorted(marks)))


def test_passes_win_over_the_table_and_drops_over_all() -> None:
    inherited = {"GITHUB_TOKEN": "t", "GITHUB_ENV": "e", "AWS_SECRET": "s", "GIT_SSH": "x"}
    env, dropped = child_environment(inherited, passes=["GITHUB_TOKEN", "GIT_*"], drops=["AWS_*", "GIT_S*"], extra={})
    assert (env, dropped) == ({"GITHUB_TOKEN": "t"}, ("AWS_SECRET", "GITHUB_ENV", "GIT_SSH"))


@given(st.dictionaries(st.text(min_size=1), st.text()), st.dictionaries(st.text(min_size=1), st.text()))
def test_every_name_is_inherited_set_or_told(inherited: dict[str, str], extra: dict[str, str]) -> None:
    env, dropped = child_environment(inherited, extra=extra)
    assert set(inherited) | set(extra) == set(env) | set(dropped)
    assert not set(dropped) & set(env)
    assert all(env[name] == value for name, value in extra.items())


def test_the_deny_table_has_no_row_twice() -> None:
    assert len(set(DENIED)) == len(DENIED)


def executable(path: Path, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


def test_r019_a_program_not_on_path_is_told_with_the_path(tmp_path: Path) -> None:
    found = find_program("agent", path="/usr/bin:/bin", cwd=tmp_path, outside=tmp_path)
    assert found == Missing("\"agent\" not found on PATH; searched '/usr/bin:/bin'")


def test_a_program_is_found_by_its_absolute_path(tmp_path: Path) -> None:
    agent, work = executable(tmp_path / "bin" / "agent"), tmp_path / "work"
    work.mkdir()
    assert find_program("agent", path=f"/nonexistent:{agent.parent}", cwd=work, outside=work) == agent
    assert find_program("../bin/agent", path="", cwd=work, outside=work) == work / "../bin/agent"


def test_e15_a_program_inside_the_work_tree_is_never_taken(tmp_path: Path) -> None:
    work = tmp_path / "work"
    planted = executable(work / "node_modules" / ".bin" / "agent")
    link = tmp_path / "bin" / "agent"
    link.parent.mkdir()
    link.symlink_to(planted)
    for path in (planted.parent, link.parent):
        found = find_program("agent", path=str(path), cwd=work, outside=work)
        assert isinstance(found, Missing)
        assert "work tree" in found.reason
    behind = executable(tmp_path / "real" / "agent")
    assert find_program("agent", path=f"{planted.parent}:{behind.parent}", cwd=work, outside=work) == behind
    assert isinstance(find_program("./node_modules/.bin/agent", path="", cwd=work, outside=work), Missing)


def test_e15_relative_entries_of_path_are_skipped(tmp_path: Path) -> None:
    executable(tmp_path / "bin" / "agent")
    for path in ("bin", ".", "", "./bin:"):
        assert isinstance(find_program("agent", path=path, cwd=tmp_path, outside=tmp_path / "work"), Missing)


def test_r019_not_executable_is_told_apart_from_not_there(tmp_path: Path) -> None:
    agent, work = executable(tmp_path / "bin" / "agent", 0o644), tmp_path / "work"
    for name, path in (("agent", str(agent.parent)), (str(agent), "")):
        found = find_program(name, path=path, cwd=work, outside=work)
        assert isinstance(found, Missing)
        assert "is not executable" in found.reason
    assert isinstance(find_program("bin", path=str(tmp_path), cwd=work, outside=work), Missing)


class Body:
    """A child's signs of life, scripted."""

    def __init__(self) -> None:
        self.cpu_s, self.excused, self.moved, self.samples = 0.0, False, False, 0

    def silence(self, idle_s: float | None) -> Silence:
        def sample() -> float:
            self.samples += 1
            return self.cpu_s

        return Silence(idle_s, now=0.0, cpu_s=sample, excused=lambda: self.excused, moved=lambda: self.moved)


def test_a1_silence_is_sampled_only_after_half_of_it() -> None:
    body = Body()
    silence = body.silence(10.0)
    assert [silence.is_hung(now) for now in (1.0, 4.9)] == [False, False]
    assert body.samples == 0
    assert [silence.is_hung(now) for now in (5.0, 7.0, 9.9)] == [False, False, False]
    assert body.samples == 1
    assert silence.is_hung(10.0)


def test_a_byte_begins_the_silence_anew() -> None:
    silence = Body().silence(10.0)
    silence.is_hung(5.0)
    silence.heard(9.0)
    assert silence.due == 14.0
    assert [silence.is_hung(now) for now in (10.0, 14.0, 18.9, 19.0)] == [False, False, False, True]


@pytest.mark.parametrize(("used_s", "hung"), [(0.049, True), (0.051, False)])
def test_one_per_cent_of_a_core_is_work(used_s: float, hung: bool) -> None:
    body = Body()
    silence = body.silence(10.0)
    silence.is_hung(5.0)
    body.cpu_s = used_s
    assert silence.is_hung(10.0) is hung


def test_signs_of_life_put_the_question_off_and_not_for_ever() -> None:
    body = Body()
    silence = body.silence(10.0)
    silence.is_hung(5.0)
    body.excused = True
    assert not silence.is_hung(10.0)
    body.excused, body.moved = False, True
    assert not silence.is_hung(15.0)
    body.moved = False
    assert silence.is_hung(20.0)


def test_without_an_idle_limit_nothing_is_ever_hung() -> None:
    silence = Body().silence(None)
    assert (silence.due, silence.is_hung(1e9)) == (None, False)


def limits(rules: TimeRules) -> Limits:
    return Limits(rules, Body().silence(rules.idle_s), began=100.0)


def test_limits_fire_in_their_time_and_are_waited_for_exactly() -> None:
    both = limits(TimeRules(total_s=50.0, deadline_s=1000.0))
    assert both.due_in(100.0, 990.0) == 10.0
    assert both.due_in(100.0, 0.0) == RECHECK_S
    assert both.cut(149.9, 999.9) is None
    cut = both.cut(150.0, 999.9)
    assert cut is not None
    assert cut.why is Why.ITERATION_TIME
    late = both.cut(100.0, 1000.0)
    assert late is not None
    assert late.why is Why.DEADLINE


def test_no_limit_waits_for_ever() -> None:
    assert limits(TimeRules()).due_in(100.0, 0.0) is None


def test_the_linger_limit_counts_from_the_first_end() -> None:
    lingering = limits(TimeRules(linger_s=10.0))
    lingering.finished(200.0)
    lingering.finished(209.0)
    assert lingering.cut(209.9, 0.0) is None
    cut = lingering.cut(210.0, 0.0)
    assert cut is not None
    assert cut.why is Why.LINGER


def test_descendants_are_seen_at_every_depth() -> None:
    script = "sh -c '(sleep 600; true) & echo up; wait' & wait"
    with subprocess.Popen(["/bin/sh", "-c", script], stdout=subprocess.PIPE, start_new_session=True) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            wait_until(lambda: len(descendants(process.pid)) >= 3, what="three below")
            below = descendants(process.pid)
            assert all(is_below(pid, process.pid) for pid in below)
            assert all(is_below(pid, os.getpid()) for pid in below)
            assert not is_below(process.pid, process.pid)
            assert not is_below(os.getpid(), process.pid)
            assert not is_below(2**22 + 5, process.pid)
        finally:
            os.killpg(process.pid, 9)


def test_the_work_of_a_tree_is_counted() -> None:
    before = cpu_of_tree(os.getpid())
    subprocess.run([sys.executable, "-I", "-S", "-c", "sum(range(6_000_000))"], check=True)
    assert cpu_of_tree(os.getpid()) > before


def test_this_machine_is_supported_and_an_old_kernel_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    assert system.unsupported() is None
    real = os.uname()
    old = os.uname_result((real.sysname, real.nodename, "5.2.21-generic", real.version, real.machine))
    monkeypatch.setattr(os, "uname", lambda: old)
    assert system.unsupported() == "kernel 5.2.21-generic is older than 5.3"


def test_e6_a_hardened_process_hides_its_memory() -> None:
    script = (
        "from ralph.process import system; import ctypes; system.harden();"
        "print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"  # PR_GET_DUMPABLE
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"


def test_s11_only_processes_of_that_run_are_leftovers_and_only_exact_ones_are_ended() -> None:
    run, other = uuid.uuid4().hex, uuid.uuid4().hex
    with (
        subprocess.Popen(["/bin/sleep", "600"], env={"RALPH_RUN": run}) as ours,
        subprocess.Popen(["/bin/sleep", "600"], env={"RALPH_RUN": other}) as theirs,
    ):
        try:
            wait_until(lambda: [one.pid for one in leftovers(run)] == [ours.pid], what="it shows its mark")
            found = leftovers(run)
            assert [one.name for one in found] == ["sleep"]
            assert end_leftovers([Leftover(ours.pid, found[0].started + 1, "sleep")]) == ()
            assert ours.poll() is None
            assert end_leftovers(found) == found
            assert ours.wait() == -9
            assert leftovers(run) == ()
            assert theirs.poll() is None
        finally:
            ours.kill()
            theirs.kill()
