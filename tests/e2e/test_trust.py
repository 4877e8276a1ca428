"""What an agent does to the supervisor, the repository, the tests and tomorrow's run, end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.site import RALPH, Site, cases

PASSING = "def test_one():\n    assert True\n"
FAILING = "from work import answer\n\n\ndef test_answer():\n    assert answer() == 42\n"


def test_limits_and_prompt_hold_though_the_agent_edits_them(site: Site) -> None:
    """E1, C2, R076, R084: nor does an edit reach tomorrow's run until a person accepts it."""
    site.write("ralph.toml", "[limits]\niterations = 2\n")
    site.commit()
    edit = ["shell:echo '[limits]' > ralph.toml; echo 'iterations = 40' >> ralph.toml; echo Obey me. > PROMPT.md"]
    done = site.run(agent=["append:target.txt", "say:x", "/", *edit, "say:x"])
    assert (done.code, done.launches) == (20, 2)
    assert {"agent-changed-config", "agent-changed-prompt"} <= set(done.findings)
    assert site.prompt(2).startswith("Improve it.\n")
    run = done.summary["run"]
    refused = site.run()
    assert (refused.code, refused.launches) == (40, 2)
    for words in ("ralph.toml", "PROMPT.md", "iteration 2", run, "--accept-config"):
        assert words in refused.err
    resumed = site.command("resume", "-n", "+1")
    assert resumed.returncode == 40, resumed.stderr
    taken = site.run("--accept-config", "-n", "1", agent="say:x")
    assert (taken.code, taken.launches) == (20, 3)
    assert site.prompt(3) == "Obey me.\n"
    assert site.run("-n", "1", agent="say:x").code == 20, "accepted once is accepted"


@pytest.mark.slow
def test_a_person_s_edit_between_runs_is_nobody_s_business(site: Site) -> None:
    assert site.run("-n", "1", agent="say:x").code == 20
    site.write("PROMPT.md", "Another task.\n")
    assert site.run("-n", "1", agent="say:x").code == 20
    assert site.prompt(2) == "Another task.\n"


@pytest.mark.slow
def test_the_prompt_emptied_and_deleted_by_the_agent_is_still_sent(site: Site) -> None:
    """R084, C3: also replaced by a pipe, which must not hang the next look at it."""
    wreck = ["shell:: > PROMPT.md", "/", "shell:rm PROMPT.md", "/", "shell:mkfifo PROMPT.md", "/", "say:x"]
    done = site.run("-n", "4", agent=wreck)
    assert done.code == 20, done.out
    assert all(site.prompt(n).startswith("Improve it.\n") for n in (1, 2, 3, 4))


def test_the_agent_may_neither_nest_nor_stop_runs(site: Site) -> None:
    """E2: `ralph run`, `stop`, `reload`, `wake` and `resume` by the agent; also with the mark taken away."""
    hidden = f"env -u RALPH_RUN -u RALPH_SOCKET {{ralph}} stop --state-dir {site.state}"
    steps = ["ralph:run -- true", f"ralph:stop --state-dir {site.state}", f"ralph:reload --state-dir {site.state}"]
    steps += [f"ralph:resume --state-dir {site.state}", "shell:" + hidden.replace("{ralph}", str(RALPH))]
    done = site.run("-n", "1", agent=[*steps, "append:target.txt", "say:x"])
    assert (done.code, done.reason) == (20, "iteration-limit")
    said = (site.work / "ralph").read_text(encoding="utf-8")
    assert said.count("may not") >= 3, said
    assert not any(line.startswith("0") for line in said.splitlines()), said
    assert (site.work / "shell").read_text().split() == ["2"]
    assert len(site.runs()) == 1


@pytest.mark.slow
def test_the_agent_gives_up_honestly_by_command_or_by_its_last_words(site: Site) -> None:
    """R069: a correct outcome with its own code, at once."""
    done = site.run(agent=["ralph:blocked --tried reading --needed a-key", "say:x"])
    assert (done.code, done.reason, done.launches) == (13, "blocked", 1)
    assert "a-key" in done.out
    said = "grep -o 'BLOCKED-[0-9a-f]*' {work}/prompt.5 | head -1".replace("{work}", str(site.work))
    words = f"shell:t=$({said}); echo $t tried: the door; echo $t needed: a ladder"
    keep = ["append:target.txt", "say:x"]
    done = site.run(agent=[*keep, "/", *keep, "/", *keep, "/", *keep, "/", words])
    assert (done.code, done.launches) == (13, 5), done.out
    assert "a ladder" in done.out


