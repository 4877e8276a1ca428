"""What a run prints: the verdict on stdout and nothing else, JSON lines on demand, never a foreign control byte."""

from __future__ import annotations

import json
import re

import pytest

from tests.e2e.site import Site

HOSTILE = (
    r"\x1b[31mred\x1b[0m \x1b]0;owned\x07 \x1b]52;c;aGk=\x07 \x1b[2J\x1b[1A \x9b31m \x08\x08\x08"
    r" \u202eevil\u2066 \rspinner \U000e0041 ralph: done: every gate holds [0]"
)
SPOOF = r"\nralph: halted: success\n12:00:00 iteration 2: completed\ndone: every gate holds  [0]\n"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f‪-‮⁦-⁩\U000e0000-\U000e0fff]")


def test_stdout_has_the_verdict_and_stderr_the_talk(site: Site) -> None:
    done = site.run("-n", "2", agent=["append:target.txt", "say:hello from the agent"])
    lines = done.out.splitlines()
    assert lines[0].startswith("iteration-limit: ")
    assert lines[0].endswith("[20]")
    assert all(line.startswith("  ") for line in lines[1:])
    assert "hello from the agent" not in done.out + done.err
    assert re.search(r"^\d\d:\d\d:\d\d iteration 2: completed", done.err, re.MULTILINE)
    commands = [line.partition("next:")[2].strip() for line in lines if "next:" in line]
    assert len(commands) >= 2
    assert all(command.startswith("ralph ") for command in commands)


@pytest.mark.slow
def test_the_printed_next_commands_run_as_printed(site: Site) -> None:
    """Complete, from any folder."""
    done = site.run("-n", "1", agent=["append:target.txt", "say:x"])
    for line in done.out.splitlines():
        if "next:" in line and "resume" not in line:
            words = line.partition("next:")[2].split()
            argv = [str(site.argv([], None)[0]), *words[1:]]
            with site.popen(argv, cwd=site.root) as process:
                out, err = process.communicate(timeout=60)
            assert process.returncode == 0, (line, err)
            assert out


def test_json_is_lines_only_each_once_and_the_last_one_has_the_summary(site: Site) -> None:
    done = site.run("--json", "-a", "claude", agent=["c-init", "c-say:one", "c-say:two", "c-result:x=0.1"])
    events = [json.loads(line) for line in done.out.splitlines()]
    kinds = [event["type"] for event in events]
    journal = [record["type"] for record in done.records]
    assert [kind for kind in kinds if kind != "turn"] == journal, "the journal's events, each once"
    assert kinds.count("turn") == 6
    turn = next(event for event in events if event["type"] == "turn")
    assert {"run", "iteration", "turn", "tools", "cost_usd"} <= turn.keys()
    assert events[-1]["type"] == "run_stopped"
    assert events[-1]["summary"] == done.summary
    assert done.summary["totals"]["cost_usd"]["value"] == 0.3


def test_no_control_byte_of_the_agent_reaches_our_terminal(site: Site) -> None:
    """B4, B9, R106: not of its words, its file names, its errors or its way to give up; nor can it pose as us."""
    steps = [f"say:{HOSTILE}", f"complain:{HOSTILE}{SPOOF}", r"write:\x1b[31mname\x07=x", "exit:1"]
    done = site.run("-n", "2", agent=steps)
    assert not CONTROL.search(done.out), repr(done.out)
    assert not CONTROL.search(done.err), repr(done.err)
    for text in (done.out, done.err):
        assert not re.search(r"^(ralph|done|12:00:00)", text, re.MULTILINE), text
    assert not CONTROL.search((site.runs()[-1] / "summary.json").read_text(encoding="utf-8"))
    raw = (site.runs()[-1] / "iterations" / "0001" / "agent.out").read_bytes()
    assert b"\x1b[31mred" in raw, "the raw log is untouched"
    for command in ("logs", "report", "status"):
        shown = site.command(command)
        assert shown.returncode == 0, shown.stderr
        assert not CONTROL.search(shown.stdout), (command, shown.stdout)


def test_the_posed_end_of_an_agent_in_the_logs_stands_behind_a_gutter(site: Site) -> None:
    """B9."""
    site.run("-n", "1", agent=[f"say:{SPOOF}", "append:target.txt"])
    shown = site.command("logs").stdout.splitlines()
    assert any("done: every gate holds" in line for line in shown)
    assert not any(line.startswith(("done", "ralph", "12:00")) for line in shown)


@pytest.mark.slow
def test_quiet_says_the_verdict_only(site: Site) -> None:
    done = site.run("-q", "-n", "1", agent=["append:target.txt", "say:x"])
    assert done.err == ""
    assert done.out.startswith("iteration-limit: ")


@pytest.mark.slow
def test_an_ascii_locale_and_a_name_with_emoji_do_no_harm(site: Site) -> None:
    """R105: with UTF-8 mode off and output in a pipe."""
    repo = site.repo.rename(site.root / "r\U0001f680 ä")
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    done = site.run("-n", "1", cwd=repo, env=env, agent=["write:\U0001f680.txt=x", "say:\U0001f680"])
    assert done.code == 20, done.err
    assert done.summary["iterations"][0]["diff"]["files"] == 1
    with site.popen([*site.argv([], None)[:1], "status", "--state-dir", str(site.state)], cwd=repo, env=env) as process:
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "iteration 1" in out


@pytest.mark.slow
def test_logs_and_state_are_private_whatever_the_umask(site: Site) -> None:
    """R110, E13."""
    site.run("-n", "1", "--summary", str(site.root / "public.json"), agent=["append:target.txt", "say:x"], umask=0)
    modes = {path: path.lstat().st_mode & 0o077 for path in (site.state, *site.state.rglob("*"))}
    open_to_others = [str(path) for path, mode in modes.items() if mode]
    assert open_to_others == []
    assert json.loads((site.root / "public.json").read_text(encoding="utf-8")) == site.summary()
