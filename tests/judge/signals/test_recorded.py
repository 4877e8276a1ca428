"""Real runs: the benchmark on a sample, and its figures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.detection import figures, judged, tally
from tests.judge.signals.recorded import FILE, runs


def test_no_healthy_session_is_ended_or_denied_anything() -> None:
    healthy = [judged(run) for run in runs() if run["label"] == "committed"]
    assert len(healthy) >= 30
    assert [run for run in healthy if len(run.first) > 1] == []


def test_every_stuck_run_is_ended_while_it_is_stuck() -> None:
    stuck = [judged(run) for run in runs() if run.get("stuck")]
    assert len(stuck) == 10
    assert all(run.found and not run.false_end for run in stuck)


def test_no_resolved_run_is_ended_where_it_was_not_stuck() -> None:
    resolved = [judged(run) for run in runs() if run["label"] == "resolved"]
    assert len(resolved) >= 10
    assert not any(run.false_end for run in resolved)


def test_the_benchmark_counts_what_it_says_it_counts() -> None:
    told = figures(tally(FILE.parent))
    healthy, stuck = told["healthy"], told["stuck"]
    assert isinstance(healthy, dict)
    assert isinstance(stuck, dict)
    assert (healthy["ended"], healthy["denied"]) == (0, 0)
    assert (stuck["runs"], stuck["ended"], stuck["recall"]) == (10, 10, 1.0)
    assert stuck["recall_without_stale"] >= 0.8
    assert stuck["delay_median"] <= 7


def test_the_benchmark_prints_json_for_any_folder_of_the_format(tmp_path: Path) -> None:
    step = ["Bash", "a" * 12, "b" * 12, 1, 0, 0, 0, 0, None, "0" * 16, 20]
    run = {"label": "unresolved", "agent": "x", "steps": [[*step[:5], n, *step[6:]] for n in range(12)]}
    (tmp_path / "one.jsonl").write_text(json.dumps({**run, "stuck": {"frm": 0, "to": 12}}) + "\n", encoding="utf-8")
    argv = [sys.executable, "-m", "benchmarks.detection", str(tmp_path), "--json"]
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run(argv, cwd=root, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    assert told["unresolved"] == {"runs": 1, "nudged": 1, "denied": 1, "ended": 1, "ended_outside": 0}
    assert told["stuck"]["ended"] == 1
    assert told["stuck"]["delay_median"] == 4
    assert set(told) >= {"healthy", "resolved", "unresolved", "stuck", "us_per_event"}