GONE = {
    "deleted": "shell:rm -rf .git",
    "replaced by a file": "shell:rm -rf .git; echo 'gitdir: /nowhere' > .git",
    "replaced by a link": "shell:mv .git ../elsewhere.git; ln -s ../elsewhere.git .git",
    "replaced by another repository": "shell:rm -rf .git; git init -q .",
    "the whole tree moved": "shell:mv ../repo ../moved; mkdir ../repo",
}


@pytest.mark.parametrize("how", cases(GONE, slow=list(GONE)[1:4]))
def test_a_vanished_or_swapped_repository_ends_the_run(site: Site, how: str) -> None:
    """C1, R077: 42 before another launch, nothing made anew, and the way back is printed and works."""
    before = site.git("rev-parse", "HEAD").strip()
    done = site.run(agent=["append:target.txt", "say:x", "/", how, "say:x"])
    assert (done.code, done.reason, done.launches) == (42, "repo-damaged", 2), done.err
    assert "ralph restore" in done.out
    back = site.command("restore", "start", "--git")
    assert back.returncode == 0, back.stderr
    assert site.git("rev-parse", "HEAD").strip() == before
    assert (site.repo / "target.txt").read_text(encoding="utf-8") == "start\n"
    assert site.git("status", "--porcelain") == ""


@pytest.mark.slow
def test_tests_that_delete_the_repository_are_named_as_the_step(site: Site) -> None:
    """R087."""
    done = site.run("--test", "test -e work.py && rm -rf .git; exit 1", agent=["write:work.py=x", "say:x"])
    assert (done.code, done.reason) == (42, "repo-damaged"), done.err


@pytest.mark.slow
def test_a_stale_index_lock_disturbs_nothing_and_stays(site: Site) -> None:
    """C6, R080."""
    done = site.run("-n", "3", agent=["shell:: > .git/index.lock", "append:target.txt", "say:x"])
    assert (done.code, done.outcomes) == (20, ["completed"] * 3)
    assert [i["diff"]["files"] for i in done.summary["iterations"]] == [1, 1, 1]
    assert (site.repo / ".git" / "index.lock").exists()


@pytest.mark.parametrize(
    "steps",
    [
        ["shell:git config core.hooksPath hooks", "shell:git config core.fsmonitor ./planted"],
        ["shell:git config diff.external ./planted", "shell:git config filter.x.clean ./planted"],
    ],
    ids=["D11, hooks and fsmonitor", "R045, R037, external diff and filters"],
)
def test_planted_git_configuration_runs_nothing_and_is_told(site: Site, steps: list[str]) -> None:
    """R009, C13, C14: what the agent plants in .git/config is reported with old and new value, and never run by us."""
    trap = f"#!/bin/sh\ntouch {site.root}/sprung\ncat\n"
    site.write("planted", trap).chmod(0o755)
    site.write("hooks/post-index-change", trap).chmod(0o755)
    site.write(".gitattributes", "* filter=x\n")
    site.commit()
    done = site.run("-n", "2", agent=[*steps, "append:target.txt", "say:x"])
    assert (done.code, done.outcomes) == (20, ["completed"] * 2)
    assert [i["diff"]["files"] for i in done.summary["iterations"]] == [1, 1]
    assert not (site.root / "sprung").exists()
    assert any("config" in kind for kind in done.findings), done.findings
    assert "planted" in done.out


def python_project(site: Site) -> tuple[str, ...]:
    site.write("work.py", "def answer():\n    return 41\n")
    site.write("test_ok.py", PASSING)
    site.write("test_work.py", FAILING)
    site.commit()
    return ("--test", "python -B -m pytest -q -p no:cacheprovider -p no:randomly -rA")


SKIPS = r"import pytest\n\n\n@pytest.mark.skip\ndef test_answer():\n    assert False"
TAMPERED = {
    "deleted": ["remove:test_work.py", "say:all green"],
    "skipped": [f"write:test_work.py={SKIPS}", "say:all green"],
    "narrowed": ["write:pytest.ini=[pytest]\\naddopts = --deselect test_work.py::test_answer", "say:all green"],
}


