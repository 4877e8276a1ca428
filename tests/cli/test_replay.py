"""`ralph replay`: from journal and steps alone, where other thresholds would have stopped a run."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from ralph.errors import ConfigErrors, UserError
from ralph.facts.iteration import GateResult, Spent
from ralph.facts.reason import Reason
from ralph.facts.settings import Detect, Levels, Limits, Settings, StopRules
from ralph.facts.usage import Charge, Source
from ralph.judge.signals.step import Step, row_of
from ralph.judge.signals.table import DETECTORS
from tests.builders import walk
from tests.cli.recorded import Ground, stopped

DIME = Spent(Charge(100_000, Source.REPORTED), turns=7, tools=3)
LATE = Settings(stop=StopRules(no_progress=5))


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


def test_its_own_thresholds_end_it_as_recorded(ground: Ground) -> None:
    ground.run(walk("A B B B B B B", spent=DIME), stop=stopped(Reason.NO_PROGRESS, 2, 3, 4, 5, 6), settings=LATE)
    found = ground.data("replay")
    assert found["after"] == 6
    assert found["stop"]["reason"] == found["recorded"]["reason"] == "no-progress"
    assert found["saved"]["iterations"] == 0


def test_a_lower_threshold_says_what_it_would_have_saved(ground: Ground) -> None:
    ground.run(walk("A B B B B B B", spent=DIME), stop=stopped(Reason.NO_PROGRESS, 2, 3, 4, 5, 6), settings=LATE)
    found = ground.data("replay", "--set", "stop.no_progress=2")
    assert (found["after"], found["stop"]["iterations"]) == (3, [2, 3])
    assert found["saved"]["iterations"] == 3
    assert found["saved"]["cost_usd"] == {"value": 0.3, "at_least": False}
    assert found["cut_short"] == {"new_states": [], "best": None, "done": False}
    words = ground.command("replay", "--set", "stop.no_progress=2").output
    assert "would have stopped after iteration 3, no-progress [10]" in words
    assert "saved: 3 iterations, 3m00s, $0.30" in words
    assert "cut short: nothing" in words


def test_a_threshold_too_low_says_what_it_would_have_cut_short(ground: Ground) -> None:
    run = list(walk("A!x,y B!x,y B!x,y B!x,y C!x D!"))
    run[-1] = replace(run[-1], gates=(GateResult("tests", True),))
    ground.run(run, stop=stopped(Reason.DONE, 5), settings=LATE, first="A!x,y")
    found = ground.data("replay", "--set", "stop.no_progress=2")
    assert found["after"] == 3
    cut = found["cut_short"]
    assert isinstance(cut, dict)
    assert (cut["new_states"], cut["best"]["n"], cut["done"]) == ([4, 5], 5, True)
    assert "the gates held" in ground.command("replay", "--set", "stop.no_progress=2").output


def test_a_higher_threshold_goes_on_past_the_record(ground: Ground) -> None:
    ground.run(walk("A B B B B"), stop=stopped(Reason.NO_PROGRESS, 2, 3, 4))
    assert ground.data("replay", "--set", "stop.no_progress=off")["stop"] is None
    assert "would not have stopped within the 4" in ground.command("replay", "--set", "stop.no_progress=9").output


def test_limits_of_the_run_stop_it_too(ground: Ground) -> None:
    ground.run(walk("A B C D E F", spent=DIME))
    cost = ground.data("replay", "--set", "limits.cost=0.25")
    assert (cost["after"], cost["stop"]["reason"]) == (3, "cost-limit")
    count = ground.data("replay", "--set", "limits.iterations=2")
    assert (count["after"], count["stop"]["reason"]) == (2, "iteration-limit")
    assert count["cut_short"]["new_states"] == [3, 4, 5]


def test_limits_of_an_iteration_are_told_by_iteration(ground: Ground) -> None:
    ground.run(walk("A B C", spent=DIME))
    assert ground.data("replay")["inside"] == []
    inside = ground.data("replay", "--set", "limits.turns=5", "--set", "limits.iteration_time=45s")["inside"]
    assert inside == [
        {"iteration": n, "why": why, "used": used, "saved": saved, "unit": unit}
        for n in (1, 2)
        for why, used, saved, unit in (
            ("limits.turns", 5, 2, "turns"),
            ("limits.iteration_time", 45.0, 15.0, "s"),
        )
    ]


def loop(length: int) -> list[list[object]]:
    """Return the rows of a session that asks the same thing again and again."""
    return [
        row_of(Step("bash", "a" * 12, "b" * 12, is_error=True, changed=False, turn=n, rlen=200, index=n))
        for n in range(length)
    ]


def test_loops_are_judged_again_by_the_steps(ground: Ground) -> None:
    lenient = Settings(detect=Detect(off=("all",)))
    ground.run(walk("A B"), settings=lenient, steps={1: loop(30)})
    assert ground.data("replay")["inside"] == []
    (found,) = ground.data("replay", "--set", "detect.off=[]")["inside"]
    assert (found["iteration"], found["unit"]) == (1, "calls")
    assert found["used"] + found["saved"] == 30
    assert found["used"] <= 6
    others = [name for name in DETECTORS if name != "identical"]
    sets = (f"detect.off={json.dumps(others)}", "detect.identical.end=12", "detect.identical.deny=off")
    (later,) = ground.data("replay", *(word for one in sets for word in ("--set", one)))["inside"]
    assert (later["used"], later["saved"]) == (12, 18)
    assert later["why"].startswith("identical: ")
    assert "would have been ended after" in ground.command("replay", "--set", "detect.off=[]").output


def test_levels_alone_can_be_changed(ground: Ground) -> None:
    own = Settings(detect=Detect(levels={"identical": Levels(end=9)}))
    ground.run(walk("A B"), settings=own)
    for typed in ("detect.polling=x", "detect.identity.x=y", "agent.model=x", "test.when=always"):
        with pytest.raises(ConfigErrors):
            ground.command("replay", "--set", typed)
    with pytest.raises(ConfigErrors):
        ground.command("replay", "--set", "stop.no_progress=0")


def test_damaged_or_missing_steps_end_nothing(ground: Ground) -> None:
    run = ground.run(walk("A B"), steps={1: [["bash"], *loop(3)]})
    (run.made(run.iteration(2)) / "steps.jsonl.gz").write_bytes(b"no gzip")
    assert ground.data("replay", "--set", "detect.identical.end=2")["inside"] == []


def test_a_run_that_never_began_is_said(ground: Ground) -> None:
    paper = ground.run(())
    paper.journal.write_bytes(b"")
    with pytest.raises(UserError, match="never began"):
        ground.command("replay")


@pytest.mark.slow
def test_ten_thousand_iterations_are_decided_again_in_about_a_second(ground: Ground) -> None:
    """CPU of this process; the bound leaves room for a machine that is three times slower than a quiet one."""
    words = " ".join(["A", *(f"S{n}" for n in range(10_000))])
    fast = Settings(limits=Limits(iterations=None))
    ground.run(walk(words, spent=DIME), settings=fast)
    before = time.process_time()
    assert ground.data("replay")["iterations"] == 10_000
    assert time.process_time() - before < 4.0 * float(os.environ.get("SLOWER", "1"))
