"""Bug reports against runners like this one, end to end: those that need a ground of their own."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from tests.e2e.site import QUICK, RALPH, Site

pytestmark = pytest.mark.slow

WORK = ("append:target.txt",)


@pytest.mark.slow
def test_an_agent_that_is_gone_for_a_moment_is_tried_again(site: Site) -> None:
    """R029: it updates itself in the middle of the run; no sign of no progress."""
    agent = site.root / "agent"
    agent.write_text(f'#!/bin/sh\necho x >> {site.work}/launches; echo x >> target.txt; mv "$0" "$0.new"\n', "utf-8")
    agent.chmod(0o755)
    back = f"hooks.after_iteration=test -e {site.work}/once && mv {agent}.new {agent}; touch {site.work}/once; true"
    argv = [str(RALPH), "run", "--state-dir", str(site.state), *QUICK, "--set", back, "-n", "3", "--", str(agent)]
    with site.popen(argv) as process:
        out, err = process.communicate(timeout=60)
    done = site.result(process.returncode, out, err)
    assert (done.code, done.outcomes) == (20, ["completed", "missing", "completed"]), err
    assert done.launches == 2


@pytest.mark.slow
def test_no_agent_is_ever_asked_to_resume_a_session(site: Site) -> None:
    """R096: a fresh context each time; the program as found on PATH, with its adapter's arguments, spoken to or not."""
    tools = site.root / "bin"
    tools.mkdir()
    steps = " ".join(f"'{word}'" for word in site.agent("unread", "c-init", *WORK, "c-result:x"))
    (tools / "claude").write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {site.work}/args\nexec {steps}\n', "utf-8")
    (tools / "claude").chmod(0o755)
    done = site.run("-a", "claude", "-n", "2", env={"PATH": f"{tools}:{os.environ['PATH']}"}, agent=None)
    assert (done.code, done.outcomes) == (20, ["completed"] * 2), done.err
    given = (site.work / "args").read_text(encoding="utf-8").split()
    assert "stream-json" in given
    assert not {"--resume", "--continue", "-c", "-r", "--session-id"} & set(given)


@pytest.mark.slow
def test_a_merge_left_half_done_is_told_and_credited_once(site: Site) -> None:
    """R078."""
    site.git("checkout", "-qb", "other")
    site.write("target.txt", "theirs\n")
    site.commit()
    site.git("checkout", "-q", "main")
    site.write("target.txt", "ours\n")
    site.commit()
    done = site.run(agent=["shell:git merge -q other; :", "say:merged"])
    assert (done.code, done.launches) == (10, 4), done.out
    assert [f["kind"] for f in done.summary["findings"] if "merge" in f["detail"]] == ["unfinished"]


def test_a_detached_head_is_told_with_its_names(site: Site) -> None:
    """R079, C7: and a soft reset of committed work is no loss of progress (R043, C5)."""
    steps = ["git:checkout -q --detach", *WORK, "commit", "say:x", "/", "git:reset -q --soft HEAD~1", *WORK, "say:x"]
    done = site.run("-n", "2", agent=steps)
    assert (done.code, done.outcomes) == (20, ["completed"] * 2)
    assert any("head" in kind for kind in done.findings), done.findings
    assert "main" in done.out
    assert [i["diff"]["files"] for i in done.summary["iterations"]] == [1, 1]


def test_ralph_never_pushes_commits_or_sweeps_in_secrets(site: Site) -> None:
    """R081, R082: no commit of ours, no object of ours in the repository, no file of ours in the tree."""
    bare = site.root / "bare.git"
    site.git("clone", "-q", "--bare", str(site.repo), str(bare))
    site.git("remote", "add", "origin", str(bare))
    site.write(".env", "KEY=secret\n")
    heads = site.git("for-each-ref"), site.git("for-each-ref", cwd=bare)
    objects = sorted(p.name for p in (site.repo / ".git" / "objects").rglob("*"))
    done = site.run("-n", "2", agent=[*WORK, "say:x"])
    assert done.code == 20
    assert (site.git("for-each-ref"), site.git("for-each-ref", cwd=bare)) == heads
    assert sorted(p.name for p in (site.repo / ".git" / "objects").rglob("*")) == objects
    assert sorted(p.name for p in site.repo.iterdir()) == [".env", ".git", ".gitignore", "PROMPT.md", "target.txt"]


