"""Errors a user will make: each has one clear message with its fix and code; nothing starts, nothing is lost."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.site import Result, Site, cases


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake. says: each must stand in the message; prepare: what is wrong with the ground."""

    code: int
    says: tuple[str, ...]
    options: tuple[str, ...] = ()
    prepare: Callable[[Site], object] = lambda site: None
    agent: str | None = "say:hello"


def without_prompt(site: Site) -> None:
    (site.repo / "PROMPT.md").unlink()


def as_prompt(make: Callable[[Path], object]) -> Callable[[Site], None]:
    def prepare(site: Site) -> None:
        without_prompt(site)
        make(site.repo / "PROMPT.md")

    return prepare


def huge(path: Path) -> None:
    path.touch()
    os.truncate(path, 10 << 30)


def not_executable(site: Site) -> None:
    site.write("agent.sh", "#!/bin/sh\n")


def bad_file(text: str) -> Callable[[Site], object]:
    return lambda site: site.write("ralph.toml", text)


def state_is_a_file(site: Site) -> None:
    site.state.write_text("a file", encoding="utf-8")


LIMITS = ("--max-iterations", "--max-time", "--max-cost", "--max-tokens", "--iteration-timeout", "--no-progress-after")
NO_CAPS = ("0", "-1", "", "inf", "nan", "08")

NO_TESTS = "echo 'collected 0 items'; echo '=== no tests ran in 0.01s ==='; exit 5"

MISTAKES = {
    "the prompt is missing": Mistake(2, ("PROMPT.md", "no such prompt file"), prepare=without_prompt),
    "the prompt is a directory": Mistake(2, ("PROMPT.md", "not an ordinary file"), prepare=as_prompt(Path.mkdir)),
    "the prompt is a FIFO (C3)": Mistake(2, ("PROMPT.md", "not an ordinary file"), prepare=as_prompt(os.mkfifo)),
    "the prompt is empty": Mistake(2, ("PROMPT.md", "empty"), prepare=as_prompt(Path.touch)),
    "the prompt has 10 GB": Mistake(2, ("PROMPT.md", "larger than"), prepare=as_prompt(huge)),
    "the agent is not on PATH (R019)": Mistake(30, ("no-such-agent", "PATH"), ("--", "no-such-agent"), agent=None),
    "the agent is not executable": Mistake(
        30, ("agent.sh", "chmod +x"), ("--", "./agent.sh"), prepare=not_executable, agent=None
    ),
    "an agent nobody knows": Mistake(2, ("clod", "claude"), ("-a", "clod"), agent=None),
    "the test program is missing (R101)": Mistake(2, ("no-such-tests",), ("--test", "no-such-tests -q")),
    "the check program is missing": Mistake(2, ("check.lint", "no-such-lint"), ("--check", "lint=no-such-lint")),
    "the tests find no test": Mistake(2, ("test.command", "no test"), ("--test", NO_TESTS)),
    "the tests do not end (R099)": Mistake(
        2, ("test.command", "in time"), ("--test", "sleep 600", "--set", "test.timeout=200ms")
    ),
    "the state is kept in a file": Mistake(40, ("state", "--state-dir"), prepare=state_is_a_file),
    "an unknown option": Mistake(2, ("--max-iteration", "--max-iterations"), ("--max-iteration", "3")),
    "an unknown key": Mistake(2, ("limits.iteratoins", "limits.iterations"), ("--set", "limits.iteratoins=3")),
    "an unknown key in the file": Mistake(
        2, ("ralph.toml", "iteratoins", "iterations"), prepare=bad_file("[limits]\niteratoins = 3\n")
    ),
    "a file that is no TOML": Mistake(2, ("ralph.toml", "line 1"), prepare=bad_file("limits = = 3\n")),
    "an unknown reason word": Mistake(2, ("iterations-limit", "iteration-limit"), ("--accept", "iterations-limit")),
    "a bare number for a time": Mistake(2, ("--max-time", "90s"), ("--max-time", "90")),
    "a cost limit that cannot be kept": Mistake(2, ("--cost-per-iteration",), ("--max-cost", "5")),
    "an empty promise (R064)": Mistake(2, ("promise",), ("--done", "promise=")),
    "notes off with a nonce promise": Mistake(2, ("promise=TOKEN",), ("--notes", "off", "--done", "promise")),
    "a checklist that is not there": Mistake(2, ("PLAN.md",), ("--done", "checklist=PLAN.md")),
    "an unknown gate": Mistake(2, ("--done", "checklist"), ("--done", "vibes")),
    "a folder that is not there": Mistake(2, ("nowhere",), ("-C", "nowhere")),
    "an empty command": Mistake(2, ("COMMAND",), ("--",), agent=None),
    "an unknown profile": Mistake(2, ("night",), ("--profile", "night")),
    "the reload of a protected prompt": Mistake(
        2, ("prompt.reload", "protect"), ("--set", "prompt.reload=always", "--protect", "PROMPT.md")
    ),
}


