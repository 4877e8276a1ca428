"""Every command prints through the sink: whoever adds one cannot forget what must not be shown (E7, E11, B4)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from ralph.cli.sink import fit, redacted, show_json
from tests.runner import commands

CLI = Path(__file__).resolve().parents[2] / "ralph" / "cli"
CANARY = "canary-Zq81-Wm73-Xk95"
PRINTS_BY_ITSELF = {
    "sink.py": "the sink",
    "logs.py": "line by line, each made harmless",
    "diff.py": "a patch, exact for programs",
    "app.py": "help",
    "options.py": "help",
    "control.py": "words of ours",
    "demo.py": "words of ours",
    "explain.py": "words of ours",
}


def prints(path: Path) -> bool:
    """Return whether a file prints without the sink."""
    calls = [node.func for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    names = {ast.unparse(call) for call in calls}
    return not names.isdisjoint({"print", "click.echo", "click.secho", "sys.stdout.write", "sys.stdout.buffer.write"})


def test_e7_no_command_prints_past_the_sink() -> None:
    assert {path.name for path in CLI.glob("*.py") if prints(path)} <= set(PRINTS_BY_ITSELF)


def test_e7_e11_b4_the_sink_takes_out_what_must_not_be_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STUB_TOKEN", CANARY)
    assert fit(f"\x1b[31m{CANARY}\n::error::x") == "[redacted STUB_TOKEN]\n│ ::error::x"
    assert redacted({"detail": CANARY}) == {"detail": "[redacted STUB_TOKEN]"}
    show_json({"detail": f"{CANARY} ##[error]"})
    out = capsys.readouterr().out
    assert CANARY not in out
    assert commands(out) == []
