"""Configuration files as an agent may leave them: pipes, links, folders, huge, torn."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pydantic  # noqa: F401 - see tests.config.place
import pytest

from ralph.config.files import MOST_BYTES, key_lines, read_pyproject, read_toml
from ralph.config.sources import load
from ralph.errors import ConfigErrors, UserError


def fifo(path: Path) -> None:
    os.mkfifo(path)


def link(path: Path) -> None:
    target = path.with_name("target")
    target.write_text("")
    path.symlink_to(target)


def folder(path: Path) -> None:
    path.mkdir()


def huge(path: Path) -> None:
    path.touch()
    os.truncate(path, 10 << 30)


def just_over(path: Path) -> None:
    path.write_bytes(b"#" * (MOST_BYTES + 1))


def latin(path: Path) -> None:
    path.write_bytes(b'a = "\xe9"\n')


def torn(path: Path) -> None:
    path.write_text('[limits]\ntime = "8h\n')


def deep(path: Path) -> None:
    path.write_text("a = " + "[" * 100_000)


def long_number(path: Path) -> None:
    path.write_text("a = " + "9" * 10_000)


SHAPES = [
    (fifo, "regular file"),
    (link, "symbolic link"),
    (folder, "regular file"),
    (huge, "larger"),
    (just_over, "larger"),
    (latin, "UTF-8"),
    (torn, "not TOML"),
    (deep, "deep"),
    (long_number, "number"),
]


@pytest.mark.parametrize(("make", "what"), SHAPES, ids=lambda x: getattr(x, "__name__", x))
@pytest.mark.parametrize("name", ["ralph.toml", "pyproject.toml"])
def test_a_file_of_another_shape_is_an_error_and_never_a_hang(
    tmp_path: Path, make: Callable[[Path], None], what: str, name: str
) -> None:
    """C3: NOFOLLOW, NONBLOCK, a regular file, a cap."""
    make(tmp_path / name)
    with pytest.raises(ConfigErrors) as caught:
        load(flags={}, environ={}, top=tmp_path, cwd=tmp_path, profile=None, sets=())
    (error,) = caught.value.errors
    assert what in error.what
    assert error.where.startswith(name)


def test_a_broken_file_does_not_hide_the_mistakes_of_the_line(tmp_path: Path) -> None:
    torn(tmp_path / "ralph.toml")
    with pytest.raises(ConfigErrors) as caught:
        load(flags={"limits.time": "9"}, environ={}, top=tmp_path, cwd=tmp_path, profile=None, sets=())
    assert [error.where for error in caught.value.errors] == ["ralph.toml:2", "--max-time"]


def test_an_absent_file_is_none(tmp_path: Path) -> None:
    assert read_toml(tmp_path / "ralph.toml", "ralph.toml") is None
    assert read_pyproject(tmp_path / "pyproject.toml") is None


def test_only_our_table_of_pyproject_counts(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    hashes = []
    for text in ("", "[project]\nname = 'x'\n", "[project]\nname = 'other'\n"):
        path.write_text(f"{text}[tool.ralph]\nlimits.turns = 5\n")
        source = read_pyproject(path)
        assert source is not None
        hashes.append(source.file.sha256)
    path.write_text("[tool.ralph]\nlimits.turns = 6\n")
    changed = read_pyproject(path)
    assert changed is not None
    assert len(set(hashes)) == 1
    assert changed.file.sha256 not in hashes


def test_a_tool_table_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool]\nralph = 5\n")
    with pytest.raises(UserError, match="not a table"):
        read_pyproject(tmp_path / "pyproject.toml")


def test_lines_of_keys_are_found() -> None:
    text = '''# c
done = "promise"
[limits]
time = "1h"
"cost" = 5
a . b = 1
[agent]
command = """
time = no
"""
model = "x"
[[odd]]
[ profile . ci ]
limits.turns=1
'''
    assert key_lines(text) == {
        "done": 2,
        "limits": 3,
        "limits.time": 4,
        "limits.cost": 5,
        "limits.a.b": 6,
        "agent": 7,
        "agent.command": 8,
        "agent.model": 11,
        "odd": 12,
        "profile.ci": 13,
        "profile.ci.limits.turns": 14,
    }


def test_a_key_in_an_inline_table_gets_the_line_of_the_table(tmp_path: Path) -> None:
    (tmp_path / "ralph.toml").write_text("\nlimits = { time = 5 }\n")
    with pytest.raises(ConfigErrors) as caught:
        load(flags={}, environ={}, top=tmp_path, cwd=tmp_path, profile=None, sets=())
    assert caught.value.errors[0].where == "ralph.toml:2 limits.time"
