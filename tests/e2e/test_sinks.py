"""What leaves ralph: no secret (E7), no command to a CI job (E11), no posed line (B9)."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.e2e.site import Result, Site
from tests.runner import commands

CANARY = "canary/Zq81+Wm73~Xk95"
TOKEN = "sk-ant-api03-Ppq71Llz82Vvb93"
FORMS = (
    CANARY,
    base64.b64encode(CANARY.encode()).decode(),
    quote(CANARY, safe=""),
    CANARY[:12],
    CANARY[-12:],
    TOKEN,
    "canaryHp44Jk",
)
HELPER = "canaryHp44Jk"
SECRETS = {"STUB_API_KEY": CANARY, "STUB_PASSWORD": HELPER}
SAID = f"key {CANARY} as {FORMS[1]} and {FORMS[2]}, also {TOKEN}"


def printed_by(site: Site, env: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (command, what it printed) for every command that tells of a run."""
    reports = [("report", "--format", form) for form in ("text", "json", "markdown")]
    for words in (*reports, ("status",), ("status", "--json"), ("logs",), ("logs", "-f"), ("diff", "start", "now")):
        argv = [site.argv([], None)[0], words[0], "--state-dir", str(site.state), *words[1:]]
        with site.popen(argv, env=env) as process:
            out, err = process.communicate(timeout=60)
        assert process.returncode == 0, (words, err)
        yield " ".join(words), out + err


def assert_silent(where: str, text: str) -> None:
    for form in FORMS:
        assert form not in text, f"{where} tells {form!r}: …{text[max(0, text.find(form) - 80) :][:200]}"


@pytest.fixture
def told(site: Site) -> Result:
    """Run an agent and tests that put the secrets wherever a word of theirs can go."""
    long = "x" * 300 + CANARY + "y" * 300
    stay = f"cp /bin/sleep {site.work}/{HELPER}; setsid {site.work}/{HELPER} 600 >/dev/null 2>&1 &"
    test = f"echo 'not ok 1 - reads {CANARY}'; echo '1..1'; exit 1"
    words = ["c-init", f"c-say:{SAID}", f"c-tool:Bash=echo {SAID}", f"complain:{SAID}", f"say:{SAID}"]
    first = [*words, f"write:{CANARY}.txt=x", "shell:" + stay, f"c-result:{long} {SAID}"]
    second = [*words, f"append:target.txt={SAID}", f"c-error:API Error: 401 invalid x-api-key {SAID}"]
    options = (
        "--test",
        test,
        "--set",
        'test.report="tap"',
        "--summary",
        str(site.root / "public.json"),
        "-a",
        "claude",
    )
    return site.run(*options, "-n", "3", env=SECRETS, agent=[*first, "/", *second])


def test_e7_no_secret_is_told_anywhere_but_in_the_raw_logs(site: Site, told: Result) -> None:
    assert told.launches >= 2, told.err
    raw = (site.runs()[-1] / "iterations" / "0001" / "agent.out").read_text(encoding="utf-8")
    assert CANARY in raw, "the raw log is untouched"
    assert_silent("stdout", told.out)
    assert_silent("stderr", told.err)
    assert_silent("summary.json", (site.runs()[-1] / "summary.json").read_text(encoding="utf-8"))
    assert_silent("--summary", (site.root / "public.json").read_text(encoding="utf-8"))
    assert "[redacted STUB_API_KEY]" in json.dumps(told.summary)
    assert "[redacted token]" in json.dumps(told.summary)
    assert told.summary["iterations"][0]["swept"] == ["[redacted STUB_PASSWORD]"]
    for command, text in printed_by(site, SECRETS):
        assert_silent(command, text)
        assert "redacted" in text or "diff" in command, command


def test_e7_json_events_tell_no_secret_and_stay_what_programs_expect(site: Site) -> None:
    steps = ["c-init", f"c-say:{SAID}", f"c-tool:{CANARY}={SAID}", f"ralph:blocked --tried {CANARY} --needed {TOKEN}"]
    done = site.run("--json", "-a", "claude", env=SECRETS, agent=[*steps, f"c-result:{SAID}"])
    assert done.code == 13, done.err
    assert_silent("--json", done.out + done.err)
    events = [json.loads(line) for line in done.out.splitlines()]
    assert [event["type"] for event in events if event["type"] != "turn"] == [record["type"] for record in done.records]
    assert events[-1]["summary"] == done.summary
    assert done.summary["iterations"][0]["answer"].count("[redacted ") >= 3


