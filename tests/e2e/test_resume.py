"""What a resumed run goes on with (S10): its own prompt, configuration, spendings and time, whatever changed since."""

from __future__ import annotations

import hashlib
import json

from tests.e2e.site import QUICK, RALPH, Site

PAID = ["c-init", "append:target.txt", "c-result:done a bit=0.25"]


def test_s10_money_and_time_carry_over_and_a_reached_limit_must_be_raised(site: Site) -> None:
    first = site.run("-n", "2", "-a", "claude", agent=PAID)
    assert (first.code, first.summary["totals"]["cost_usd"]["value"]) == (20, 0.5)
    refused = site.command("resume")
    assert (refused.returncode, site.launches) == (2, 2)
    assert "-n +20" in refused.stderr
    more = site.command("resume", "-n", "+1", "--json")
    assert more.returncode == 20, more.stderr
    totals = site.summary()["totals"]
    assert (totals["iterations"], totals["cost_usd"]["value"], totals["cost_usd"]["cumulative"]) == (3, 0.75, True)
    assert totals["elapsed_s"] > first.summary["totals"]["elapsed_s"]
    up = [record["up_s"] for record in site.records()]
    assert up == sorted(up), "the run's time goes on where it stopped"
    said = [json.loads(line)["type"] for line in more.stdout.splitlines()]
    assert said[0] == "run_resumed"
    broke = site.command("resume", "-n", "+1", "--max-cost", "0.5")
    assert (broke.returncode, site.launches) == (2, 3), "what was spent counts against the new limit"
    assert "cost-limit" in broke.stderr


def test_s10_the_recorded_prompt_and_configuration_hold_until_taken_anew(site: Site) -> None:
    """A person edits both between the sessions; `--reload` takes the prompt, the journal knows both hashes."""
    site.run("-n", "1", agent=["append:target.txt", "say:x"])
    site.write("PROMPT.md", "Another task.\n")
    site.write("ralph.toml", "[limits]\niterations = 1\n[hooks]\nbefore_iteration = 'exit 1'\n")
    again = site.command("resume", "-n", "+1")
    assert again.returncode == 20, again.stderr
    assert site.prompt(2).startswith("Improve it.\n")
    taken = site.command("resume", "-n", "+1", "--reload")
    assert taken.returncode == 20, taken.stderr
    assert site.prompt(3).startswith("Another task.\n")
    assert "the prompt was taken anew" in taken.stderr
    hashes = [hashlib.sha256(text).hexdigest() for text in (b"Improve it.\n", b"Another task.\n")]
    (reloaded,) = [record for record in site.records() if record["type"] == "reloaded"]
    assert set(hashes) <= set(map(str, reloaded.values())), reloaded


def test_s10_another_agent_program_in_the_place_of_the_recorded_one_is_looked_for_anew(site: Site) -> None:
    """The recorded command is obeyed; where its program is gone, nothing is started and nothing is charged."""
    agent = site.root / "my-agent"
    agent.write_text("#!/bin/sh\necho x >> target.txt; echo said\n", encoding="utf-8")
    agent.chmod(0o755)
    argv = [str(RALPH), "run", "--state-dir", str(site.state), *QUICK, "-n", "1", "--", str(agent)]
    with site.popen(argv) as process:
        process.communicate(timeout=60)
    assert process.returncode == 20
    before = site.summary()["totals"]
    agent.unlink()
    gone = site.command("resume", "-n", "+1")
    assert gone.returncode == 30, gone.stderr
    assert str(agent) in gone.stderr
    assert site.summary()["totals"] == before
