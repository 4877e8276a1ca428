"""The account is made from the summary alone and stays harmless whatever stands in it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ralph.report.account import headline, markdown, text

SUMMARY: dict[str, object] = {
    "schema": 1,
    "run": "20260101-0000-abcd",
    "status": "stopped",
    "reason": "no-progress",
    "exit_code": 10,
    "detail": "3 iterations led nowhere new",
    "verified": False,
    "evidence": {"iterations": [1, 2, 3], "states": ["abc"], "tests": []},
    "totals": {"iterations": 3, "elapsed_s": 61.2, "tokens": None, "cost_usd": {"value": None, "source": "unknown"}},
    "tests": {"baseline": None, "best": None, "last": {"verdict": "red", "passing": 2, "failing": 1}},
    "best": None,
    "findings": [{"kind": "hooks", "detail": "core.hooksPath = \x1b[31m<b>"}],
    "isolation": "none",
    "iterations": [
        {
            "n": 1,
            "outcome": "completed",
            "exit": "exit 0",
            "elapsed_s": 20.4,
            "diff": {"files": 0, "added": 0, "removed": 0},
            "tests": {"verdict": "red", "passing": 2, "failing": 1},
            "cost": {"value": 0.25, "source": "reported"},
            "swept": ["sleep"],
            "detail": "",
        }
    ],
}


def test_the_account_says_what_is_unknown() -> None:
    shown = text(SUMMARY)
    assert "cost:                  unknown" in shown
    assert "tokens:                unknown" in shown
    assert "- at the start, 2/3 red at the end" in shown
    assert "$0.2500 (reported)" in shown
    assert "\x1b" not in shown


def test_a_claimed_done_is_called_claimed() -> None:
    assert "claimed, not verified" in headline({**SUMMARY, "reason": "done", "exit_code": 0})
    assert "claimed" not in headline({**SUMMARY, "reason": "done", "exit_code": 0, "verified": True})


def test_markdown_has_one_row_an_iteration() -> None:
    page = markdown(SUMMARY)
    assert page.count("\n| 1 |") == 1
    assert "<b>" not in page


@given(st.dictionaries(st.sampled_from(sorted(SUMMARY)), st.none() | st.integers() | st.text() | st.lists(st.text())))
def test_a_damaged_summary_is_still_told(broken: dict[str, object]) -> None:
    assert text({**SUMMARY, **broken})
    assert markdown({**SUMMARY, **broken})
