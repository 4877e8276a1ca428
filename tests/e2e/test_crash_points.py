"""S1: ralph is killed at each record of its journal and goes on: no number twice, no money forgotten, nobody left."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.site import Site

pytestmark = pytest.mark.slow

PAID = ["c-init", "append:target.txt", "c-result:done a bit=0.25"]
PRICE, HOLD = 0.25, 1.0
"""Dollars of one launch; a quarter of the cap, held for an iteration of which nothing is known."""


def journal(site: Site) -> Path | None:
    return next(iter(site.state.glob("*/runs/*/journal.jsonl")), None)


def lines(site: Site) -> int:
    path = journal(site)
    return path.read_bytes().count(b"\n") if path else 0


@pytest.mark.parametrize("record", range(1, 13))
def test_s1_killed_at_any_record_the_run_goes_on_with_every_dollar_counted(site: Site, record: int) -> None:
    live = site.start("-n", "3", "--max-cost", "4", "-a", "claude", agent=PAID)
    site.wait_until(lambda: lines(site) >= record or live.process.poll() is not None, f"record {record}")
    live.process.kill()
    live.process.communicate()
    site.wait_until(lambda: site.left_running() == [], "the agent of a killed ralph is gone")

    resumed = site.command("resume")
    limit_was_reached = "iteration-limit" in resumed.stderr
    assert resumed.returncode == 20 or (resumed.returncode == 2 and limit_was_reached), resumed.stderr
    records = site.records()
    numbers = [r["iteration"] for r in records if r["type"] == "iteration_started"]
    assert numbers == sorted(set(numbers))
    assert len(numbers) <= 3
    spent = site.summary()["totals"]["cost_usd"]["value"] or 0.0
    if not limit_was_reached:
        assert PRICE * site.launches <= spent <= PRICE * site.launches + HOLD
    assert [r["n"] for r in records] == list(range(1, len(records) + 1))