@pytest.mark.slow
def test_a_cut_journal_is_set_aside_and_the_next_run_starts(site: Site) -> None:
    """R092, S2: half a line at the end, a summary of nonsense, a holder file of zeros."""
    site.run("-n", "2", agent=[*WORK, "say:x"])
    (run,) = site.runs()
    with open(run / "journal.jsonl", "ab") as file:
        file.write(b'{"n":99,"at":"20')
    (run / "summary.json").write_bytes(b"{}")
    for name in ("holder.json", "accepted.json"):
        (run.parent.parent / name).write_bytes(bytes(100))
    assert site.command("status").returncode == 0
    again = site.run("-n", "1", agent=[*WORK, "say:x"])
    assert again.code == 20, again.err
    shutil.rmtree(site.runs()[-1])
    more = site.command("resume", "-n", "+1")
    assert more.returncode == 20, more.stderr
    assert [i["n"] for i in site.summary()["iterations"]] == [1, 2, 3]


def test_odd_paths_are_arguments_and_nothing_of_the_prompt_is_run(site: Site) -> None:
    """R108: blanks, a semicolon, a quote in the paths of agent and tree; shell syntax in the prompt."""
    repo = site.repo.rename(site.root / "re po;'x\"$(touch pwned)")
    (repo / "PROMPT.md").write_text("$(touch pwned) `touch pwned`; touch pwned\n", encoding="utf-8")
    agent = site.root / "my agent;'a"
    agent.write_text(
        f'#!/bin/sh\ncat > "{site.work}/prompt.1"; printf "%s" "$1" > "{site.work}/arg"; echo x\n', "utf-8"
    )
    agent.chmod(0o755)
    argv = [*site.argv(["-n", "1"], None), "--", str(agent), "a b;$(touch pwned)"]
    with site.popen(argv, cwd=repo) as process:
        out, err = process.communicate(timeout=60)
    assert process.returncode == 20, err + out
    assert (site.work / "arg").read_text(encoding="utf-8") == "a b;$(touch pwned)"
    assert not list(site.root.rglob("pwned"))


@pytest.mark.slow
def test_a_path_with_git_and_the_interpreter_only_is_enough(site: Site) -> None:
    """R118: nothing else of the platform is called."""
    tools = site.root / "bin"
    tools.mkdir()
    git = shutil.which("git")
    assert git
    (tools / "git").symlink_to(git)
    done = site.run("-n", "2", env={"PATH": str(tools)}, agent=["append:target.txt", "say:x"])
    assert (done.code, done.outcomes) == (20, ["completed"] * 2), done.err
    assert "\x1b" not in done.err + done.out


@pytest.mark.slow
def test_an_unheld_lock_file_of_another_life_is_no_lock(site: Site) -> None:
    """R119: what counts is the kernel's lock, not a file."""
    site.run("-n", "1", agent=[*WORK, "say:x"])
    (holder,) = site.state.glob("*/holder.json")
    told = json.loads(holder.read_text(encoding="utf-8"))
    holder.write_text(json.dumps({**told, "pid": os.getpid()}), encoding="utf-8")
    assert site.run("-n", "1", agent=[*WORK, "say:x"]).code == 20


@pytest.mark.slow
def test_an_agent_that_stays_after_its_result_is_ended_and_keeps_it(site: Site) -> None:
    """R002, A4: after 10 s; not a failed timeout."""
    done = site.run("-a", "claude", "-n", "1", agent=["c-init", *WORK, "c-result:x=0.3", "hang"])
    assert (done.outcomes, done.summary["totals"]["cost_usd"]["value"]) == (["completed"], 0.3)
    assert "did not leave" in done.summary["iterations"][0]["detail"]


@pytest.mark.slow
def test_huge_untracked_trees_are_bounded(site: Site) -> None:
    """R039: 30,000 small files and one of 300 MB; ours grows by far less, the user's objects not at all."""
    many = "mkdir big; seq 30000 | (cd big && xargs -n 500 touch); head -c 300000000 /dev/zero > big/blob"
    done = site.run("-n", "2", "--set", "snapshot.max_bytes=1MB", agent=[f"shell:{many}", "say:x", "/", *WORK, "say:x"])
    assert (done.code, done.summary["iterations"][1]["diff"]["files"]) == (20, 1), done.err
    assert sum(f.stat().st_blocks * 512 for f in site.state.rglob("*") if f.is_file()) < 64 << 20


@pytest.mark.slow
def test_logs_of_a_flooding_agent_are_capped(site: Site) -> None:
    """R111, B1: 200 MB in one iteration."""
    done = site.run("-n", "1", agent=["flood:200000", *WORK])
    assert (done.code, done.outcomes) == (20, ["completed"])
    (log,) = site.state.glob("*/runs/*/iterations/0001/agent.out")
    assert log.stat().st_size < 80 << 20
