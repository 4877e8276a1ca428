"""Our launcher starts git in an environment of its own, within limits, and only for what the table allows."""

from __future__ import annotations

import ast
import os
import time
from pathlib import Path

import pytest

from ralph.errors import UserError
from ralph.facts.reason import Reason
from ralph.repo.git import Git, find_git
from ralph.repo.policy import ANYWHERE, OURS_ONLY, check
from tests.repo.trees import repository

ROOM = Path(__file__).resolve().parents[2] / "ralph" / "repo"


@pytest.fixture
def git() -> Git:
    return find_git()


def fake(folder: Path, script: str) -> Git:
    program = folder / "git"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return Git(program, output_cap=1 << 20)


def test_it_gives_back_code_output_and_complaint(git: Git, tmp_path: Path) -> None:
    top = repository(tmp_path / "r", {"f": "1\n"})
    told = git.run(["rev-parse", "--verify", "HEAD^{tree}"], git_dir=top / ".git")
    assert (told.ok, told.code, told.err) == (True, 0, b"")
    assert len(told.out.strip()) == 40
    told = git.run(["cat-file", "blob", "0" * 40], git_dir=top / ".git")
    assert (told.ok, told.code) == (False, 128)
    assert told.complaint.startswith("fatal:")


def test_it_feeds_more_than_a_pipe_holds(git: Git, tmp_path: Path) -> None:
    top = repository(tmp_path / "r")
    data = b"x" * (1 << 20)
    told = git.run(["hash-object", "--no-filters", "--stdin"], git_dir=top / ".git", stdin=data)
    assert len(told.out.strip()) == 40


def test_the_environment_is_made_from_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_TRACE", "1")
    monkeypatch.setenv("SECRET", "canary")
    names = fake(tmp_path, "env").run(["version"]).out
    assert b"SECRET" not in names
    assert b"GIT_TRACE" not in names
    assert b"GIT_CONFIG_GLOBAL=/dev/null" in names
    assert b"GIT_ALLOW_PROTOCOL=\n" in names


def test_git_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    """C16: own group, time-out, KILL."""
    pid = tmp_path / "pid"
    told = fake(tmp_path, f"sleep 1000 & echo $! > {pid}; trap '' TERM; wait").run(["version"], timeout_s=0.3)
    assert told.cut == "timed-out"
    assert not told.ok
    _until_gone(int(pid.read_text()))


def test_git_that_closes_its_pipes_and_stays_is_ended(tmp_path: Path) -> None:
    """C16"""
    told = fake(tmp_path, "exec >&- 2>&-; exec sleep 1000").run(["version"], timeout_s=0.3)
    assert told.cut == "timed-out"


def test_git_that_floods_is_ended(tmp_path: Path) -> None:
    """C16: output cap."""
    told = fake(tmp_path, "exec yes").run(["version"], timeout_s=60)
    assert told.cut == "too-much"
    assert len(told.out) < 3 << 20


def test_a_child_that_holds_the_pipe_does_not_hold_us(tmp_path: Path) -> None:
    """A3: it is over when git has left; what git left behind in its group is ended."""
    pid = tmp_path / "pid"
    told = fake(tmp_path, f"sleep 1000 & echo $! > {pid}; echo done").run(["version"], timeout_s=60)
    assert (told.cut, told.code, told.out) == ("", 0, b"done\n")
    _until_gone(int(pid.read_text()))


def test_a_program_that_is_not_there_is_a_value(tmp_path: Path) -> None:
    told = Git(tmp_path / "no-git").run(["version"])
    assert (told.cut, told.ok) == ("not-started", False)


def test_no_descriptor_is_left_open(git: Git, tmp_path: Path) -> None:
    top = repository(tmp_path / "r")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        git.run(["hash-object", "--no-filters", "--stdin"], git_dir=top / ".git", stdin=b"x")
        Git(tmp_path / "no-git").run(["version"])
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize("version", ["2.31.9", "1.9", "nonsense"])
def test_an_old_git_is_refused(tmp_path: Path, version: str) -> None:
    fake(tmp_path, f"echo git version {version}")
    with pytest.raises(UserError) as caught:
        find_git(str(tmp_path))
    assert caught.value.reason is Reason.REFUSED


def test_no_git_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        find_git(str(tmp_path))
    assert caught.value.fix == "Install git 2.32 or newer."


@pytest.mark.parametrize(
    "command",
    [
        ["add", "-A"],
        ["status", "--ignore-submodules=all"],
        ["diff"],
        ["stash"],
        ["diff-tree", "A", "B"],
        ["diff-index", "HEAD"],
        ["ls-files", "-m"],
        ["ls-files", "--modified"],
        ["hash-object", "f"],
        ["cat-file", "--filters", "HEAD:f"],
        ["cat-file", "--textconv", "HEAD:f"],
        ["config", "core.pager", "x"],
        ["read-tree", "-u", "HEAD"],
        ["update-index", "--refresh"],
        ["worktree", "add", "x"],
        ["fetch"],
    ],
)
def test_the_table_lets_nothing_through_that_runs_planted_code(git: Git, tmp_path: Path, command: list[str]) -> None:
    """C13, C14"""
    with pytest.raises((AssertionError, KeyError)):
        git.run(command, git_dir=tmp_path)


def test_status_is_for_our_own_directories_alone(git: Git, tmp_path: Path) -> None:
    git.adopt(tmp_path / "ours")
    check(["status", "--ignore-submodules=all"], ours=True, placed=True)
    with pytest.raises(AssertionError):
        git.run(["status", "--ignore-submodules=all"], git_dir=tmp_path / "ours-not")


def test_every_git_command_in_the_sources_is_in_the_table() -> None:
    """The lint: any list or tuple literal given to a `run` of git begins with an allowed sub-command."""
    allowed: set[object] = {*ANYWHERE, *OURS_ONLY}
    seen: set[object] = set()
    for path in ROOM.parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "run":
                first = node.args[0] if node.args else None
                if "git" in ast.unparse(node.func.value) and isinstance(first, ast.List | ast.Tuple):
                    word = first.elts[0]
                    if isinstance(word, ast.Constant):
                        assert word.value in allowed, f"{path}: git {word.value!r}"
                        seen.add(word.value)
    assert {"ls-files", "config"} <= seen


def test_this_room_starts_programs_through_the_launcher_alone() -> None:
    starters = {"subprocess", "pty", "multiprocessing"}
    calls = {"system", "popen", "posix_spawn", "posix_spawnp", "fork", "execv", "execve"}
    for path in ROOM.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert not starters & {alias.name for alias in node.names}, path
            if isinstance(node, ast.Attribute) and node.attr in calls:
                assert path.name == "git.py", path


def _until_gone(pid: int) -> None:
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return
        if state in "ZX":
            return
        os.sched_yield()
    raise AssertionError(f"{pid} still runs")
