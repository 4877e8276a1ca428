"""When a run is done: every gate, alone and together, checked by ralph; also in the last allowed iteration."""

from __future__ import annotations

import pytest

from tests.e2e.site import Site, cases

RED_UNTIL_FIXED = ("--test", "test -e fixed")
FIX = ["write:fixed=x", "say:x"]
WORK = ["append:target.txt", "say:x"]

TOKENS = {
    "bare": "say:{token}",
    "in backticks": "say:`{token}`",
    "in a fence": r"say:```\n{token}\n```",
    "bold, blanks, CR": r"say:**{token}**  \r",
    "as the last line of many": r"say:all is well\n\n{token}\n",
}


@pytest.mark.parametrize("claim", cases(TOKENS, slow=list(TOKENS)[:4]))
def test_a_claim_ends_the_run_as_claimed_and_not_verified(site: Site, claim: str) -> None:
    """R065, R068: without another gate; the token is a nonce of its iteration."""
    done = site.run("--done", "promise", agent=["append:target.txt", claim])
    assert (done.code, done.reason, done.launches) == (0, "done", 1)
    assert done.summary["verified"] is False
    assert "claimed, not verified" in done.out


def test_a_token_in_a_json_result_and_in_two_flushes_counts(site: Site) -> None:
    """R068."""
    done = site.run("-a", "claude", "--done", "promise", agent=["c-init", "c-say:so", r"c-result:all is done\n{token}"])
    assert (done.code, done.reason) == (0, "done")
    plain = site.run("--done", "promise=SHIPPED", agent=["part:SHIP", "part:PED\\n"])
    assert (plain.code, plain.reason) == (0, "done")


@pytest.mark.slow
def test_yesterdays_token_does_not_count(site: Site) -> None:
    """The nonce of iteration 1, printed again in iteration 2, is no claim."""
    stale = f"shell:grep -o 'DONE-[0-9a-f]*' {site.work}/prompt.1"
    done = site.run("-n", "3", "--done", "promise", agent=[*WORK, "/", "append:target.txt", stale])
    assert done.code == 20
    assert not any(gate["holds"] for i in done.summary["iterations"] for gate in i["gates"])


def test_a_claim_over_red_tests_is_not_done_and_the_next_prompt_says_so(site: Site) -> None:
    """R065: the claim is a claim; three of them over the same red gate end the run."""
    done = site.run(*RED_UNTIL_FIXED, "--done", "promise", "-n", "9", agent=["append:target.txt", "say:{token}"])
    assert (done.code, done.reason) == (10, "no-progress"), done.out
    assert "claimed to be done" in done.out
    assert done.launches == 3


def test_a_claim_with_green_tests_in_the_last_iteration_is_done(site: Site) -> None:
    """R066: done is asked before the limit."""
    steps = [*WORK, "/", *WORK, "/", "write:fixed=x", "say:{token}"]
    done = site.run(*RED_UNTIL_FIXED, "--done", "promise", "-n", "3", agent=steps)
    assert (done.code, done.reason, done.launches) == (0, "done", 3), done.out
    assert done.summary["verified"] is True


@pytest.mark.slow
def test_the_last_allowed_promise_is_done(site: Site) -> None:
    """R066."""
    done = site.run("--done", "promise", "-n", "2", agent=[*WORK, "/", "append:target.txt", "say:{token}"])
    assert (done.code, done.reason, done.launches) == (0, "done", 2)


def test_tests_turned_green_end_the_run(site: Site) -> None:
    done = site.run("--test", f"echo run >> {site.work}/tests; test -e fixed", agent=[*WORK, "/", *FIX])
    assert (done.code, done.reason, done.launches) == (0, "done", 2)
    assert done.summary["verified"] is True
    assert len((site.work / "tests").read_text().split()) == 3, "baseline, red, green"


def test_green_on_a_tree_that_was_red_is_asked_again_before_it_counts(site: Site) -> None:
    """Nothing changed, so a flaky test is no success."""
    flaky = f"echo run >> {site.work}/tests; test $(wc -l < {site.work}/tests) = 2"
    done = site.run("--test", flaky, "-n", "1", agent="say:done")
    assert done.code == 20, done.out
    assert done.summary["iterations"][0]["tests"]["verdict"] == "flaky"


def test_green_tests_alone_never_end_a_run_and_an_idle_one_is_told_so(site: Site) -> None:
    """R070."""
    done = site.run("--test", "true", agent="say:nothing to do")
    assert (done.code, done.launches) == (10, 3)
    assert "green all along" in done.out
    assert "that alone never ends the run" in done.err


def test_an_unchanged_tree_is_not_tested_again(site: Site) -> None:
    """R102: green is reused; red at most once more."""
    done = site.run("--test", f"echo run >> {site.work}/tests", agent="say:nothing to do")
    assert done.launches == 3
    assert (site.work / "tests").read_text().split() == ["run"]
    assert [i["tests"]["reused"] for i in done.summary["iterations"]] == [True] * 3


