"""The public summary: its keys, its truth at any moment, and how it gets onto the disk."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from ralph.errors import UserError
from ralph.facts.finding import Finding
from ralph.facts.reason import Reason
from ralph.facts.run import Best, Conclusion, Stop, Totals
from ralph.journal import entries
from ralph.journal.story import fold
from ralph.journal.suites import keep, load
from ralph.journal.summary import iteration_view, summary, write_summary
from tests.journal.examples import iteration, started, stopped, suite
from tests.journal.test_story import records

KEYS = (
    *("schema", "run", "status", "reason", "exit_code", "detail", "verified", "evidence", "totals", "tests", "best"),
    *("findings", "isolation", "iterations_total", "iterations"),
)
ITERATION_KEYS = {
    *("n", "started_at", "elapsed_s", "outcome", "exit", "until", "trees", "head", "diff", "tests", "tokens", "cost"),
    *("turns", "signals", "swept", "answer", "findings"),
}


def told(*numbers: int, micro: int | None = 250_000) -> list[entries.Entry]:
    return [entries.iteration_finished(iteration(n, f"t::{n}", micro=micro)) for n in numbers]


def test_the_keys_are_those_of_the_design() -> None:
    data = summary(fold(records(started(), *told(1), stopped())), status="stopped")
    assert tuple(data) == KEYS
    shown = data["iterations"]
    assert isinstance(shown, list)
    assert set(shown[0]) >= ITERATION_KEYS
    assert data["totals"] == {
        "iterations": 1,
        "elapsed_s": 12.5,
        "tokens": 1200,
        "cost_usd": {"value": 0.25, "source": "reported", "at_least": False, "cumulative": False},
    }
    assert (data["reason"], data["exit_code"], data["verified"]) == ("done", 0, True)
    assert data["evidence"] == {"iterations": [2, 3], "states": ["dd"], "tests": []}


def test_a_running_one_claims_no_ending() -> None:
    """R094: valid after every iteration; a kill leaves status running."""
    data = summary(fold(records(started(), *told(1, 2))), status="running")
    assert (data["status"], data["reason"], data["exit_code"], data["verified"]) == ("running", None, None, None)
    assert data["iterations_total"] == 2


def test_before_the_first_record_there_is_a_summary_too() -> None:
    data = summary(fold([]), status="running")
    assert tuple(data) == KEYS
    assert data["tests"] == {"baseline": None, "best": None, "last": None}


def test_unknown_cost_is_null_and_makes_the_total_at_least() -> None:
    data = summary(fold(records(started(), *told(1), *told(2, micro=None))), status="running")
    totals = data["totals"]
    assert isinstance(totals, dict)
    assert totals["cost_usd"] == {"value": 0.25, "source": "mixed", "at_least": True, "cumulative": False}
    nothing = summary(fold(records(started(), *told(1, micro=None))), status="running")["totals"]
    assert isinstance(nothing, dict)
    assert nothing["cost_usd"]["value"] is None


def test_the_newest_fifty_are_listed_and_all_are_counted() -> None:
    story = fold(records(started(), *told(*range(1, 71))))
    data = summary(story, status="running")
    shown = data["iterations"]
    assert isinstance(shown, list)
    assert [i["n"] for i in shown] == list(range(21, 71))
    assert data["iterations_total"] == 70
    whole = summary(story, status="running", newest=None)["iterations"]
    assert isinstance(whole, list)
    assert len(whole) == 70


def test_counts_of_tests_survive_the_cut_of_their_ids() -> None:
    many = suite(*(f"t::{n}" for n in range(900)), passing=40)
    live = iteration_view(iteration(1))["tests"]
    data = summary(fold(records(started(), ("tests_ended", {}), *told(1))), status="running")
    shown = data["iterations"]
    assert isinstance(shown, list)
    assert isinstance(live, dict)
    assert shown[0]["tests"]["passing"] == live["passing"] == 3
    assert len(entries.tests_ended(1, suites=(many,))[1]["suites"][0]["failing"]) == 200  # type: ignore[index]
    tests = data["tests"]
    assert isinstance(tests, dict)
    assert (tests["baseline"]["failing"], tests["last"]["failing"], tests["best"]["failing"]) == (2, 1, 1)


def test_the_conclusion_of_the_loop_is_what_is_told() -> None:
    stop = Stop(Reason.NO_PROGRESS, "3 idle", iterations=(1, 2, 3))
    finding = Finding("tests-vanished", "1 gone", ("t::a",), blocks=True)
    conclusion = Conclusion("r", stop, Totals(3, 9.0, None, None), Best(0, "start"), (finding,))
    data = summary(fold(records(started(), *told(1))), status="stopped", conclusion=conclusion, exit_code=0)
    assert (data["reason"], data["exit_code"], data["best"]) == ("no-progress", 0, {"n": 0, "detail": "start"})
    assert data["findings"] == [{"kind": "tests-vanished", "detail": "1 gone", "subjects": ["t::a"], "blocks": True}]


def test_a_resumed_run_tells_totals_over_all_sessions() -> None:
    data = summary(fold(records(started(), *told(1), ("run_resumed", {}), *told(2))), status="running")
    totals = data["totals"]
    assert isinstance(totals, dict)
    assert (totals["iterations"], totals["cost_usd"]["cumulative"]) == (2, True)


def test_it_is_strict_json_and_private(tmp_path: Path) -> None:
    path = tmp_path / "summary.json"
    write_summary(path, summary(fold(records(started(), *told(1))), status="running"))
    assert json.loads(path.read_bytes())["run"] == "20261130-0512-7f3a"
    assert b"\x1b" not in path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [p.name for p in tmp_path.iterdir()] == ["summary.json"]


def test_a_planted_link_is_replaced_not_followed(tmp_path: Path) -> None:
    """E13: `--summary FILE` may lie where the agent writes."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    for name in ("summary.json", ".summary.json.tmp"):
        (tmp_path / name).symlink_to(victim)
    write_summary(tmp_path / "summary.json", {"schema": 1}, mode=0o644)
    assert victim.read_text() == "mine"
    assert not (tmp_path / "summary.json").is_symlink()


def test_what_is_not_a_file_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "pipe", tmp_path / "folder", Path("/dev/null"), tmp_path / "none" / "x"):
        with pytest.raises(UserError) as caught:
            write_summary(path, {})
        assert caught.value.reason is Reason.STORAGE


@pytest.mark.parametrize("digest", ["", "../../etc/passwd", "a/b", "abc", "G" * 16, "a" * 200])
def test_a_digest_never_becomes_a_path_unchecked(tmp_path: Path, digest: str) -> None:
    """S12."""
    with pytest.raises(UserError, match="no digest"):
        load(tmp_path, digest)


def test_a_swapped_test_result_is_noticed(tmp_path: Path) -> None:
    one, two = suite("t::a"), suite("t::b")
    for each in (one, two):
        keep(tmp_path, each)
    (tmp_path / f"{two.digest}.json").replace(tmp_path / f"{one.digest}.json")
    with pytest.raises(UserError, match="another digest"):
        load(tmp_path, one.digest)
    (tmp_path / f"{one.digest}.json").write_text("[]")
    with pytest.raises(UserError, match="makes no sense"):
        load(tmp_path, one.digest)