SLOW = (
    "an unknown key in the file",
    "notes off with a nonce promise",
    "a checklist that is not there",
    "an unknown profile",
    "the reload of a protected prompt",
    "the check program is missing",
    "a folder that is not there",
)
"""Told by the same few lines as others of the table, and proved without a process elsewhere."""


def refused(site: Site, done: Result, mistake: Mistake) -> None:
    assert done.code == mistake.code, done.err
    for words in mistake.says:
        assert words in done.err, done.err
    assert f"[{mistake.code} " in done.err or "Usage:" in done.err
    assert "mend it" in done.err or "Did you mean" in done.err or "Usage:" in done.err, done.err
    assert done.out == ""
    assert done.launches == 0
    assert site.runs() == [], "a run that never began leaves no record"


@pytest.mark.parametrize("mistake", cases(MISTAKES, slow=SLOW))
def test_a_mistake_is_refused_with_its_fix_before_anything_starts(site: Site, mistake: Mistake) -> None:
    mistake.prepare(site)
    before = sorted(p.name for p in site.repo.iterdir())
    refused(site, site.run(*mistake.options, agent=mistake.agent), mistake)
    assert sorted(p.name for p in site.repo.iterdir()) == before


@pytest.mark.slow
def test_no_odd_value_ever_turns_a_cap_off(site: Site) -> None:
    """R075: all of them are told at once, each with its flag, its value and a fix."""
    for value in NO_CAPS:
        options = [word for flag in LIMITS for word in (flag, value)]
        done = site.run(*options)
        assert (done.code, done.launches) == (2, 0), (value, done.err)
        for flag in LIMITS:
            assert flag in done.err, (value, done.err)
        assert done.err.count("error:") == len(LIMITS)


def test_an_empty_environment_limit_is_an_error_and_not_no_limit(site: Site) -> None:
    done = site.run(env={"RALPH_LIMITS__ITERATIONS": ""})
    assert (done.code, done.launches) == (2, 0)
    assert "RALPH_LIMITS__ITERATIONS" in done.err


def test_all_mistakes_are_told_at_once_each_with_its_place(site: Site) -> None:
    (site.repo / "ralph.toml").write_text('[limits]\ntime = "soon"\n[stop]\nno_progress = 0\n', encoding="utf-8")
    done = site.run("-n", "0", env={"RALPH_LIMITS__TURNS": "many"})
    assert done.code == 2
    for words in (
        "limits.time",
        "ralph.toml",
        "stop.no_progress",
        "--max-iterations",
        "RALPH_LIMITS__TURNS",
        "toml:2",
        "toml:4",
    ):
        assert words in done.err, done.err


def test_a_second_run_in_the_same_tree_is_refused_with_the_holder(site: Site) -> None:
    """C20: also with another state directory, and the first run goes on untouched."""
    first = site.start("-n", "1", agent=["wait_for:go", "say:done"])
    site.wait_for_launch()
    other = [*site.argv(["--state-dir", str(site.root / "elsewhere")], ["say:second"])]
    with site.popen(other) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (41, "")
    assert str(first.process.pid) in err
    assert "mend it" in err
    (site.work / "go").touch()
    done = first.end()
    assert (done.code, done.launches) == (20, 1)


@pytest.mark.parametrize("blocks", [32, 128], ids=["16 KiB", "64 KiB"])
def test_a_full_disk_is_no_crash(site: Site, blocks: int) -> None:
    """R112, S4: no file may grow past this, ours included: the run ends as 43 and nothing is left running."""
    argv = site.argv(["-n", "50"], ["append:target.txt", "say:" + "x" * 4000])
    with site.popen(["sh", "-c", f'ulimit -f {blocks}; exec "$@"', "sh", *argv]) as process:
        out, err = process.communicate(timeout=60)
    done = site.result(process.returncode, out, err)
    assert done.code == 43, err
    assert "[43 storage]" in done.err
    assert done.records[0]["type"] == "run_started"


def test_a_repository_owned_by_somebody_else_works_or_says_why(site: Site) -> None:
    """R115: as CI containers have it."""
    if os.getuid() != 0:
        pytest.skip("needs root to give a folder away")
    subprocess.run(["chown", "-R", "12345:12345", str(site.repo)], check=True)
    done = site.run("-n", "1", agent=["append:target.txt", "say:x"])
    assert (done.code, done.launches) == (20, 1), done.err
    assert done.summary["iterations"][0]["diff"]["files"] == 1


def test_without_home_and_with_a_bare_environment_it_works_or_says_why(site: Site) -> None:
    """R115, R117: cron's environment; the state directory given, then not."""
    bare = {"PATH": "/usr/bin:/bin", "E2E_TOKEN": site.token}
    saved, site.environ = site.environ, bare
    done = site.run("-n", "1", "-C", str(site.repo), cwd=site.root, agent=["append:target.txt", "say:x"])
    assert (done.code, done.launches) == (20, 1), done.err
    argv = [word for word in site.argv([], ["say:x"]) if word not in ("--state-dir", str(site.state))]
    with site.popen(argv) as process:
        out, err = process.communicate(timeout=60)
    site.environ = saved
    assert process.returncode == 2, err
    assert "--state-dir" in err
    assert out == ""
    assert site.launches == 1
