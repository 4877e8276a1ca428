"""Every fault of the catalogue is named by a test that the default suite runs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.catalogue import DEFERRED, P0

HERE = Path(__file__).resolve().parent
NAME = re.compile(r"(?<=_)([abcse]\d{1,2})(?=_)")
WORDS = re.compile(r"\b([ABCSE]\d{1,2})\b")
NOT_BY_DEFAULT = ("slow", "real", "skip", "xfail")

Test = ast.FunctionDef | ast.AsyncFunctionDef


def marks(node: ast.expr) -> set[str]:
    """Return the names after `pytest.mark` in an expression."""
    parts = [part for part in ast.walk(node) if isinstance(part, ast.Attribute)]
    return {p.attr for p in parts if isinstance(p.value, ast.Attribute) and p.value.attr == "mark"}


def is_left_out(module: ast.Module) -> bool:
    """Return whether a whole file is marked as not for every day."""
    assigned = [node for node in module.body if isinstance(node, ast.Assign)]
    ours = [n for n in assigned if any(isinstance(t, ast.Name) and t.id == "pytestmark" for t in n.targets)]
    return any(not marks(node.value).isdisjoint(NOT_BY_DEFAULT) for node in ours)


def functions_of(module: ast.Module) -> Iterator[Test]:
    for node in ast.walk(module):
        if isinstance(node, Test) and node.name.startswith("test_"):
            decorated = set[str]().union(*(marks(decorator) for decorator in node.decorator_list))
            if decorated.isdisjoint(NOT_BY_DEFAULT):
                yield node


def named(test: Test) -> set[str]:
    """Return the rows that a test names: in its own name, its docstring or the ids of its parameters."""
    found = {row.upper() for row in NAME.findall(test.name)} | set(WORDS.findall(ast.get_docstring(test) or ""))
    for decorator in test.decorator_list:
        for part in ast.walk(decorator):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                found |= set(WORDS.findall(part.value))
    return found


def rows_with_tests() -> dict[str, list[str]]:
    """Return row -> the tests that name it."""
    found: dict[str, list[str]] = {row: [] for row in P0}
    for path in sorted(HERE.rglob("test_*.py")):
        module = ast.parse(path.read_text(encoding="utf-8"))
        for test in () if is_left_out(module) else functions_of(module):
            for row in named(test) & P0.keys():
                found[row].append(f"{path.relative_to(HERE)}::{test.name}")
    return found


@pytest.fixture(scope="module")
def found() -> dict[str, list[str]]:
    return rows_with_tests()


@pytest.mark.parametrize("row", [row for row in P0 if row not in DEFERRED])
def test_each_fault_that_would_stop_a_release_has_a_test(row: str, found: dict[str, list[str]]) -> None:
    assert found[row], f"no test names {row} ({P0[row]})"


def test_what_has_no_test_is_listed_with_its_reason(found: dict[str, list[str]]) -> None:
    assert len(P0) == 70
    assert len(DEFERRED) <= 3
    for row, reason in DEFERRED.items():
        assert row in P0
        assert len(reason) > 20
        assert found[row] == [], f"{row} has a test by now: take it off the list"
