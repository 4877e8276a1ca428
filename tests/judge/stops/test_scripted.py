"""Scripted runs: each way to go nowhere is stopped within one iteration of its count, healthy work never."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from itertools import chain
from pathlib import Path
from random import Random

import pytest

from benchmarks import histories, scripted
from benchmarks.scripted_kinds import HEALTHY, STUCK
from ralph.judge.stops import RULES
from ralph.judge.stops.rule import Rule

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("name", STUCK)
def test_each_way_to_go_nowhere_is_stopped_within_one_iteration_of_its_count(name: str) -> None:
    assert all(delay is not None and delay <= 1 for delay in histories.delays(STUCK[name], name, runs=4))


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_work_is_never_stopped(name: str) -> None:
    assert histories.false_stops(HEALTHY[name], name, runs=4) == []


BY = {
    "nothing changes": "no_progress",
    "log only": "side_matter",
    "mode only": "side_matter",
    "line ends only": "side_matter",
    "lock file only": "side_matter",
    "time stamp only": "side_matter",
    "plan ticked without code": "side_matter",
    "A-B-A-B with fresh comments": "reverse_hunks",
    "one file to and fro in growing work": "file_flip_flop",
    "net-zero churn": "net_zero",
    "same failures while the diff grows": "tests_stuck",
    "failing sets take turns": "circle_of_tests",
    "fix one, break one": "circle_of_tests",
    "claims done with red checks": "claims",
}


def stopped_in_time(name: str, rules: tuple[Rule, ...]) -> bool:
    kind, rng = STUCK[name], Random(name)
    begin = scripted.growth(rng, 3, "abcdefgh" if kind.settings.test.command else None)
    last, stop = scripted.played(chain(begin, kind.script(rng)), kind.settings, rules=rules)
    return stop is not None and stop.reason in kind.reasons and last - 2 <= kind.count + 1


@pytest.mark.parametrize("name", BY)
def test_each_stuck_run_is_stopped_in_time_by_its_own_rule_and_by_no_other(name: str) -> None:
    others = tuple(rule for rule in RULES if rule.__name__ != BY[name])
    own = tuple(rule for rule in RULES if rule not in others)
    assert len(own) == 1
    assert stopped_in_time(name, own)
    assert not stopped_in_time(name, others)


def history_file(folder: Path) -> Path:
    trees = ["a", "b", "a", "b", "c", "d"]
    rows = [
        {"t": tree, "f": [["f" * 8, "0" * 12, tree * 12, 2, 2, "c", ["a" * 6, tree * 6], ["b" * 6, "c" * 6]]]}
        for tree in trees
    ]
    file = folder / "x.jsonl.gz"
    file.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    return file


def test_each_commit_of_a_real_history_is_one_iteration(tmp_path: Path) -> None:
    walk = histories.walked(history_file(tmp_path))
    assert (walk.commits, sum(walk.stops.values())) == (5, 0)
    assert walk.warnings["returned"] == 2


@pytest.mark.slow
def test_the_benchmark_prints_json_and_reaches_its_figures(tmp_path: Path) -> None:
    history_file(tmp_path)
    argv = [sys.executable, "-m", "benchmarks.histories", str(tmp_path), "--json"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    assert told["real"]["commits"] == 5
    assert told["caught_in_time"]
    assert told["healthy_stopped"] == 0
