"""The formats against real runners of Python, and what all of them owe to hostile bytes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph.testreports import FORMATS, Outputs, Parsed, guess, is_noise, read
from ralph.testreports.parsed import ID_CHARS, IDS, capped, gathered, stable_id

SUITE = """
import pytest, unittest
def test_ok(): pass
def test_bad(): assert 0
@pytest.mark.parametrize("x", ["a - b", "c::d"])
def test_p(x): assert x == "c::d", x
@pytest.mark.skip(reason="test PASSED before")
def test_s(): pass
@pytest.mark.xfail
def test_xf(): assert 0
@pytest.mark.xfail
def test_xp(): pass
@pytest.fixture
def f(): raise OSError("x")
def test_e(f): pass
class TestC:
    def test_m(self): pass
"""
PASSING = {"test_s.py::test_ok", "test_s.py::test_p[c::d]", "test_s.py::test_xp", "test_s.py::TestC::test_m"}
FAILING = {"test_s.py::test_bad", "test_s.py::test_p[a - b]", "test_s.py::test_e"}
SKIPPED = {"test_s.py::test_s", "test_s.py::test_xf"}


def output(folder: Path, *argv: str) -> bytes:
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # plug-ins cost more than the tests
    done = subprocess.run([sys.executable, "-m", *argv], cwd=folder, env=env, capture_output=True, check=False)
    return done.stdout + b"\n" + done.stderr


def run_pytest(folder: Path, *argv: str) -> Parsed | None:
    text = output(folder, "pytest", "-p", "no:cacheprovider", *argv)
    return FORMATS["pytest"].parse(text)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "test_s.py").write_text(SUITE)
    return tmp_path


def test_verbose_pytest_gives_every_id(suite: Path) -> None:
    assert run_pytest(suite, "-v") == Parsed(
        frozenset(PASSING), frozenset(FAILING), frozenset(SKIPPED), ran=7, passed=4, total=8
    )


def test_xdist_gives_the_same_result_as_one_process(suite: Path) -> None:
    assert run_pytest(suite, "-v", "-p", "xdist", "-n", "1") == run_pytest(suite, "-v", "--color=yes")


def test_quiet_pytest_gives_failing_ids_and_counts_but_no_passing_ids(suite: Path) -> None:
    assert run_pytest(suite, "-q") == Parsed(failing=frozenset(FAILING), ran=7, passed=4, total=8)


def test_a_file_that_does_not_import_is_a_failing_id_of_its_own(suite: Path) -> None:
    (suite / "test_broken.py").write_text("import nope")
    assert run_pytest(suite, "-v") == Parsed(
        failing=frozenset({"test_broken.py"}), ran=0, passed=0, total=0, partial=True
    )


def test_output_between_id_and_word_makes_passing_ids_unknown_not_lost(suite: Path) -> None:
    """With -s a test prints into its own line: an id then hides, and must not seem to have vanished."""
    (suite / "test_s.py").write_text("def test_a(): print('hello')\ndef test_b(): pass\n")
    assert run_pytest(suite, "-v", "-s") == Parsed(ran=2, passed=2, total=2)


def test_pytest_that_collects_nothing_ran_nothing(tmp_path: Path) -> None:
    """R097."""
    assert run_pytest(tmp_path, "-q") == Parsed(ran=0, passed=0, total=0)


def test_pytest_that_deselects_everything_ran_nothing(suite: Path) -> None:
    """R097."""
    assert run_pytest(suite, "-q", "-k", "nosuch") == Parsed(ran=0, passed=0, total=0)


def test_a_usage_error_of_pytest_is_broken(tmp_path: Path) -> None:
    parsed = run_pytest(tmp_path, "-q", "nofile.py")
    assert parsed is not None
    assert parsed.broken == "pytest: file or directory not found: nofile.py"


def test_pytest_stopped_at_the_first_failure_is_partial(suite: Path) -> None:
    parsed = run_pytest(suite, "-v", "-x")
    assert parsed == Parsed(
        frozenset({"test_s.py::test_ok"}), frozenset({"test_s.py::test_bad"}), ran=2, passed=1, total=2, partial=True
    )


def test_junit_of_pytest_agrees_with_its_text(suite: Path) -> None:
    output(suite, "pytest", "-q", "--junitxml=report.xml")
    parsed = FORMATS["junit"].parse((suite / "report.xml").read_bytes())
    renamed = [
        frozenset(one.replace("test_s.py::TestC", "test_s.TestC").replace("test_s.py", "test_s") for one in ids)
        for ids in (PASSING, FAILING, SKIPPED)
    ]
    assert parsed == Parsed(renamed[0], renamed[1], renamed[2], ran=8, passed=4, total=9)


UNITTEST = '''
import unittest
class A(unittest.TestCase):
    def test_ok(self): pass
    def test_doc(self):
        """A doc line."""
    def test_bad(self): self.fail("x")
    @unittest.skip("why not")
    def test_skip(self): pass
    @unittest.expectedFailure
    def test_xf(self): self.fail()
    def test_sub(self):
        for i in range(2):
            with self.subTest(i=i): self.assertEqual(i, 3)
    def test_print(self): print("hello")
class B(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise OSError
    def test_n(self): pass
'''
UNIT_FAILING = frozenset({"test_u.A.test_bad", "test_u.A.test_sub", "test_u.B.setUpClass", "test_broken"})


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    (tmp_path / "test_u.py").write_text(UNITTEST)
    (tmp_path / "test_broken.py").write_text("import nope")
    return tmp_path


def test_verbose_unittest_gives_every_id(unit: Path) -> None:
    assert FORMATS["unittest"].parse(output(unit, "unittest", "-v")) == Parsed(
        frozenset({"test_u.A.test_ok", "test_u.A.test_doc", "test_u.A.test_print"}),
        UNIT_FAILING,
        frozenset({"test_u.A.test_skip", "test_u.A.test_xf"}),
        ran=7,
        passed=3,
        total=8,
    )


def test_plain_unittest_gives_failing_ids_and_counts(unit: Path) -> None:
    parsed = FORMATS["unittest"].parse(output(unit, "unittest"))
    assert parsed == Parsed(failing=UNIT_FAILING, ran=7, passed=3, total=8)


def test_unittest_before_311_printed_the_class_only() -> None:
    text = b"FAIL: test_bad (m.A)\n---\nRan 1 test in 0.1s\n\nFAILED (failures=1)\n"
    assert FORMATS["unittest"].parse(text) == Parsed(failing=frozenset({"m.A.test_bad"}), ran=1, passed=0, total=1)


def test_unittest_that_finds_nothing_ran_nothing(tmp_path: Path) -> None:
    """R097."""
    assert FORMATS["unittest"].parse(output(tmp_path, "unittest")) == Parsed(ran=0, passed=0, total=0)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=400))
def test_no_bytes_make_a_parser_raise(name: str, data: bytes) -> None:
    FORMATS[name].parse(data)


PIECES = (
    b"PASSED",
    b" FAILED ",
    b"::",
    b"test_a.py::t[",
    b"] ",
    b"=== short test summary info ===\n",
    b"SUBFAILED(i=0) ",
    b"1 failed, 2 passed in 0.1s\n",
    b"\n",
    b"ERROR: ",
    b"FAIL: a (b.c)\n",
    b"Ran 3 tests in 0.1s\n",
    b"FAILED (failures=1)",
    b"ok 1 - a",
    b"not ok",
    b"    ",
    b"1..3\n",
    b"# SKIP",
    b"Bail out!",
    b"  ---\n",
    b'{"Action":"fail","Package":"p"}\n',
    b'{"Action":"run","Package":"p","Test":"T"}\n',
    b"<testsuite>",
    b"<testcase name='a'>",
    b"<failure/>",
    b"</testcase>",
    b"</testsuite>",
    b"<?xml version='1.0' encoding='",
    b"utf-16",
    b"'?>",
    b"<!DOCTYPE x>",
    b"&#0;",
    b"\xff",
    b"\x00",
    b"[gw0] [ 5%] ",
)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=60, deadline=None)
@given(data=st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join))
def test_no_mix_of_their_own_words_makes_a_parser_raise_or_break_its_promises(name: str, data: bytes) -> None:
    parsed = FORMATS[name].parse(data)
    if parsed is not None:
        assert not parsed.passing & parsed.failing
        assert not (parsed.passing | parsed.failing) & parsed.skipped
        assert all(0 < len(one) <= ID_CHARS + 9 for one in parsed.passing | parsed.failing | parsed.skipped)


@pytest.mark.parametrize(
    ("report", "text", "found"),
    [
        (b"<testsuite/>", b"1 passed in 0.1s", "junit"),
        (b"1..1\nok 1\n", b"", "tap"),
        (None, b"noise\n=== 1 passed in 0.10s ===\n", "pytest"),
        (None, b"Ran 1 test in 0.1s\n\nOK\n", "unittest"),
        (None, b'{"Action":"pass","Package":"p","Test":"T"}\n', "gotest"),
        (None, b"TAP version 13\nok 1\n1..1\n", "tap"),
        (None, b"all good", "exit"),
        (b"what is this", b"1 passed in 0.1s", "exit"),
    ],
)
def test_auto_prefers_the_report_file_then_the_text_then_the_exit(
    report: bytes | None, text: bytes, found: str
) -> None:
    assert guess(Outputs(report, text)) == found


def test_a_wanted_format_that_is_not_there_is_none_not_green() -> None:
    assert read(Outputs(text=b"1 passed in 0.1s"), "tap") == ("tap", None)


def test_a_report_in_no_format_is_broken_whatever_the_text_claims() -> None:
    """E3."""
    assert read(Outputs(b"", b"1 passed in 0.1s"), "auto")[1] == Parsed(broken="report is empty")


def test_a_gap_in_the_output_makes_absent_ids_unknown() -> None:
    text = b"a.py::t PASSED\n=== 1 passed in 0.10s ===\n"
    assert read(Outputs(text=text, cut=True), "auto")[1] == Parsed(ran=1, passed=1, total=1)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a::t[0x7f00aabb11]", "a::t[0x7f00ccdd22]"),
        ("a::t[/tmp/pytest-of-me/pytest-3/x0]", "a::t[/tmp/pytest-of-me/pytest-4/x0]"),
        ("TestX (0.02s)", "TestX (1.70s)"),
        ("suite > works (12 ms)", "suite > works (9 ms)"),
        ("t 2026-01-02T03:04:05Z", "t 2026-01-03T03:04:05Z"),
        ("t[6ba7b810-9dad-11d1-80b4-00c04fd430c8]", "t[6ba7b811-9dad-11d1-80b4-00c04fd430c8]"),
        ("a\x1b[0m  b\r", "a\x00[0m b"),
    ],
)
def test_an_id_does_not_change_from_run_to_run(one: str, other: str) -> None:
    """R050."""
    assert stable_id(one) == stable_id(other)


@pytest.mark.parametrize("one", ["src/tmp/test_a.py::t", "t[1]", "t[3 s]", "0x1f"])
def test_an_ordinary_id_stays_as_it_is(one: str) -> None:
    assert stable_id(one) == one


def test_two_long_ids_stay_apart_and_short() -> None:
    one, other = stable_id("a" * 5000 + "1"), stable_id("a" * 5000 + "2")
    assert one != other
    assert len(one) <= ID_CHARS


def test_duplicate_names_are_told_apart_whatever_the_order() -> None:
    cases = [("t", "passing"), ("t", "failing"), ("t", "passing")]
    assert gathered(cases) == gathered(reversed(cases)) == (frozenset({"t#2", "t#3"}), frozenset({"t"}), frozenset())  # type: ignore[arg-type]


def test_a_flood_of_ids_is_bounded() -> None:
    many = frozenset(map(str, range(IDS + 1)))
    bounded = capped(Parsed(passing=many, passed=IDS + 1))
    assert (len(bounded.passing), bounded.passed) == (0, IDS + 1)
    assert len(capped(Parsed(failing=many)).failing) == IDS


def test_go_output_lines_are_noise_and_results_are_not() -> None:
    assert is_noise(b'{"Time":"x","Action":"output","Package":"p","Output":"hi"}')
    assert not is_noise(b'{"Time":"x","Action":"fail","Package":"p","Test":"T"}')


@pytest.mark.parametrize(
    "line",
    [
        b"a::" * 1300 + b" PASSED" * 4,
        b"[gw0] [ 5%] PASSED a" + b" " * 4000 + b"b",
        b"SUBFAILED" + b"(a)" * 1300,
        b"( " * 2000,
    ],
)
def test_a_line_made_to_stall_a_pattern_costs_no_more_than_its_length(line: bytes) -> None:
    """E4: 2,000 such lines are read; a quadratic pattern would need minutes and run into the test's own limit."""
    data = b"=== short test summary info ===\n" + (line + b"\n") * 2000
    for form in FORMATS.values():
        form.parse(data)
