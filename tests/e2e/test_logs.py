"""`ralph logs -f` tells what comes while it comes, all of it, and ends with the run."""

from __future__ import annotations

import threading
from pathlib import Path

from tests.e2e.site import Site


def test_following_shows_lines_of_the_living_run_and_ends_with_it(site: Site) -> None:
    steps = ["say:first words", "wait_for:go", "append:target.txt", "say:more words", "part:last, without an end"]
    live = site.start("-n", "2", agent=[*steps, "/", "append:target.txt", "say:second launch"])
    site.wait_until(lambda: (site.work / "at.go").exists(), "the agent waits")
    argv = [site.argv([], None)[0], "logs", "-f", "--state-dir", str(site.state)]
    with site.popen(argv) as follower:
        assert follower.stdout is not None
        patience = threading.Timer(60.0, follower.kill)
        patience.start()
        told: list[str] = []
        while "first words" not in (line := follower.stdout.readline()):
            assert line, told
            told.append(line)
        assert live.process.poll() is None, "shown while the agent is at work"
        Path(site.work, "go").touch()
        rest, err = follower.communicate(timeout=60)
        patience.cancel()
    assert live.end().code == 20
    assert follower.returncode == 0, err
    assert [line for line in rest.splitlines() if line.startswith("│ ")] == [
        "│ more words",
        "│ last, without an end",
        "│ second launch",
    ]
    assert rest.splitlines()[-1] == "── run stopped"


def test_following_a_run_that_has_ended_tells_its_last_iteration(site: Site) -> None:
    site.run("-n", "1", agent=["append:target.txt", "part:no newline"])
    done = site.command("logs", "-f")
    assert done.returncode == 0, done.stderr
    assert "│ no newline" in done.stdout.splitlines()
