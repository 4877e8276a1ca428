"""`-a claude,codex`: another agent works while the first is out, and the first comes back after its reset."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.e2e.site import Site

CLAUDE = """
import json, pathlib, sys, time
work = pathlib.Path({work!r})
seen = work / "claude"
(work / "args").write_text(" ".join(sys.argv))
tell = lambda **fields: print(json.dumps(fields), flush=True)
tell(type="system", subtype="init", session_id="s", model="m")
if not seen.exists():
    until = int(time.time()) + {away_s}
    seen.write_text(str(until))
    tell(type="rate_limit_event", rate_limit_info={{"status": "rejected", "resetsAt": until}})
    tell(type="result", subtype="success", is_error=True, error="rate_limit", result="You've hit your limit")
    sys.exit(1)
pathlib.Path("target.txt").write_text("claude is back")
tell(type="result", subtype="success", is_error=False, result="done", total_cost_usd=0.01)
"""
CODEX = """
import json, pathlib, sys, time
work = pathlib.Path({work!r})
(work / "codex.args").write_text(" ".join(sys.argv))
until = int((work / "claude").read_text()) if {waits} else 0
while time.time() < until:  # the work takes as long as the other is away
    time.sleep(0.01)
pathlib.Path("target.txt").write_text("codex was here " + str(time.time_ns()))
tell = lambda **fields: print(json.dumps(fields), flush=True)
tell(type="thread.started", thread_id="t")
tell(type="turn.started")
tell(type="item.completed", item={{"id": "i", "type": "agent_message", "text": "done"}})
tell(type="turn.completed", usage={{"input_tokens": 10, "output_tokens": 1}})
"""


def put(folder: Path, name: str, text: str, **values: object) -> Path:
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(f"#!{sys.executable} -IS\n{text.format(**values)}", "utf-8")
    program.chmod(0o755)
    return program


def path_of(tools: Path) -> dict[str, str]:
    return {"PATH": f"{tools}:{os.environ['PATH']}"}


def test_another_agent_takes_over_and_the_first_comes_back(site: Site) -> None:
    tools = site.root / "bin"
    put(tools, "claude", CLAUDE, work=str(site.work), away_s=2)
    put(tools, "codex", CODEX, work=str(site.work), waits=True)
    done = site.run("-a", "claude,codex", "-m", "opus", "-n", "3", env=path_of(tools), agent=None)
    assert (done.code, done.outcomes) == (20, ["quota", "completed", "completed"]), done.err
    assert [i["agent"] for i in done.summary["iterations"]] == ["claude", "codex", "claude"]
    changes = done.of("agent_changed")
    assert [(c["iteration"], c["relieved"], c["agent"]) for c in changes] == [
        (2, "claude", "codex"),
        (3, "codex", "claude"),
    ]
    assert changes[0]["back_at"] is not None
    assert "claude is out of quota" in done.err
    assert "claude is back: claude works from iteration 3 on" in done.err
    assert done.of("waiting") == []  # nobody waited
    assert "opus" in (site.work / "args").read_text()
    assert "opus" not in (site.work / "codex.args").read_text()  # a model's name is the first agent's word
    assert "claude 1, 3, codex 2" in site.command("report").stdout


def test_waiting_turned_off_still_lets_the_other_work(site: Site) -> None:
    tools = site.root / "bin"
    put(tools, "claude", CLAUDE, work=str(site.work), away_s=3600)
    put(tools, "codex", CODEX, work=str(site.work), waits=False)
    options = ("-a", "claude,codex", "-n", "3", "--on-quota", "stop")
    done = site.run(*options, env=path_of(tools), agent=None)
    assert [i["agent"] for i in done.summary["iterations"]] == ["claude", "codex", "codex"], done.err
    assert done.code == 20


@pytest.mark.parametrize("gone", [True, False])
def test_an_agent_that_cannot_be_started_is_stood_in_for(site: Site, gone: bool) -> None:
    tools = site.root / "bin"
    claude = put(tools, "claude", CLAUDE, work=str(site.work), away_s=1)
    put(tools, "codex", CODEX, work=str(site.work), waits=False)
    if gone:
        claude.unlink()  # not there when the run starts
    else:
        claude.write_text("#!/no/such/interpreter\n", "utf-8")
    done = site.run("-a", "claude,codex", "-n", "2", env=path_of(tools), agent=None)
    assert [i["agent"] for i in done.summary["iterations"]][-1] == "codex", done.err
    assert done.code == 20
    assert "not found: claude" in done.err if gone else "claude could not be started" in done.err
