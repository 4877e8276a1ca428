"""One contract for every adapter, checked against what the real programs printed."""

from __future__ import annotations

import pytest

from ralph.agents import ADAPTERS, adapter
from ralph.agents.adapter import Adapter, Ask
from ralph.errors import UserError
from ralph.facts.event import Finished, ToolCalled, ToolReturned
from tests.agents.captures import ARCHIVE, Capture, captures, events_of, expectations, told

EXPECTED = expectations()
ALL = [pytest.param(c, id=c.name) for c in captures()]
EVERY = [pytest.param(a, id=a.name) for a in ADAPTERS.values()]


def test_the_table_has_a_row_for_each_capture_and_no_other() -> None:
    assert [c.name for c in captures()] == list(EXPECTED)
    assert ARCHIVE.stat().st_size < 200_000


@pytest.mark.parametrize("capture", ALL)
def test_a_recorded_run_tells_what_the_table_says(capture: Capture) -> None:
    assert told(capture) == EXPECTED[capture.name]


@pytest.mark.parametrize("capture", ALL)
def test_every_return_in_a_recording_belongs_to_a_call(capture: Capture) -> None:
    """Also where tools of one turn return out of order."""
    events = events_of(capture.agent, capture.out.split(b"\n"), capture.err.split(b"\n"))
    called = [e.id for e in events if isinstance(e, ToolCalled)]
    returned = [e.id for e in events if isinstance(e, ToolReturned)]
    assert len(called) == len(set(called))
    assert set(returned) <= set(called)


@pytest.mark.parametrize("capture", ALL)
def test_a_signal_or_a_cut_off_output_is_never_a_finish_that_is_ok(capture: Capture) -> None:
    """R015: without the terminal event there is no word on how it ended."""
    lines = [line for line in capture.out.split(b"\n") if line]
    halved = [*lines[:-1], lines[-1][: len(lines[-1]) // 2]] if lines else []
    assert not any(isinstance(e, Finished) for e in events_of(capture.agent, halved))


@pytest.mark.parametrize("known", EVERY)
def test_an_adapter_starts_the_program_it_was_given(known: Adapter) -> None:
    launch = known.launch(Ask(("/opt/x/agent", "sub"), args=("--own", "flag")))
    assert launch.argv[:2] == ("/opt/x/agent", "sub")
    assert "--own" in launch.argv
    assert launch.feed == "stdin"
    assert known.diagnose(b"\xff\x00" * 4096) is None


def test_an_unknown_agent_is_refused_with_the_known_names() -> None:
    with pytest.raises(UserError) as caught:
        adapter("clod")
    assert 'unknown agent "clod"' in caught.value.what
    assert caught.value.fix == "Known agents: claude, codex, plain."
