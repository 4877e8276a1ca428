"""How errors are shown: one block each, nothing foreign outside its words; the report of a fault of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from ralph.cli.failure import report_bug, shown
from ralph.errors import UserError

CANARY = "canary-Zq81-Wm73-Xk95"


def test_e7_the_report_of_a_fault_tells_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is to be sent to strangers: the traceback and the command line, without values of this environment."""
    monkeypatch.setenv("STUB_TOKEN", CANARY)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    try:
        raise ValueError(f"cannot read {CANARY}")
    except ValueError as error:
        told = report_bug(error, ["run", f"--set=x={CANARY}"])
    (report,) = tmp_path.iterdir()
    text = report.read_text(encoding="utf-8")
    assert report.stat().st_mode & 0o077 == 0
    assert str(report) in told
    assert CANARY not in text
    assert "ValueError: cannot read [redacted STUB_TOKEN]" in text
    assert "'--set=x=[redacted STUB_TOKEN]'" in text


def test_b9_a_name_with_newlines_cannot_pose_as_a_line_of_ours() -> None:
    error = UserError("no such file", where="a\nerror: all is well  [0 done]\n::error::x", fix="Name one.")
    assert shown(error).splitlines() == [
        "error: a",
        "│ error: all is well  [0 done]",
        "│ ::error::x: no such file",
        "  mend it: Name one.  [2 usage]",
    ]