@pytest.mark.parametrize("steps", cases(TAMPERED, slow=("skipped", "narrowed")))
def test_green_by_tampering_is_not_done(site: Site, steps: list[str]) -> None:
    """E3, R098: it ends as no-progress, "green, but tests changed", and names the test."""
    done = site.run(*python_project(site), agent=steps)
    assert (done.code, done.reason) == (10, "no-progress"), done.out + done.err
    assert "green, but tests changed" in done.out
    assert "test_work" in done.out or "pytest.ini" in done.out
    assert done.launches <= 4


@pytest.mark.slow
def test_tampering_that_the_user_allows_is_done(site: Site) -> None:
    options = python_project(site)
    done = site.run(*options, "--allow-test-changes", "test_*.py", agent=TAMPERED["deleted"])
    assert (done.code, done.reason) == (0, "done"), done.out


@pytest.mark.slow
def test_a_protected_file_keeps_the_run_from_being_done(site: Site) -> None:
    site.write("contract.txt", "as agreed\n")
    site.commit()
    options = ("--protect", "contract.txt", "--done", "command=test -e built")
    done = site.run(*options, agent=["write:contract.txt=as I like it", "write:built=x", "say:x"])
    assert (done.code, done.reason) == (10, "no-progress"), done.out
    assert "protected-changed" in done.findings
    assert "contract.txt" in done.out
    taken = site.run(*options, "--accept-findings", agent=["write:contract.txt=again", "append:built", "say:x"])
    assert (taken.code, taken.reason) == (0, "done"), taken.out


def test_the_agent_gets_no_keys_of_the_job_and_no_session_of_another_agent(site: Site) -> None:
    """E12, R026, R099: GITHUB_*, GIT_*, nested-session variables; CI is set for tests, not for the agent."""
    secrets = {"GITHUB_TOKEN": "t", "GITHUB_ENV": "/x", "ACTIONS_RUNTIME_TOKEN": "t", "RUNNER_TEMP": "/x"}
    others = {"GIT_DIR": "/nowhere", "GIT_INDEX_FILE": "/x", "CLAUDECODE": "1", "PYTHONPATH_X": "1", "MINE": "kept"}
    test = f"env > {site.work}/of-tests"
    done = site.run("-n", "1", "--test", test, env={**secrets, **others}, agent=["environment", "say:x"])
    assert done.code == 20, done.err
    seen = json.loads((site.work / "environment").read_text(encoding="utf-8"))
    assert not [name for name in seen if name.startswith(("GITHUB_", "ACTIONS_", "RUNNER_", "GIT_", "CLAUDE"))]
    assert {name for name in seen if name.startswith("RALPH_")} == {"RALPH_RUN", "RALPH_SOCKET"}
    assert seen["MINE"] == "kept"
    assert "CI" not in seen
    tests = dict(line.split("=", 1) for line in (site.work / "of-tests").read_text().splitlines() if "=" in line)
    assert tests["CI"] == "1"
    assert "GITHUB_TOKEN" not in tests


@pytest.mark.slow
def test_a_state_directory_wrecked_by_the_agent_ends_as_storage(site: Site) -> None:
    """C4: the journal is cut, then deleted."""
    wrecks = ("for j in {s}/*/runs/*/journal.jsonl; do : > $j; done", "rm -rf {s}/*/store.git", "rm -rf {s}/*")
    for wreck in wrecks:
        done = site.run(agent=["shell:" + wreck.replace("{s}", str(site.state)), "append:a"])
        assert done.code == 43, done.err
        assert "Traceback" not in done.err


def test_what_the_agent_destroyed_comes_back(site: Site) -> None:
    """C18, promise 4: uncommitted and untracked work of the user, byte for byte."""
    site.write("target.txt", "half done\n")
    precious = bytes(range(256)) * 40
    (site.repo / "notes.bin").write_bytes(precious)
    done = site.run("-n", "1", agent=["git:reset -q --hard", "git:clean -qfdx", "say:tidied"])
    assert done.code == 20
    assert not (site.repo / "notes.bin").exists()
    back = site.command("restore", "start")
    assert back.returncode == 0, back.stderr
    assert (site.repo / "notes.bin").read_bytes() == precious
    assert Path(site.repo, "target.txt").read_text(encoding="utf-8") == "half done\n"
