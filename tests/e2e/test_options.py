"""What the options of `run` do, seen from outside."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.e2e.site import Site

WORK = ["append:target.txt", "say:x"]


@pytest.mark.slow
def test_accept_makes_an_ending_exit_zero_and_keeps_its_reason(site: Site) -> None:
    done = site.run("--accept", "iteration-limit", "-n", "1", agent=WORK)
    assert (done.code, done.reason, done.summary["exit_code"]) == (0, "iteration-limit", 0)
    done = site.run("--accept", "iteration-limit", agent="say:idle")
    assert (done.code, done.reason) == (10, "no-progress")


@pytest.mark.slow
def test_until_ends_the_run_at_a_time_of_day(site: Site) -> None:
    """The next such minute; until it comes the run works."""
    soon = datetime.now().astimezone() + timedelta(hours=2)
    done = site.run("--until", soon.strftime("%H:%M"), "-n", "1", agent=WORK)
    assert (done.code, f"until {soon:%H:%M}" in done.err) == (20, True), done.err


def test_the_time_limit_ends_a_running_agent(site: Site) -> None:
    done = site.run("--max-time", "1s", agent=["append:target.txt", "say:x", "hang"])
    assert (done.code, done.reason) == (21, "time-limit")
    assert done.launches >= 1
    assert done.outcomes[-1] == "limit"


def test_the_cost_limit_starts_no_work_past_it_and_shows_the_overshoot(site: Site) -> None:
    """R075, R076."""
    done = site.run("-a", "claude", "--max-cost", "3.50", agent=["c-init", "append:target.txt", "c-result:x=1.0"])
    assert (done.code, done.reason) == (22, "cost-limit")
    assert done.launches == 4
    assert done.summary["totals"]["cost_usd"]["value"] == 4.0
    assert "overshoot" in done.out


@pytest.mark.slow
def test_the_token_limit_holds(site: Site) -> None:
    done = site.run("-a", "claude", "--max-tokens", "300", agent=["c-init", "append:target.txt", "c-result:x=0.1"])
    assert (done.code, done.reason, done.launches) == (23, "token-limit", 3)


@pytest.mark.slow
def test_another_folder_and_a_sub_folder_work_on_the_whole_tree(site: Site) -> None:
    """-C; paths on the line are taken from where the user stands."""
    site.write("src/deep/PROMPT.md", "From below.\n")
    done = site.run("-n", "1", agent=["append:new.txt", "say:x"], cwd=site.repo / "src" / "deep")
    assert done.code == 20, done.err
    assert site.prompt(1).startswith("Improve it.\n"), "the default prompt is that of the tree's top"
    assert (site.repo / "new.txt").exists(), "the agent works in the top folder"
    done = site.run("PROMPT.md", "-C", str(site.repo / "src" / "deep"), "-n", "1", agent=WORK, cwd=site.root)
    assert site.prompt(2).startswith("From below.\n"), done.err
    assert len({run.parent for run in site.runs()}) == 1, "one tree, one place for its runs"


@pytest.mark.slow
def test_the_prompt_may_come_from_stdin(site: Site) -> None:
    """R004: read once; the agent's own stdin is the prompt and then its end."""
    done = site.run("-", "-n", "2", agent=WORK, stdin="From a pipe.\n")
    assert done.code == 20, done.err
    assert site.prompt(1) == "From a pipe.\n"
    assert site.prompt(2).startswith("From a pipe.\n")


def test_a_dry_run_prints_the_plan_and_starts_nothing(site: Site) -> None:
    done = site.run("--dry-run", "--test", f"touch {site.work}/tested", "--done", "promise", agent=WORK)
    assert (done.code, done.launches) == (0, 0)
    assert site.runs() == []
    assert not (site.work / "tested").exists()
    for words in ("PROMPT.md", "sha256", "limits.iterations = 50", "DONE-", "nothing was started", str(site.work)):
        assert words in done.out


def test_notes_off_sends_the_bytes_and_nothing_else(site: Site) -> None:
    """2.4: also bytes that are no text at all."""
    data = b"do it\r\n\xff\x00 \xe2\x82\x28 $(touch x) \x1b[0m"
    (site.repo / "PROMPT.md").write_bytes(data)
    done = site.run("--notes", "off", "-n", "2", agent=["complain:no", "append:target.txt", "exit:1"])
    assert done.code == 20
    assert (site.work / "prompt.1").read_bytes() == data
    assert (site.work / "prompt.2").read_bytes() == data


def test_a_note_stands_behind_the_prompt_and_tells_how_the_last_iteration_ended(site: Site) -> None:
    done = site.run("-n", "2", "--test", "echo 'FAILED t.py::x - y'; echo '1 failed in 0.1s'; exit 1", agent=WORK)
    assert done.code == 20
    assert site.prompt(1) == "Improve it.\n", "nothing to say in iteration 1"
    second = site.prompt(2)
    assert second.startswith("Improve it.\n\n<!-- ralph: note")
    assert len(second.encode()) <= len(site.prompt(1)) + 1 + 4096
    assert "completed" in second


