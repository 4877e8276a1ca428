"""`ralph config`: show with origins, the schema, check with all mistakes and exit 3."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pydantic  # noqa: F401 - the forked judges of these tests find it loaded: a tenth of the time
import pytest
from click.testing import CliRunner, Result

from ralph.cli.config import config, top_of
from ralph.config.schema import KEYS

EXIT_FOUND = 3


def call(*arguments: str) -> tuple[int, Result]:
    """Return the command's code (what it returned, as the command table reads it) and its result."""
    result = CliRunner().invoke(config, arguments, standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return (result.return_value if isinstance(result.return_value, int) else 0), result


@pytest.fixture
def top(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    return tmp_path


def test_show_tells_every_key_and_who_set_it(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (top / "ralph.toml").write_text("[limits]\ntime = '2h'\n[check]\nlint = 'ruff check'\n")
    monkeypatch.setenv("RALPH_LIMITS__COST", "5")
    _, result = call("show", "--origin", "-C", str(top))
    lines = {line.split(" = ")[0]: line for line in result.stdout.splitlines()}
    assert lines.keys() == {key.path for key in KEYS} | {"check.lint"}
    assert "2h" in lines["limits.time"]
    assert "ralph.toml:2 limits.time" in lines["limits.time"]
    assert "RALPH_LIMITS__COST" in lines["limits.cost"]
    assert "$5.00" in lines["limits.cost"]
    assert lines["limits.iterations"].endswith("# default")


def test_show_as_json_holds_values_and_origins(top: Path) -> None:
    _, result = call("show", "--json", "-C", str(top), "--set", "limits.cost=2.5")
    keys = json.loads(result.stdout)["keys"]
    assert keys["limits.cost"] == {"value": 2_500_000, "origin": "flag", "where": "--set limits.cost"}
    assert keys["limits.tokens"]["value"] is None


def test_show_from_a_folder_below_reads_the_file_at_the_top(top: Path) -> None:
    (top / "ralph.toml").write_text("limits.iterations = 7\n")
    below = top / "a" / "b"
    below.mkdir(parents=True)
    assert top_of(below) == top
    _, result = call("show", "-C", str(below))
    assert "limits.iterations = 7" in result.stdout


def test_no_control_byte_of_a_file_is_printed(top: Path) -> None:
    (top / "ralph.toml").write_text('agent.model = "a\\u001b[2Jb"\n')
    _, result = call("show", "--origin", "-C", str(top))
    assert "\x1b" not in result.stdout


def test_check_prints_all_mistakes_and_exits_3(top: Path) -> None:
    (top / "ralph.toml").write_text("[limits]\niterations = 0\ntime = 90\n[test]\ncomand = 'x'\n")
    code, result = call("check", "-C", str(top))
    assert code == EXIT_FOUND
    for place in ("ralph.toml:2 limits.iterations", "ralph.toml:3 limits.time", "ralph.toml:5 test.comand"):
        assert place in result.stdout
    assert "3 configuration errors" in result.stdout


def test_check_as_json_lists_what_where_fix(top: Path) -> None:
    (top / "ralph.toml").write_text("limits.time = 90\n")
    code, result = call("check", "--json", "-C", str(top))
    assert code == EXIT_FOUND
    (error,) = json.loads(result.stdout)["errors"]
    assert error["where"] == "ralph.toml:1 limits.time"
    assert '"90s"' in error["fix"]


def test_check_of_a_right_file_exits_0(top: Path) -> None:
    (top / "ralph.toml").write_text("limits.time = '1h'\n")
    code, result = call("check", "-C", str(top))
    assert code == 0
    assert "no mistakes in" in result.stdout


def test_schema_is_json_and_names_every_key() -> None:
    _, result = call("schema")
    schema = json.loads(result.stdout)
    assert schema["$schema"].startswith("https://json-schema.org/")
    for key in KEYS:
        table = schema["$defs"][key.section] if key.section else schema
        assert key.name in table["properties"]


def test_pydantic_does_not_stay_after_loading(top: Path) -> None:
    """A supervisor lives for a night; the validating library must not live with it."""
    (top / "ralph.toml").write_text("limits.time = '1h'\n")
    program = (
        "import os, sys; from pathlib import Path; from ralph.config.sources import load;"
        f"top = Path({str(top)!r}); found = load(flags={{}}, environ=os.environ, top=top, cwd=top);"
        "assert found.settings.limits.time == 3600; print(sorted(sys.modules.keys() & {'pydantic', 'pydantic_core'}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=os.environ, check=True)
    assert done.stdout.strip() == "[]"
