"""Every ending has a page, reached by its code and by its word."""

from __future__ import annotations

import pytest

from ralph.cli.app import exit_code
from ralph.facts.reason import EXIT_CODES, Reason
from ralph.report.explain import PAGES, codes_table, reason_of


@pytest.mark.parametrize("reason", Reason, ids=lambda r: r.value)
def test_every_reason_has_a_code_a_page_and_a_way_out(reason: Reason, capsys: pytest.CaptureFixture[str]) -> None:
    meaning, advice = PAGES[reason]
    assert meaning.endswith(".")
    assert advice
    assert reason_of(reason.value) is reason
    assert reason_of(str(reason.exit_code)) is reason
    assert exit_code(["explain", reason.value]) == 0
    assert meaning in capsys.readouterr().out
    assert f"| {reason.exit_code} | `{reason.value}` |" in codes_table()


def test_no_two_reasons_share_a_code() -> None:
    assert len(set(EXIT_CODES.values())) == len(Reason)


def test_an_unknown_word_gets_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["explain", "no-progres"]) == 2
    assert "Did you mean no-progress?" in capsys.readouterr().err
