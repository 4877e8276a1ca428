"""Signals and words from other terminals: the run ends as told, its record is complete, its agent is gone."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from tests.e2e.site import Live, Site, cases

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
WORDS = {130: "interrupted", 143: "terminated", 129: "hangup"}
HANGS = ["append:target.txt", "hold", "say:working", "/", "hold", "deaf", "hang"]
"""The second launch hangs, deaf to TERM, with a helper that hides."""


def hanging(site: Site, *options: str) -> Live:
    live = site.start(*options, agent=HANGS)
    site.wait_until((site.work / "at.hang").exists, "the agent hangs, deaf by now")
    return live


@pytest.mark.parametrize("number", cases({n.name: n for n in CODES}, slow=("SIGHUP",)))
def test_a_signal_ends_the_run_with_a_complete_record(site: Site, number: signal.Signals) -> None:
    """A18, A20, R089, R094: the agent hangs, is deaf to TERM and has a hidden helper; summary within 5 s."""
    live = hanging(site, "--set", "limits.grace=300ms")
    began = time.monotonic()
    live.signal(number)
    done = live.end()
    assert time.monotonic() - began < 5
    code = CODES[number]
    assert (done.code, done.reason, done.summary["exit_code"]) == (code, WORDS[code], code)
    assert done.summary["status"] == "stopped"
    assert done.outcomes == ["completed", "interrupted"]
    assert done.records[-1]["type"] == "run_stopped"
    assert done.out.startswith(f"{WORDS[code]}: ")
    assert "ralph resume" in done.out


@pytest.mark.slow
def test_a_long_grace_is_shortened_so_that_the_summary_is_there_in_time(site: Site) -> None:
    """min(grace, 4 s): the default grace of 10 s would keep a CI runner waiting until it kills us."""
    live = hanging(site, "--set", "limits.grace=60s")
    began = time.monotonic()
    live.signal(signal.SIGTERM)
    done = live.end()
    assert time.monotonic() - began < 20
    assert done.code == 143


def test_a_second_interrupt_kills_at_once(site: Site) -> None:
    """A19: within half a second where a grace of 60 s (shortened to 4) was running; still a record."""
    live = hanging(site, "--set", "limits.grace=60s")
    live.signal(signal.SIGINT)
    site.wait_until(lambda: not signal_is_pending(live.process.pid), "the first was taken: two pending count as one")
    began = time.monotonic()
    live.signal(signal.SIGINT)
    done = live.end()
    assert time.monotonic() - began < 2.5
    assert (done.code, done.reason) == (130, "interrupted")


def signal_is_pending(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    return any(int(line.split()[1], 16) for line in status.splitlines() if line.startswith(("SigPnd", "ShdPnd")))


def test_a_signal_during_the_baseline_ends_with_its_own_code(site: Site) -> None:
    """A18: nothing was started yet, so there is nothing to resume; the code is that of the signal all the same."""
    live = site.start("--test", f"touch {site.work}/testing; sleep 600")
    site.wait_until((site.work / "testing").exists, "the baseline runs")
    live.signal(signal.SIGTERM)
    done = live.end()
    assert (done.code, done.launches) == (143, 0), done.err


@pytest.mark.slow
def test_a_signal_ends_a_wait_at_once(site: Site) -> None:
    """A18: with an hour of back-off ahead."""
    options = ("--set", 'limits.quick_failure_pauses=["1h"]')
    live = site.start(*options, agent=["complain:no", "exit:1"])
    site.wait_until(lambda: any(r["type"] == "waiting" for r in site.records()), "a wait")
    live.signal(signal.SIGINT)
    done = live.end()
    assert (done.code, done.launches) == (130, 1)


def test_an_ignored_hangup_stays_ignored(site: Site) -> None:
    """A20, R090: nohup."""
    live = site.start("-n", "1", agent=["wait_for:go", "say:x"], preexec_fn=ignore_hangup)
    site.wait_for_launch()
    live.signal(signal.SIGHUP)
    (site.work / "go").touch()
    done = live.end()
    assert (done.code, done.reason) == (20, "iteration-limit")


def ignore_hangup() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def test_stop_finishes_the_iteration_and_stop_now_does_not(site: Site) -> None:
    live = site.start(agent=["wait_for:go", "append:target.txt", "say:x", "/", "hang"])
    site.wait_for_launch()
    told = site.command("stop")
    assert (told.returncode, told.stdout) == (0, ""), told.stderr
    (site.work / "go").touch()
    done = live.end()
    assert (done.code, done.outcomes, done.launches) == (130, ["completed"], 1)
    live = site.start(agent="hang")
    site.wait_for_launch(2)
    assert site.command("stop", "--now").returncode == 0
    done = live.end()
    assert (done.code, done.outcomes) == (130, ["interrupted"])
    assert site.command("stop").returncode == 2, "nobody is there to stop"


@pytest.mark.slow
def test_reload_takes_the_prompt_and_wake_ends_a_wait(site: Site) -> None:
    """2.4: an edit is announced and changes nothing until `ralph reload`; both hashes are in the journal."""
    pauses = ("--set", 'limits.quick_failure_pauses=["1h"]', "-n", "3")
    live = site.start(*pauses, agent=["complain:no", "exit:1", "/", "append:target.txt", "say:x", "/", "say:x"])
    site.wait_until(lambda: any(r["type"] == "waiting" for r in site.records()), "a wait")
    assert "waiting" in site.command("status").stdout
    assert site.command("wake").returncode == 0
    site.wait_for_launch(2)
    done = live.end()
    assert (done.code, done.launches) == (20, 3), done.err


def test_reload_takes_the_prompt_as_it_is_now(site: Site) -> None:
    """2.4: an edit is announced and changes nothing until `ralph reload`; both hashes are in the journal."""
    steps = ["append:target.txt", "wait_for:{}", "say:x"]
    first, second = ([*steps[:1], f"wait_for:go{n}", "say:x"] for n in (1, 2))
    live = site.start("-n", "3", agent=[*first, "/", *second, "/", "say:x"])
    site.wait_until((site.work / "at.go1").exists, "launch 1 at work")
    site.write("PROMPT.md", "Do it another way.\n")
    (site.work / "go1").touch()
    site.wait_until((site.work / "at.go2").exists, "launch 2 at work")
    assert site.prompt(2).startswith("Improve it.\n")
    assert site.command("reload").returncode == 0
    (site.work / "go2").touch()
    done = live.end()
    assert site.prompt(3).startswith("Do it another way.\n")
    (reloaded,) = done.of("reloaded")
    assert reloaded["old"] == done.records[0]["prompt_hash"] != reloaded["new"]
    assert "PROMPT.md" in done.err
    assert "ralph reload" in done.err


def test_killing_ralph_leaves_nothing_running_and_the_next_run_goes_on(site: Site) -> None:
    """A13, A22, R091, R094: three times; the lock is free, the summary valid, the cut-off run named, nobody asked."""
    for _ in range(3):
        launched = site.launches
        live = site.start(agent=["append:target.txt", "hold", "say:x", "/", "hold", "deaf", "hang"])
        site.wait_for_launch(launched + (2 if launched == 0 else 1))
        live.signal(signal.SIGKILL)
        live.process.communicate(timeout=60)
        site.wait_until(lambda: site.left_running() == [], "all gone")
        assert (site.summary() or {"status": "running"})["status"] == "running"
        assert "cut off" in site.command("status").stdout
    done = site.run("-n", "1", agent="say:x")
    assert done.code == 20
    assert "cut off" in done.err


def test_an_agent_that_kills_its_parent_ends_neither_the_run_nor_ralph(site: Site) -> None:
    """R093: the guardian ignores TERM; A12: and if it is killed, the tree is swept and the run ends as 33."""
    done = site.run("-n", "1", agent=["shell:kill -TERM $(ps -o ppid= -p {pid})", "append:target.txt", "say:x"])
    assert (done.code, done.outcomes) == (20, ["completed"])
    done = site.run(agent=["hold", "shell:kill -KILL $(ps -o ppid= -p {pid})", "say:x"])
    assert (done.code, done.reason) == (33, "agent-failing")
    assert set(done.outcomes) == {"poisoned"}


def test_a_reader_that_leaves_does_not_end_the_run(site: Site) -> None:
    """A27, R109: `ralph run --json | head -1`, and stderr closed as well: the run goes on to its end."""
    argv = site.argv(["--json", "-n", "3"], ["append:target.txt", "say:x"])
    with site.popen(argv, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        code = process.wait(timeout=60)
    done = site.result(code, "", "")
    assert (done.code, done.launches) == (20, 3)
    assert done.summary["status"] == "stopped"


@pytest.mark.slow
def test_a_stopped_run_goes_on_where_it_was(site: Site) -> None:
    """A10, R113: STOP and CONT of the whole session kill nobody."""
    live = site.start("-n", "1", agent=["wait_for:go", "say:x"])
    site.wait_for_launch()
    tree = [live.process.pid, *(child.pid for child in psutil.Process(live.process.pid).children(recursive=True))]
    for number in (signal.SIGSTOP, signal.SIGCONT):
        for pid in tree:
            os.kill(pid, number)
    (site.work / "go").touch()
    done = live.end()
    assert (done.code, done.outcomes) == (20, ["completed"])
