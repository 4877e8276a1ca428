"""Bug reports against runners like this one, end to end: rows of the field reports that no other file here names."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.e2e.site import Result, Site, cases

pytestmark = pytest.mark.slow

WORK = ("append:target.txt",)
TOOLS = {"type": "system", "subtype": "init", "session_id": "s", "model": "stub-model"}


def js(**fields: Any) -> str:
    """Return the step that prints one event."""
    return "say:" + json.dumps(fields).replace("\\", "\\\\")  # the stub takes one level of backslashes away


def result(**fields: Any) -> str:
    base = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "session_id": "s",
        "result": "ok",
        "num_turns": 1,
    }
    return js(**{**base, "usage": {"input_tokens": 9, "output_tokens": 1}, **fields})


def failed(words: str, **fields: Any) -> str:
    return result(is_error=True, result=words, total_cost_usd=0.0, **fields)


def soon(**ahead: float) -> datetime:
    return datetime.now(UTC) + timedelta(**ahead)


def first(done: Result, key: str) -> Any:
    return done.summary["iterations"][0][key]


def cost(done: Result) -> float | None:
    value: float | None = done.summary["totals"]["cost_usd"]["value"]
    return value


DENIAL = [{"tool_name": "Write", "tool_use_id": "t1", "tool_input": {}}]


@dataclass(frozen=True, slots=True)
class Row:
    """One report. steps: of the stub. says: must stand in the verdict. holds: any further claim."""

    steps: tuple[str, ...]
    options: tuple[str, ...] = ()
    code: int = 20
    outcomes: tuple[str, ...] | None = None
    says: tuple[str, ...] = ()
    holds: Callable[[Result], object] = lambda _: True


CLAUDE = ("-a", "claude")
ONCE = ("-n", "1")
ONE = (*CLAUDE, *ONCE)
EDIT = WORK[0]

ROWS = {
    "R005 2 MB of stderr before stdin is read": Row(
        ("unread", "errflood:2000", "read", EDIT, "say:x"), ONCE, outcomes=("completed",)
    ),
    "R006 a flood from a process left behind": Row(
        ("shell:(yes flood &) ; :", EDIT), ONCE, outcomes=("completed",)
    ),
    "R007 silent work that prints one document at its end": Row(
        ("shell:sleep 0.4", EDIT, "say:x"), (*ONCE, "--set", "limits.idle=100ms"), outcomes=("completed",)
    ),
    "R008 a timed-out iteration keeps its work and counts": Row(
        ("write:new{n}.txt=x", "say:x", "hang"),
        ("-n", "4", "--iteration-timeout", "1s"),
        outcomes=("timed-out",) * 4,
        holds=lambda d: [i["diff"]["files"] for i in d.summary["iterations"]] == [1] * 4,
    ),
    "R012 exit 0 with nothing said and nothing done": Row((), code=33, says=("printed nothing",)),
    "R013 exit 1 after a success that was told": Row(
        (EDIT, result(), "exit:1"), ONE, outcomes=("completed",), holds=lambda d: "warning" in first(d, "detail")
    ),
    "R014 a failed turn and exit 0": Row(
        (js(type="thread.started", thread_id="t"), js(type="turn.failed", error={"message": "no luck"})),
        ("-a", "codex"),
        code=33,
        says=("no luck",),
    ),
    "R015 half a result and exit 0": Row(
        (EDIT, 'part:{"type":"result","subtype":"succ'), ONE, outcomes=("failed",), holds=lambda d: cost(d) is None
    ),
    "R016 a second result with no cost": Row(
        (EDIT, result(total_cost_usd=0.4), failed("late error")), ONE, holds=lambda d: cost(d) == 0.4
    ),
    "R017 one array in the place of lines": Row(
        (EDIT, "say:" + json.dumps([TOOLS, {**json.loads(result()[4:]), "total_cost_usd": 0.3}])),
        ONE,
        outcomes=("completed",),
        holds=lambda d: cost(d) == 0.3,
    ),
    "R020 killed by a signal that was not ours": Row(
        (EDIT, "die:9"), ONCE, outcomes=("failed",), holds=lambda d: first(d, "exit") == "killed by signal 9"
    ),
    "R020 again and again, with a hint": Row(("die:9",), code=33, says=("signal 9", "memory")),
    "R021 one denied call that was recovered": Row(
        (EDIT, result(permission_denials=DENIAL)), ONE, outcomes=("completed",), says=()
    ),
    "R022 every write denied, politely": Row(
        ("c-init", result(result="Sorry.", permission_denials=DENIAL)), CLAUDE, code=10, says=("denied", "permission")
    ),
    "R023 words that look like errors": Row(
        (EDIT, result(result='"error": false, unauthorized, rate limit, not logged in')), ONE, outcomes=("completed",)
    ),
    "R024 a question that nobody answers": Row(
        ("say:Shall I go on?",), code=10, holds=lambda d: d.summary["iterations"][-1]["answer"] == "Shall I go on?"
    ),
    "R025 an odd exit code is kept and the loop goes on": Row(
        ("exit:17", "/", EDIT, "say:x"), ("-n", "2"), outcomes=("quick", "completed"),
        holds=lambda d: d.summary["iterations"][0]["exit"] == "exit 17",
    ),
    "R027 an untrusted folder": Row(
        ("complain:Not inside a trusted directory and --skip-git-repo-check was not specified.", "exit:1"),
        ("-a", "codex"), code=31, says=("trusted directory",),
    ),
    "R042 busy tool calls and nothing done, plain": Row(("say:read 50 files",), code=10, outcomes=("completed",) * 3),
    "R042 busy tool calls and nothing done, seen as reading": Row(
        ("c-init", *[f"c-tool:Read=f{i}" for i in range(9)], "c-result:x"), CLAUDE, code=10, outcomes=("completed",) * 8
    ),
    "R044 the agent commits everything there is": Row(
        ("shell:git add -A; git commit -qm all; :", "say:x"), code=10, outcomes=("completed",) * 3
    ),
    "R051 a formatter undoes each edit": Row(
        ("write:target.txt='x'", "say:x"), ("--test", "echo '\"x\"' > target.txt; false"), code=11, says=("target.txt",)
    ),
    "R052 outages are no lack of progress": Row(
        (*[s for _ in range(4) for s in (failed("API Error: 529 overloaded"), "exit:1", "/")], EDIT, "c-result:x"),
        (*CLAUDE, "-n", "5"), outcomes=("outage",) * 4 + ("completed",),
    ),
    "R060 an outage without end": Row((failed("API Error: 503"), "exit:1"), CLAUDE, code=33, outcomes=("outage",) * 5),
    "R058 a sentence nobody has heard before": Row(("complain:Low tide.", "exit:1"), CLAUDE, code=33, says=("tide",)),
    "R063 a limit told as a success": Row(
        (EDIT, result(result="Claude AI usage limit reached|{soon}")), (*CLAUDE, "--on-quota", "stop"), code=32,
        outcomes=("quota",), holds=lambda d: d.summary["iterations"][0]["diff"]["files"] == 1,
    ),
    "R061 a daily quota without a reset time, and little time": Row(
        (failed("Quota exceeded for today"), "exit:1"), (*CLAUDE, "--max-time", "4m"), code=32, says=("deadline",)
    ),
    "R071 killed after it was seen to spend": Row(
        ("c-init", "c-usage:1000", "hang"), (*ONE, "--iteration-timeout", "1s"), outcomes=("timed-out",),
        holds=lambda d: d.summary["totals"]["tokens"] == 1010 and d.summary["totals"]["cost_usd"]["at_least"],
    ),
    "R073 sub-agents are missing in the total": Row(
        (EDIT, result(total_cost_usd=0.1, modelUsage={"a": {"costUSD": 0.3}, "b": {"costUSD": 0.25}})), ONE,
        holds=lambda d: cost(d) == 0.55,
    ),
    "R074 tokens only, cumulative": Row(
        (
            EDIT, js(type="thread.started", thread_id="t"),
            js(type="item.completed", item={"id": "i", "type": "agent_message", "text": "x"}),
            js(type="turn.completed", usage={"input_tokens": 50, "cached_input_tokens": 0, "output_tokens": 10}),
            js(type="turn.completed", usage={"input_tokens": 90, "cached_input_tokens": 0, "output_tokens": 20}),
        ),
        ("-a", "codex", *ONCE), holds=lambda d: (d.summary["totals"]["tokens"], cost(d)) == (110, None),
    ),
    "R104 noise between the events": Row(
        ("say:npm WARN old", 'say:{"no":"type"}', "say:{half", EDIT, "c-init", "say:[1, 2]", "c-result:x=0.2"), ONE,
        outcomes=("completed",), holds=lambda d: cost(d) == 0.2,
    ),
    "R107 stdin closed unread": Row(("unread", EDIT, "say:x"), ONCE, outcomes=("completed",)),
}  # fmt: skip


SLOW = (
    *("R006", "R008", "R014", "R020", "R021", "R022", "R023", "R025"),
    *("R044", "R051", "R052", "R058", "R060", "R071", "R104"),
)


@pytest.mark.parametrize("row", cases(ROWS, slow=[name for name in ROWS if name[:4] in SLOW]))
def test_the_report_cannot_happen_here(site: Site, row: Row) -> None:
    limit = str(int(soon(hours=5).timestamp()))
    if "unread" in row.steps:
        site.write("PROMPT.md", "long\n" * 200_000)
    done = site.run(*row.options, agent=[step.replace("{soon}", limit) for step in row.steps])
    assert done.code == row.code, done.out + done.err
    if row.outcomes is not None:
        assert tuple(done.outcomes) == row.outcomes, done.err
    for words in row.says:
        assert words in done.out, done.out
    assert row.holds(done), done.summary
    if done.code:
        assert "done" not in done.out.splitlines()[0].split(), "R028: no other ending is called done"


NOTICES = (
    "Claude AI usage limit reached|{epoch}",
    "You've hit your session limit · resets {clock} (UTC)",
    "You've hit your weekly limit · resets {date} at {clock} (UTC)",
)


@pytest.mark.parametrize("notice", NOTICES)
def test_a_reset_past_the_deadline_ends_at_once_and_tells_it(site: Site, notice: str) -> None:
    """R055, R056, R062: five hours ahead with ten minutes left; the reset is in the machine-readable record."""
    at = soon(hours=5).replace(minute=0)
    words = notice.format(epoch=int(at.timestamp()), clock=f"{at:%-I%p}".lower(), date=f"{at:%b %-d}")
    done = site.run(*CLAUDE, "--max-time", "10m", agent=[failed(words), "exit:1"])
    assert (done.code, done.reason, done.launches) == (32, "agent-quota", 1), done.out
    until = datetime.fromisoformat(done.summary["iterations"][0]["until"])
    assert abs((until - at).total_seconds()) < 61


@pytest.mark.slow
def test_a_reset_just_past_is_tried_at_once(site: Site) -> None:
    """R055, R059: no hour is waited for a limit that has lifted."""
    past = int(soon(seconds=-5).timestamp())
    done = site.run(
        *CLAUDE, "-n", "2", agent=[failed(f"Claude AI usage limit reached|{past}"), "/", *WORK, "c-result:x"]
    )
    assert (done.code, done.outcomes) == (20, ["quota", "completed"])


def test_a_limit_event_on_stdout_is_recognised(site: Site) -> None:
    """R057: codex tells it in an event, with a hint when to try again."""
    words = "You've hit your usage limit. Upgrade to Pro or try again in 3 hours 2 minutes."
    steps = [js(type="thread.started", thread_id="t"), js(type="turn.failed", error={"message": words}), "exit:1"]
    done = site.run("-a", "codex", "--max-time", "10m", agent=steps)
    assert (done.code, done.outcomes) == (32, ["quota"]), done.out
