"""The house rules that no type checker knows: rooms import downward, pure rooms stay pure, files stay readable."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "ralph"

# Longest prefix wins. A module may import only modules of its own room or of a lower level (design 4.3).
LEVELS = {
    "ralph": 0,
    "ralph.facts": 0,
    "ralph.errors": 1,
    "ralph.ports": 1,
    "ralph.judge": 2,
    "ralph.agents": 2,
    "ralph.testreports": 2,
    "ralph.report": 2,
    "ralph.encode": 2,
    "ralph.process": 3,
    "ralph.repo": 3,
    "ralph.journal": 3,
    "ralph.steer": 3,
    "ralph.prices": 3,
    "ralph.watching": 3,
    "ralph.notify": 3,
    "ralph.sandbox": 3,
    "ralph.prompt": 4,
    "ralph.advice": 4.5,
    "ralph.testrun": 4,
    "ralph.loop": 5,
    "ralph.config": 5,
    "ralph.console": 5,
    "ralph.demo": 5,
    "ralph.wiring": 6,
    "ralph.cli": 7,
    "ralph.start": 8,
}
PURE = ("ralph.judge", "ralph.agents", "ralph.testreports", "ralph.report", "ralph.encode", "ralph.facts")
FORBIDDEN_IN_PURE = {"os", "time", "subprocess", "socket", "random", "secrets", "select", "signal", "shutil"}
DOORS = {
    "click": ("ralph.cli",),
    "rich": ("ralph.console",),
    "git": ("ralph.repo",),
    "watchfiles": ("ralph.watching",),
    "psutil": ("ralph.process",),
    "tomli": ("ralph.config",),
    "pydantic": ("ralph.config",),
    "msgspec": ("ralph.agents",),
    "junitparser": ("ralph.testreports",),
    "genai_prices": ("ralph.prices",),
    "platformdirs": ("ralph.journal",),
    "durationpy": ("ralph.config",),
}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room(module: str) -> str:
    names = module.split(".")
    return next(".".join(names[:n]) for n in range(len(names), 0, -1) if ".".join(names[:n]) in LEVELS)


def imports(path: Path) -> list[str]:
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.append(node.module or "")
    return found


SOURCES = sorted(PACKAGE.rglob("*.py"))
NAMES = [module_name(path) for path in SOURCES]


@pytest.mark.parametrize("path", SOURCES, ids=NAMES)
def test_imports_go_down_only(path: Path) -> None:
    here = room(module_name(path))
    for name in imports(path):
        if not name.startswith("ralph"):
            continue
        there = room(name)
        lower = LEVELS[there] < LEVELS[here] or there == "ralph.encode"
        assert there == here or lower, f"{here} may not import {name}"


@pytest.mark.parametrize("path", SOURCES, ids=NAMES)
def test_pure_rooms_touch_no_world(path: Path) -> None:
    if room(module_name(path)) not in PURE:
        return
    touched = {name.split(".")[0] for name in imports(path)} & FORBIDDEN_IN_PURE
    assert not touched


@pytest.mark.parametrize("path", SOURCES, ids=NAMES)
def test_each_package_has_one_door(path: Path) -> None:
    for name in imports(path):
        doors = DOORS.get(name.split(".")[0])
        assert doors is None or room(module_name(path)) in doors, f"{name} belongs behind {doors}"


@pytest.mark.parametrize("path", SOURCES, ids=NAMES)
def test_files_and_functions_fit_a_reader(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 300, "a file over 300 lines has a part with a name of its own"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size = (node.end_lineno or node.lineno) - node.lineno + 1
            limit = 25 if room(module_name(path)) == "ralph.loop" else 60
            assert size <= limit, f"{node.name}: {size} lines"


DOMAIN_VALUES = {"Reason", "Outcome", "Verdict", "Why", "Finish", "Trouble", "Source"}


@pytest.mark.parametrize("path", sorted((PACKAGE / "loop").glob("*.py")), ids=lambda p: p.stem)
def test_the_loop_decides_nothing(path: Path) -> None:
    """No comparison with a value of the domain: the loop does things in order, `judge` decides."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                for part in ast.walk(side):
                    named = isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name)
                    assert not (named and part.value.id in DOMAIN_VALUES), f"line {node.lineno} compares"  # type: ignore[attr-defined]
        assert not isinstance(node, ast.Match), f"line {node.lineno} matches"


def test_nobody_waits_for_any_child() -> None:
    """A15: waitpid(-1) steals the exit code of a child somebody else waits for; only the sweep may use it."""
    allowed = {"guardian.py", "tree.py", "linux.py"}
    for path in SOURCES:
        if path.name not in allowed:
            assert not re.search(r"waitpid\(\s*-1", path.read_text(encoding="utf-8")), path


def run_tool(*argv: str) -> None:
    env = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run([sys.executable, "-m", *argv], cwd=ROOT, capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_format_is_kept() -> None:
    run_tool("ruff", "format", "--check", "ralph", "tests", "benchmarks")


def test_lint_is_clean() -> None:
    run_tool("ruff", "check", "ralph", "tests", "benchmarks")


def test_types_are_strict() -> None:
    run_tool("mypy")
