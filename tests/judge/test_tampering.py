"""Tampering: what is done to tests instead of code is named and blocks; what is added never does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.facts.finding import Finding
from ralph.facts.suite import Suite, Verdict
from ralph.judge.tampering import (
    KINDS,
    Bytes,
    checklist_findings,
    file_findings,
    is_runner_config,
    is_test_path,
    tampering,
)

SUITE = b"""def test_a():
    assert f(1) == 2
    assert f(2) == 3

def test_b():
    assert g() == approx(1, rel=1e-6)
"""
IT = b"it('a', () => {\nexpect(f()).toBe(1)\n})"
GO = b"func TestA(t *testing.T) {\n\tt.Errorf(x)\n}"
RUST = b"#[test]\nfn a() {\nassert_eq!(f(), 1);\n}"
JAVA = b"@Test\nvoid a() {\nassertEquals(1, f());\n}"


def kinds(path: str, before: bytes | None, after: bytes | None) -> list[str]:
    return [finding.kind for finding in file_findings({path: (before, after)})]


def suite_kinds(baseline: Suite | None, now: Suite | None, files: dict[str, Bytes] | None = None) -> list[Finding]:
    return list(tampering(baseline, now, files=files or {}, changed=()))


def ran(passing: str = "", failing: str = "", skipped: str = "", **counts: int) -> Suite:
    sets = [frozenset(text.split()) for text in (passing, failing, skipped)]
    verdict = Verdict.RED if failing else Verdict.GREEN
    passed = counts.get("passed", len(sets[0]))
    total = counts.get("total", sum(map(len, sets)))
    return Suite("tests", verdict, sets[0], sets[1], sets[2], format="pytest", passed=passed, total=total)


@pytest.mark.parametrize(
    ("after", "kind"),
    [
        (None, "tests-emptied"),
        (b"", "tests-emptied"),
        (b"def test_a():\n    pass\n\ndef test_b():\n    assert True\n", "tests-emptied"),
        (SUITE.replace(b"    assert f(2) == 3\n", b""), "tests-weakened"),
        (SUITE.replace(b"    assert f(2)", b"    # assert f(2)"), "tests-weakened"),
        (SUITE.replace(b"assert f(2) == 3", b"assert True"), "tests-weakened"),
        (SUITE.replace(b"1e-6", b"0.5"), "tests-weakened"),
        (SUITE.replace(b"def test_b", b"@pytest.mark.skip\ndef test_b"), "tests-skipped"),
        (SUITE.replace(b"def test_b", b"@pytest.mark.xfail(reason='x')\ndef test_b"), "tests-skipped"),
    ],
)
def test_each_way_to_hollow_out_a_test_file_is_named(after: bytes | None, kind: str) -> None:
    """E3."""
    assert kinds("tests/test_x.py", SUITE, after) == [kind]


@pytest.mark.parametrize(
    "after",
    [
        SUITE + b"\ndef test_c():\n    assert h()\n",
        SUITE + b"\n@pytest.mark.skip\ndef test_c():\n    assert h()\n",
        SUITE.replace(b"1e-6", b"1e-9"),
        SUITE.replace(b"f(1)", b"f(9)"),
        b"# a comment\n" + SUITE,
        SUITE.replace(b"test_b", b"test_renamed"),
    ],
)
def test_additions_and_rewording_of_tests_never_block(after: bytes) -> None:
    assert kinds("tests/test_x.py", SUITE, after) == []


def test_new_test_files_never_block() -> None:
    assert kinds("tests/test_new.py", None, b"@pytest.mark.skip\ndef test_a(): pass\n") == []


def test_a_test_file_that_moved_as_it_was_is_no_finding() -> None:
    assert file_findings({"test_x.py": (SUITE, None), "tests/test_x.py": (None, SUITE)}) == ()


@pytest.mark.parametrize(
    ("path", "before", "after", "kind"),
    [
        ("a.test.ts", IT, IT.replace(b"it(", b"it.skip("), "tests-skipped"),
        ("calc_test.go", GO, GO.replace(b"\tt.", b"\tt.Skip()\n\tt."), "tests-skipped"),
        ("tests/it.rs", RUST, RUST.replace(b"fn", b"#[ignore]\nfn"), "tests-skipped"),
        ("FooTest.java", JAVA, JAVA.replace(b"assertEquals(1, f());", b""), "tests-emptied"),
        ("__snapshots__/a.snap", b"exports[`a`] = `1`;\n", b"exports[`a`] = `2`;\n", "tests-weakened"),
    ],
)
def test_other_languages_are_read_too(path: str, before: bytes, after: bytes, kind: str) -> None:
    assert kinds(path, before, after) == [kind]


def test_a_snapshot_that_only_grew_is_no_finding() -> None:
    assert kinds("a/__snapshots__/a.snap", b"a = 1\n", b"a = 1\nb = 2\n") == []


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("pyproject.toml", b"[tool.pytest]\naddopts = '-q'\n", b"[tool.pytest]\naddopts = '-q -k fast'\n"),
        ("pytest.ini", b"[pytest]\n", b"[pytest]\naddopts = --deselect tests/test_x.py::test_a\n"),
        ("pytest.ini", b"[pytest]\n", b"[pytest]\ntestpaths = tests/easy\n"),
        ("pytest.ini", b"[pytest]\ntestpaths = a b\n", b"[pytest]\ntestpaths = a\n"),
        ("setup.cfg", b"", b"[tool:pytest]\naddopts =\n    --ignore=tests/hard\n"),
        ("tests/conftest.py", b"import os\n", b"import os\ncollect_ignore = ['test_x.py']\n"),
        ("conftest.py", None, b"def pytest_runtest_makereport(item, call):\n    ...\n"),
        ("conftest.py", b"", b"def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"),
        ("Makefile", b"test:\n\tpytest\n", b"test:\n\tpytest || true\n"),
        ("Makefile", b"test:\n\tpytest tests\n", b"test:\n\tpytest tests/easy\n"),
        ("Makefile", b"test:\n\tpytest\n", b"test:\n\t-pytest\n"),
        ("package.json", b'{"scripts": {"test": "jest"}}', b'{"scripts": {"test": "echo ok"}}'),
        ("package.json", b'{"scripts": {"test": "jest"}}', b'{"scripts": {"test": "jest --passWithNoTests"}}'),
        ("jest.config.js", b"module.exports = {}\n", b"module.exports = {\n passWithNoTests: true }\n"),
        ("tox.ini", b"[testenv]\ncommands = pytest\n", b"[testenv]\ncommands = pytest tests/easy\n"),
        ("Makefile", b"test:\n\tpytest\n", None),
    ],
)
def test_a_narrowed_runner_is_named(path: str, before: bytes | None, after: bytes | None) -> None:
    """E3, R098."""
    assert kinds(path, before, after) == ["runner-narrowed"]


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("pyproject.toml", b"[project]\nversion = '1'\n", b"[project]\nversion = '2'\ndependencies = ['a']\n"),
        ("pytest.ini", b"[pytest]\ntestpaths = a\n", b"[pytest]\ntestpaths = a b\n"),
        ("pytest.ini", b"[pytest]\naddopts = -k fast\n", b"[pytest]\naddopts = -q\n"),
        ("conftest.py", b"", b"import pytest\n@pytest.fixture\ndef db():\n    return 1\n"),
        ("Makefile", b"test:\n\tpytest\n", b"lint:\n\truff check\n\ntest:\n\tpytest\n\tmypy\n"),
        ("Makefile", b"build:\n\tcc a.c\n", b"build:\n\tcc a.c b.c\n"),
        ("package.json", b'{"scripts": {"test": "jest"}}', b'{"scripts": {"test": "jest", "lint": "eslint"}}'),
        ("tox.ini", b"[testenv]\ncommands = pytest\n", b"[testenv]\ndeps = pytest\ncommands = pytest\n"),
    ],
)
def test_other_changes_of_configuration_are_no_finding(path: str, before: bytes, after: bytes) -> None:
    assert kinds(path, before, after) == []


def test_vanished_and_newly_skipped_tests_are_named() -> None:
    """E3: test count drop and deleted tests flagged."""
    found = suite_kinds(ran("a b c"), ran("a", "", "b"))
    assert [(one.kind, one.subjects, one.blocks) for one in found] == [
        ("tests-vanished", ("c",), True),
        ("tests-skipped", ("b",), True),
    ]


def test_counts_alone_show_fewer_tests_and_name_the_changed_files() -> None:
    """pytest -q gives no passing ids."""
    found = suite_kinds(ran(passed=9, total=9), ran(passed=8, total=8), {"tests/test_x.py": (b"a", b"b")})
    assert found == [
        Finding(
            "tests-vanished",
            "tests that were there are gone: 9 tests at the start, 8 now",
            ("tests/test_x.py",),
            blocks=True,
        )
    ]


def test_counts_alone_show_newly_skipped_tests() -> None:
    found = suite_kinds(ran(passed=9, total=9), ran(passed=7, total=9))
    assert [(one.kind, one.detail.partition(": ")[2]) for one in found] == [
        ("tests-skipped", "9 tests passed at the start, 7 now")
    ]


def test_counts_of_a_run_that_stopped_early_say_nothing() -> None:
    early = Suite("tests", Verdict.RED, failing=frozenset({"x"}), format="pytest", passed=1, total=2, partial=True)
    assert suite_kinds(ran(passed=9, total=9), early) == []


def test_more_tests_and_fixed_tests_are_no_finding() -> None:
    assert suite_kinds(ran("a", "b"), ran("a b c")) == []
    assert suite_kinds(None, ran("a")) == []
    assert suite_kinds(ran("a"), None) == []


def test_a_run_without_a_result_is_no_finding() -> None:
    assert suite_kinds(ran("a"), Suite("tests", Verdict.TIMED_OUT)) == []


def test_protected_files_are_named() -> None:
    """R098."""
    found = tampering(None, None, files={}, changed=("a/x.py", "ci/run.sh", "b.py"), protect=("ci/", "b.py"))
    assert [(one.kind, one.subjects) for one in found] == [("protected-changed", ("b.py", "ci/run.sh"))]


@pytest.mark.parametrize("now", ["- [x] a\n", None, "```\n- [x] a\n- [x] b\n```"])
def test_boxes_that_went_away_are_named(now: str | None) -> None:
    found = checklist_findings((("PLAN.md", 2, 0),), {"PLAN.md": now})
    assert [(one.kind, one.subjects, one.blocks) for one in found] == [("checklist-shrunk", ("PLAN.md",), True)]


def test_more_boxes_are_no_finding() -> None:
    assert checklist_findings((("PLAN.md", 1, 0),), {"PLAN.md": "- [x] a\n- [ ] b\n"}) == ()


@pytest.mark.parametrize(
    "path",
    ["tests/data.json", "test_a.py", "a/b_test.go", "a.spec.tsx", "x_spec.rb", "src/FooTest.java", "t/a.t", "a.bats"],
)
def test_test_paths(path: str) -> None:
    assert is_test_path(path)


@pytest.mark.parametrize("path", ["src/main.py", "latest.py", "contest.js", "docs/testing.md", "attest/x.py"])
def test_other_paths(path: str) -> None:
    assert not is_test_path(path)


def test_runner_configurations() -> None:
    assert all(map(is_runner_config, ("tox.ini", "a/conftest.py", "Makefile", "web/jest.config.ts", "package.json")))
    assert not any(map(is_runner_config, ("main.py", "Makefile.md", "package.jsonx")))


@given(st.sampled_from(["test_a.py", "conftest.py", "Makefile", "package.json", "a.snap"]), st.binary(), st.binary())
def test_no_bytes_make_it_raise_and_every_kind_is_in_the_table(path: str, before: bytes, after: bytes) -> None:
    assert all(finding.kind in KINDS and finding.blocks for finding in file_findings({path: (before, after)}))


def test_a_file_of_blank_lines_costs_no_more_than_its_length() -> None:
    """E4: a quadratic pattern would need hours here."""
    assert kinds("test_a.py", b"\n" * 2_000_000, b" " * 2_000_000) == []