def test_e7_what_was_typed_and_configured_is_not_told_either(site: Site) -> None:
    site.write("ralph.toml", f"[agent]\nargs = ['--key={CANARY}']\n[limits]\ntime = '{CANARY}'\n")
    wrong = site.run(env=SECRETS, agent=None)
    assert wrong.code == 2
    assert_silent("an error", wrong.out + wrong.err)
    assert "[redacted STUB_API_KEY]" in wrong.err
    typo = site.run(f"--{CANARY}", env=SECRETS, agent=None)
    assert typo.code == 2
    assert_silent("a usage error", typo.out + typo.err)
    site.write("ralph.toml", f"[agent]\nargs = ['--key={CANARY}']\n")
    assert_silent("--dry-run", site.run("--dry-run", env=SECRETS, agent="say:x").out)
    for words in (["show"], ["show", "--json"], ["check"]):
        with site.popen([site.argv([], None)[0], "config", *words], env=SECRETS) as process:
            out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert_silent(f"config {words}", out + err)


COMMANDS = (
    "::set-output name=x::y",
    " ::add-mask::e",
    "::stop-commands::t",
    "words ##[set-env name=PATH]/x",
    "##vso[task.setvariable variable=x]y",
    "a\\n::error::posed",
)


def test_e11_b9_nothing_we_print_is_a_command_to_the_job(site: Site) -> None:
    """E12 too: under GITHUB_ACTIONS: words, errors, file names, test ids, patches and the way to give up."""
    job = {"GITHUB_ACTIONS": "true", "GITHUB_OUTPUT": str(site.root / "outputs")}
    said = [f"say:{text}" for text in COMMANDS] + [f"complain:{text}" for text in COMMANDS]
    names = [f"write:{text.replace('/', '_')}={text}" for text in COMMANDS]
    patch = "write:target.txt=start\\n::error::in a patch\\n ::warning::too"
    test = "printf '::error::t\\nnot ok 1 - ::error::id ##[group]x\\n1..1\\n'; exit 1"
    options = ("-n", "2", "--test", test, "--set", 'test.report="tap"')
    done = site.run(*options, env=job, agent=[*said, *names, patch, "exit:1"])
    assert done.code == 20, done.err
    assert commands(done.out + done.err) == []
    for command, text in printed_by(site, job):
        assert commands(text) == [], command
        foreign = [line for line in text.splitlines() if "set-output" in line and "logs" in command]
        assert all(line.startswith("│ ") for line in foreign)
    as_json = site.run(*options, "--json", env=job, agent=[*said, *names, "exit:1"])
    assert commands(as_json.out + as_json.err) == []
    assert all(json.loads(line) for line in as_json.out.splitlines())
    assert not (site.root / "outputs").exists(), "E12: nothing is given to the job by its files either"
    wrong = site.run("a\n::error::b", env=job, agent="say:x")
    assert wrong.code == 2
    assert commands(wrong.out + wrong.err) == []


def test_e11_a_patch_is_exact_for_programs_and_harmless_for_a_job(site: Site) -> None:
    site.run("-n", "1", agent=["write:target.txt=start\\n ::error::x", "say:x"])
    argv = [site.argv([], None)[0], "diff", "start", "1", "--patch", "--state-dir", str(site.state)]
    job = {**site.environ, "GITHUB_ACTIONS": "true"}
    plain = subprocess.run(argv, cwd=site.repo, env=site.environ, capture_output=True, check=True).stdout
    assert b"\n+ ::error::x\n" in plain
    for name, env in (("file", job), ("pipe", job)):
        place = site.root / name
        with open(place, "wb") as file:
            output = file if name == "file" else subprocess.PIPE
            done = subprocess.run(argv, cwd=site.repo, env=env, stdout=output, check=True)
        got = place.read_bytes() if name == "file" else done.stdout
        assert got == plain, "no line of this patch is a command"
    site.write("target.txt", "start\n ::error::x\nend\n")
    site.git("commit", "-qam", "theirs")
    site.run("-n", "1", agent=["append:target.txt=more", "say:x"])
    shown = subprocess.run(argv, cwd=site.repo, env=job, capture_output=True, check=True).stdout.decode()
    assert "::error::x" in shown
    assert commands(shown) == []


def test_e16_a_person_s_terminal_gets_no_raw_log(site: Site) -> None:
    """`logs --raw` is for pipes."""
    site.run("-n", "1", agent=["say:\\x1b]0;owned\\x07", "say:x"])
    ours, theirs = os.openpty()
    argv = [site.argv([], None)[0], "logs", "--raw", "--state-dir", str(site.state)]
    with site.popen(argv, stdout=theirs, stderr=subprocess.PIPE) as process:
        os.close(theirs)
        _, err = process.communicate(timeout=60)
    os.close(ours)
    assert process.returncode == 2, err
    assert "--raw" in err
    assert Path(site.runs()[-1], "iterations", "0001", "agent.out").read_bytes().startswith(b"\x1b]0;owned")
