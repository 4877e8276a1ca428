"""The console is a sink: no secret, no control byte, no command, no posed line passes it."""

from __future__ import annotations

import json

import pytest

from ralph.console.lines import Lines
from ralph.encode.redact import Redactor
from tests.runner import commands

CANARY = "canary-Zq81-Wm73-Xk95"
REDACTOR = Redactor.of({"STUB_TOKEN": CANARY})


def test_e7_no_line_tells_a_secret_also_where_a_sequence_splits_it(capfd: pytest.CaptureFixture[str]) -> None:
    console = Lines(redactor=REDACTOR)
    console.say(f"finding: x: {CANARY[:9]}\x1b[31m{CANARY[9:]}")
    console.verdict(f"done: {CANARY}\n  next:      ralph report")
    out, err = capfd.readouterr()
    assert err.endswith(" finding: x: [redacted STUB_TOKEN]\n")
    assert out == "done: [redacted STUB_TOKEN]\n  next:      ralph report\n"


def test_b9_e11_the_second_line_of_a_foreign_text_stands_behind_the_gutter(capfd: pytest.CaptureFixture[str]) -> None:
    Lines().say("the prompt\n12:00:00 iteration 9: completed\n::error::x")
    err = capfd.readouterr().err.splitlines()
    assert err[0].endswith(" the prompt")
    assert err[1:] == ["│ 12:00:00 iteration 9: completed", "│ ::error::x"]


def test_e7_e11_an_event_is_the_same_to_programs_but_for_its_secrets(capfd: pytest.CaptureFixture[str]) -> None:
    console = Lines(as_json=True, redactor=REDACTOR)
    console.event("finding", {"detail": f"{CANARY} ##[group]x", "n": 3})
    out = capfd.readouterr().out
    assert json.loads(out) == {"type": "finding", "detail": "[redacted STUB_TOKEN] ##[group]x", "n": 3}
    assert commands(out) == []
