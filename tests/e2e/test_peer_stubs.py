"""The stub behaviours that break other runners, with default thresholds: each run ends as it should, and cleanly."""

from __future__ import annotations

import pytest

from tests.e2e.site import Site, cases

CIRCLES = {
    "A/B": ("A B A B A B A B", 5, ""),
    "A/B committed": ("A B A B A B A B", 5, "commit"),
    "A/B with noise": ("A B n1 A B n2 A B n3 A B n4", 7, ""),
    "A/B with noise, committed": ("A B n1 A B n2 A B n3 A B n4", 7, "commit"),
    "A/B/C": ("A B C A B C A B C", 6, ""),
    "to and fro around a base": ("A start A start A start A", 4, ""),
}
"""What is written to target.txt in turn, the iteration by which the run has ended, what follows each write."""
SLOW = (
    "A/B committed",
    "A/B with noise",
    "A/B/C",
    "to and fro around a base",
    "one untracked file rewritten, R031",
    "the same 200 lines each time, R048",
    "phrases that sound finished, R067",
)


def test_an_agent_that_does_nothing_is_stopped_at_three(site: Site) -> None:
    done = site.run(agent="say:I looked around, all is well.")
    assert (done.code, done.reason, done.launches) == (10, "no-progress", 3)
    assert done.summary["evidence"]["iterations"] == [1, 2, 3]


@pytest.mark.slow
def test_an_agent_that_only_talks_differently_is_stopped_at_three(site: Site) -> None:
    """R049: texts are no progress."""
    done = site.run(agent="say:thought {now} of launch {n}")
    assert (done.code, done.launches) == (10, 3)


@pytest.mark.parametrize("case", cases(CIRCLES, slow=SLOW[:4]))
def test_going_to_and_fro_is_stopped_and_names_its_states(site: Site, case: tuple[str, int, str]) -> None:
    """R046, R047: committed or not, with noise between or not."""
    walk, by, how = case
    steps = [f"walk:{walk}", *([how] if how else []), "say:done a step"]
    done = site.run("-n", "12", agent=steps)
    assert (done.code, done.reason) == (11, "oscillation"), done.out
    assert done.launches <= by
    assert len(set(done.summary["evidence"]["states"])) >= 2
    assert all(state[:12] in done.out for state in done.summary["evidence"]["states"])


HEALTHY = {
    "a new file each time": ["write:new{n}.txt=x", "say:x"],
    "real commits, R030": ["append:target.txt", "commit", "say:x"],
    "one untracked file rewritten, R031": ["write:notes.txt=version {n}", "say:x"],
    "the same 200 lines each time, R048": ["append:code.py", "say:" + "same line\\n" * 200],
    "phrases that sound finished, R067": ["append:target.txt", "say:all done with step 1, complete, finished"],
}


@pytest.mark.parametrize("steps", cases(HEALTHY, slow=SLOW[4:]))
def test_a_healthy_run_is_never_stopped_before_its_limit(site: Site, steps: list[str]) -> None:
    done = site.run("-n", "5", agent=steps)
    assert (done.code, done.reason, done.launches) == (20, "iteration-limit", 5), done.out


def test_a_quoted_promise_never_completes(site: Site) -> None:
    """It stands in the text, in quotes, with the words "not finished" after it."""
    steps = ["append:target.txt", 'say:I am to print "{token}" when I am done.', "say:I am not finished."]
    done = site.run("-n", "3", "--done", "promise", agent=steps)
    assert (done.code, done.launches) == (20, 3)
    assert not any(i["gates"][0]["holds"] for i in done.summary["iterations"])


@pytest.mark.parametrize("step", ["hang", "trickle"])
def test_a_hanging_agent_is_ended_in_time_and_given_up_after_three(site: Site, step: str) -> None:
    """R003, R010: silent or trickling."""
    done = site.run("--iteration-timeout", "300ms", agent=step)
    assert (done.code, done.reason) == (34, "agent-hang")
    assert done.outcomes == ["timed-out"] * 3
    assert all(i["elapsed_s"] < 10 for i in done.summary["iterations"])


def test_an_agent_deaf_to_term_is_killed_after_the_grace(site: Site) -> None:
    """A2."""
    done = site.run("--iteration-timeout", "200ms", "-n", "1", agent=["deaf", "hang"])
    assert (done.code, done.outcomes) == (20, ["timed-out"])


def test_a_background_process_that_holds_stdout_delays_nothing(site: Site) -> None:
    """R001, A3, A5: it hides in its own session with an empty environment, is ended and reported."""
    done = site.run("-n", "2", agent=["hold", "append:target.txt", "say:finished"])
    assert (done.code, done.outcomes) == (20, ["completed", "completed"])
    assert all(i["elapsed_s"] < 10 for i in done.summary["iterations"])
    assert all(i["swept"] == ["sleep"] for i in done.summary["iterations"])


def test_an_agent_that_always_fails_ends_with_its_own_words(site: Site) -> None:
    """R018, R058: at most three launches, the first words of stderr in the verdict."""
    done = site.run(agent=["complain:the moon is in the wrong house", "exit:1"])
    assert (done.code, done.reason, done.launches) == (33, "agent-failing", 3)
    assert "the moon is in the wrong house" in done.out
    assert [r["seconds"] > 0 for r in done.of("waiting")] == [True, True]


@pytest.mark.slow
def test_an_agent_that_fails_slowly_with_work_left_undone_ends_too(site: Site) -> None:
    """Five failures without a new state, though each moved the tree back and forth."""
    done = site.run("-n", "9", agent=["walk:A B A B A B", "exit:1"])
    assert done.code in (11, 33)
    assert done.launches <= 7