@pytest.mark.slow
def test_reload_always_takes_every_edit(site: Site) -> None:
    """2.4: for those who want the old way; what was obeyed is accepted for the next run."""
    edit = "shell:echo 'Round {n}.' > PROMPT.md"
    done = site.run("--set", "prompt.reload=always", "-n", "3", agent=[edit, "say:x"])
    assert done.code == 20
    assert site.prompt(2).startswith("Round 1.\n")
    assert site.prompt(3).startswith("Round 2.\n")
    assert len(done.of("reloaded")) == 2


@pytest.mark.slow
def test_hooks_run_before_and_after_each_iteration(site: Site) -> None:
    hooks = [f"hooks.{when}_iteration=echo {when} >> {site.work}/hooks" for when in ("before", "after")]
    options = [word for hook in hooks for word in ("--set", hook)]
    done = site.run(*options, "-n", "2", agent=[f"shell:echo agent >> {site.work}/hooks", *WORK])
    assert done.code == 20
    assert (site.work / "hooks").read_text().split() == ["before", "agent", "after"] * 2


def test_setup_runs_beside_the_loop_and_ends_with_it(site: Site) -> None:
    setup = f"setup.command=echo started >> {site.work}/setup; exec sleep 600"
    done = site.run("--set", setup, "-n", "2", agent=[f"shell:until test -s {site.work}/setup; do :; done", *WORK])
    assert done.code == 20
    assert (site.work / "setup").read_text().split() == ["started"]


def test_a_kept_process_outlives_its_iteration_and_not_the_run(site: Site) -> None:
    """R011: a daemon of the build; without `process.keep` it goes with its iteration."""
    pid = f"{site.work}/kept"
    start = f"shell:setsid sleep 600 & echo $! > {pid}"
    steps = [start, *WORK, "/", f"shell:kill -0 $(cat {pid})", *WORK]
    done = site.run("--set", 'process.keep=["sleep"]', "-n", "2", agent=steps)
    assert (done.code, (site.work / "shell").read_text().split()) == (20, ["0", "0"])


def test_ignored_files_are_no_progress(site: Site) -> None:
    """R035: the heartbeat file, named on the line."""
    done = site.run("--ignore", "STATUS.md", agent=["write:STATUS.md={now}", "say:x"])
    assert (done.code, done.launches) == (10, 3)


def test_the_summary_is_written_where_it_is_wanted_after_each_iteration(site: Site) -> None:
    place = site.root / "out.json"
    seen = f"shell:cp {place} {site.work}/seen"
    done = site.run("--summary", str(place), "-n", "2", agent=[*WORK, "/", seen, *WORK])
    assert json.loads(place.read_text(encoding="utf-8")) == done.summary
    between = json.loads((site.work / "seen").read_text(encoding="utf-8"))
    assert (between["status"], len(between["iterations"])) == ("running", 1)


@pytest.mark.slow
def test_keys_come_from_flag_environment_file_and_pyproject_in_that_order(site: Site) -> None:
    site.write("pyproject.toml", "[tool.ralph.limits]\niterations = 9\n")
    assert site.run("--dry-run").out.count("limits.iterations = 9") == 1
    site.write("ralph.toml", "[limits]\niterations = 8\n[profile.short.limits]\niterations = 7\n")
    assert "limits.iterations = 8" in site.run("--dry-run").out
    assert "limits.iterations = 7" in site.run("--dry-run", "--profile", "short").out
    env = {"RALPH_LIMITS__ITERATIONS": "6"}
    assert "limits.iterations = 6" in site.run("--dry-run", "--profile", "short", env=env).out
    assert "limits.iterations = 5" in site.run("--dry-run", "-n", "5", env=env).out


@pytest.mark.slow
def test_resume_goes_on_with_more_iterations_and_counts_on(site: Site) -> None:
    first = site.run("-n", "2", agent=WORK)
    more = site.command("resume", "-n", "+1")
    assert more.returncode == 20, more.stderr
    summary = site.summary()
    assert summary["run"] == first.summary["run"]
    assert [i["n"] for i in summary["iterations"]] == [1, 2, 3]
    assert site.launches == 3


@pytest.mark.slow
def test_a_run_in_a_worktree_leaves_the_tree_alone(site: Site) -> None:
    before = site.git("status", "--porcelain=v2", "--branch")
    done = site.run("--worktree", "-n", "1", agent=["append:target.txt", "commit", "say:x"])
    assert done.code == 20, done.err
    assert site.git("status", "--porcelain=v2", "--branch") == before
    (branch,) = site.git("branch", "--list", "ralph/*", "--format=%(refname:short)").split()
    assert "1" in site.git("show", f"{branch}:target.txt")
    assert Path(site.repo, "target.txt").read_text() == "start\n"