def test_a_checklist_is_done_when_every_box_is_ticked(site: Site) -> None:
    site.write("PLAN.md", "- [ ] one\n- [ ] two\n\n```\n- [ ] an example\n```\n")
    site.commit()
    tick = ["shell:sed -i '0,/\\[ \\] [ot]/s/\\[ \\] \\([ot]\\)/[x] \\1/' PLAN.md", "say:x"]
    done = site.run("--done", "checklist=PLAN.md", "-n", "9", agent=tick)
    assert (done.code, done.reason, done.launches) == (0, "done", 2), done.out
    assert done.summary["verified"] is True


@pytest.mark.slow
def test_a_checklist_that_shrinks_is_not_done(site: Site) -> None:
    site.write("PLAN.md", "- [ ] one\n- [ ] two\n")
    site.commit()
    done = site.run("--done", "checklist=PLAN.md", agent=["write:PLAN.md=- [x] one", "say:x"])
    assert (done.code, done.reason) == (10, "no-progress"), done.out
    assert "checklist-shrunk" in done.findings


def test_a_command_gate_is_asked_when_the_others_hold(site: Site) -> None:
    gate = f"command=echo asked >> {site.work}/gate; test -e fixed"
    steps = [*WORK, "/", "append:target.txt", "say:{token}", "/", "write:fixed=x", "say:{token}"]
    done = site.run("--done", "promise", "--done", gate, "-n", "9", agent=steps)
    assert (done.code, done.reason, done.launches) == (0, "done", 3), done.out
    assert done.summary["verified"] is True
    assert 2 <= len((site.work / "gate").read_text().split()) <= 4


@pytest.mark.slow
def test_a_check_counts_like_a_test(site: Site) -> None:
    done = site.run("--check", "lint=test -e fixed", agent=[*WORK, "/", *FIX])
    assert (done.code, done.reason, done.launches) == (0, "done", 2), done.out
    assert done.summary["iterations"][0]["checks"]["lint"]["verdict"] == "red"


@pytest.mark.slow
def test_tests_stuck_ends_a_run_that_changes_files_and_fixes_nothing(site: Site) -> None:
    """R035, R050: the same failing set, whatever the noise in its output."""
    noisy = "echo \"FAILED test_a.py::test_x - $(date +%N) /tmp/$RANDOM 0x$$\"; echo '1 failed in 0.1s'; exit 1"
    done = site.run("--test", noisy, agent=["append:target.txt", "say:x"])
    assert (done.code, done.reason) == (12, "tests-stuck"), done.out
    assert done.launches in (5, 8)


@pytest.mark.slow
def test_no_tests_collected_is_never_green(site: Site) -> None:
    """R097: whatever its exit code; killed by its limit is no verdict either."""
    nothing = "echo '=== no tests ran in 0.01s ==='; test ! -e gone"
    options = ("--set", "test.baseline=skip", "--test", nothing, "-n", "1")
    done = site.run(*options, agent=WORK)
    assert done.code == 20
    assert done.summary["iterations"][0]["tests"]["verdict"] == "none-ran"


def test_a_test_command_that_hangs_is_ended_and_the_loop_goes_on(site: Site) -> None:
    """R099, E4: with a child in a new session; the state is timed-out, not red."""
    hangs = "if test -e slow; then setsid sleep 600 & sleep 600; fi"
    done = site.run("--test", hangs, "--set", "test.timeout=300ms", "-n", "2", agent=["append:slow", "say:x"])
    assert (done.code, done.launches) == (20, 2), done.out
    assert done.summary["tests"]["last"]["verdict"] == "timed-out"


@pytest.mark.slow
def test_a_test_command_that_reads_a_key_gets_none(site: Site) -> None:
    """R103."""
    done = site.run("--test", 'read key; test -z "$key"', "-n", "1", agent=WORK)
    assert (done.code, done.summary["tests"]["last"]["verdict"]) == (20, "green")


@pytest.mark.slow
def test_a_red_baseline_is_told_and_the_fixed_test_counts(site: Site) -> None:
    """R100: one old failure, one that is fixed; best is the iteration with fewer failures."""
    test = (
        "a='FAILED t.py::old - x'; b='FAILED t.py::new - x'; "
        "if test -e fixed; then echo \"$a\"; echo '1 failed, 1 passed in 0.1s'; "
        "else printf '%s\\n' \"$a\" \"$b\"; echo '2 failed in 0.1s'; fi; exit 1"
    )
    done = site.run("--test", "echo '=== short test summary info ==='; " + test, "-n", "2", agent=FIX)
    assert done.summary["tests"]["baseline"]["failing"] == 2
    assert done.summary["tests"]["last"]["failing"] == 1
    assert done.summary["best"]["n"] == 2, "the latest of the best"
    assert "t.py::new" not in site.prompt(2)
    assert "t.py::old" in site.prompt(2)


@pytest.mark.slow
def test_the_exit_code_rules_and_the_runner_s_words_do_not(site: Site) -> None:
    """R101."""
    done = site.run("--test", "echo 'all tests passed'; test -e fixed", "-n", "1", agent=WORK)
    assert done.summary["tests"]["last"]["verdict"] == "red"
