"""One contract for every adapter, checked against what the real programs printed."""

from __future__ import annotations

import pytest

from ralph.agents import ADAPTERS, adapter
from ralph.agents.adapter import Adapter, Ask
from ralph.errors import UserError
from ralph.facts.event import Finish, Finished, ToolCalled, ToolReturned
from tests.agents.captures import ARCHIVE, FOLDERS, Capture, captures, events_of, expectations, heard, told

EXPECTED = expectations()
ALL = [pytest.param(c, id=c.name) for c in captures()]
TELLS_BY_REASON = {"opencode"}
"""Has no terminal event; the reason of its last step stands for one."""
FEEDS = {"acp": "conversed", "aider": "file", "mini": "argument"}
EVERY = [pytest.param(a, id=a.name) for a in ADAPTERS.values()]


def test_the_table_has_a_row_for_each_capture_and_no_other() -> None:
    assert [c.name for c in captures()] == list(EXPECTED)
    assert {c.agent for c in captures()} == set(FOLDERS.values())
    assert ARCHIVE.stat().st_size < 200_000


@pytest.mark.parametrize("capture", ALL)
def test_a_recorded_run_tells_what_the_table_says(capture: Capture) -> None:
    assert told(capture) == EXPECTED[capture.name]


@pytest.mark.parametrize("capture", ALL)
def test_every_return_in_a_recording_belongs_to_a_call(capture: Capture) -> None:
    """Also where tools of one turn return out of order."""
    events = heard(capture)
    called = [e.id for e in events if isinstance(e, ToolCalled)]
    returned = [e.id for e in events if isinstance(e, ToolReturned)]
    assert len(called) == len(set(called))
    assert set(returned) <= set(called)


@pytest.mark.parametrize("capture", ALL)
def test_a_signal_or_a_cut_off_output_is_never_a_finish_that_is_ok(capture: Capture) -> None:
    """R015: without the terminal event there is no word on how it ended."""
    lines = [line for line in capture.out.split(b"\n") if line]
    halved = [*lines[:-1], lines[-1][: len(lines[-1]) // 2]] if lines else []
    told = [e.how for e in events_of(capture.agent, halved) if isinstance(e, Finished)]
    assert Finish.OK not in told
    assert not told or capture.agent in TELLS_BY_REASON


@pytest.mark.parametrize("capture", [p for p in ALL if "/sig" in str(p.id)])
def test_a3_a_run_that_a_signal_ended_is_never_completed(capture: Capture) -> None:
    """Also where it exits with 0. opencode went on after one and finished its work."""
    went_on = capture.name.startswith("opencode") and capture.name.endswith("/sigint")
    assert (told(capture)["outcome"] == "completed") is went_on


@pytest.mark.parametrize("known", EVERY)
def test_an_adapter_starts_the_program_it_was_given(known: Adapter) -> None:
    launch = known.launch(Ask(("/opt/x/agent", "sub"), args=("--own", "flag")))
    assert launch.argv[:2] == ("/opt/x/agent", "sub")
    assert "--own" in launch.argv
    assert launch.feed == FEEDS.get(known.name, "stdin")
    assert known.diagnose(b"\xff\x00" * 4096) is None


def test_an_unknown_agent_is_refused_with_the_known_names() -> None:
    with pytest.raises(UserError) as caught:
        adapter("clod")
    assert 'unknown agent "clod"' in caught.value.what
    order = "claude, codex, gemini, opencode, copilot, qwen, aider, mini, amp, cursor, acp, plain"
    assert caught.value.fix == f"Known agents: {order}."
