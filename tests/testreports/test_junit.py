"""JUnit XML: the shapes of its writers, and E5, what a hostile one tries."""

from __future__ import annotations

import pytest

from ralph.testreports.junit import CASES, DEPTH, SIZE, parse
from ralph.testreports.parsed import Parsed

SUREFIRE = b"""<?xml version="1.0" encoding="UTF-8"?>
<testsuite xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  name="com.acme.CalcTest" time="1,234.5" tests="99" errors="0">
  <properties><property name="java.version" value="21"/></properties>
  <testcase name="adds" classname="com.acme.CalcTest" time="0.004"/>
  <testcase name="flaky" classname="com.acme.CalcTest" time="0.01">
    <flakyFailure message="once" type="java.lang.AssertionError"><stackTrace>at</stackTrace></flakyFailure>
  </testcase>
  <testcase name="subtracts" classname="com.acme.CalcTest">
    <failure message="expected 1" type="AssertionError">trace</failure>
    <rerunFailure message="again"><stackTrace>at</stackTrace></rerunFailure>
    <system-out><![CDATA[<!DOCTYPE html><testcase name="no"/>]]></system-out>
  </testcase>
  <testcase name="later" classname="com.acme.CalcTest"><skipped message="TODO"/></testcase>
</testsuite>"""

NEXTEST = b"""<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="3" failures="1" errors="0" uuid="45c50042-482e-477e-88c8-60cfcc3eaf95">
  <testsuite name="with-build-script" tests="1">
    <testcase name="tests::test_out_dir_present" classname="with-build-script" time="0.022"/></testsuite>
  <testsuite name="nextest-tests::basic" tests="2">
    <testcase name="test_failure_assert" classname="nextest-tests::basic">
      <failure type="test failure">stderr</failure>
      <system-err>x</system-err></testcase>
    <testcase name="test_flaky_mod_4" classname="nextest-tests::basic">
      <flakyFailure type="test failure">1</flakyFailure></testcase>
  </testsuite>
</testsuites>"""

JEST = b"""<testsuites name="jest tests" tests="3" failures="1" errors="0" time="1.2">
  <testsuite name="math" errors="0" failures="1" skipped="0" timestamp="2026-01-01T00:00:00" tests="3">
    <testcase classname="math adds" name="math adds" time="0.005"></testcase>
    <testcase classname="math adds" name="math adds" time="0.005"><failure>Error</failure></testcase>
    <testcase classname="math each 1" name="math each 1"/>
  </testsuite>
</testsuites>"""

NESTED = b"""<testsuites tests="0"><testsuite name="a"><testsuite name="b"><testsuite name="c">
<testcase classname="c" name="deep"/></testsuite><testcase classname="b" name="mid"/></testsuite></testsuite>
<testcase name="loose"/></testsuites>"""


def test_surefire_reruns_count_by_how_they_ended() -> None:
    assert parse(SUREFIRE) == Parsed(
        frozenset({"com.acme.CalcTest::adds", "com.acme.CalcTest::flaky"}),
        frozenset({"com.acme.CalcTest::subtracts"}),
        frozenset({"com.acme.CalcTest::later"}),
        ran=3,
        passed=2,
        total=4,
    )


def test_nextest_ids_hold_the_binary() -> None:
    assert parse(NEXTEST) == Parsed(
        frozenset({"with-build-script::tests::test_out_dir_present", "nextest-tests::basic::test_flaky_mod_4"}),
        frozenset({"nextest-tests::basic::test_failure_assert"}),
        ran=3,
        passed=2,
        total=3,
    )


def test_jest_cases_of_one_name_are_told_apart() -> None:
    assert parse(JEST) == Parsed(
        frozenset({"math adds::math adds#2", "math each 1::math each 1"}),
        frozenset({"math adds::math adds"}),
        ran=3,
        passed=2,
        total=3,
    )


def test_nested_suites_are_walked_once_and_counts_come_from_the_cases() -> None:
    assert parse(NESTED) == Parsed(frozenset({"c::deep", "b::mid", "loose"}), ran=3, passed=3, total=3)


def test_a_suite_of_skipped_cases_ran_nothing() -> None:
    """R097."""
    parsed = parse(b"<testsuite tests='5'><testcase name='a'><skipped/></testcase></testsuite>")
    assert parsed == Parsed(skipped=frozenset({"a"}), ran=0, passed=0, total=1)


def test_names_in_a_namespace_are_read() -> None:
    parsed = parse(b"<x:testsuite xmlns:x='urn:a'><x:testcase name='a'/></x:testsuite>")
    assert parsed == Parsed(frozenset({"a"}), ran=1, passed=1, total=1)


LAUGHS = b"""<?xml version="1.0"?><!-- hm --><!DOCTYPE lolz [<!ENTITY a "lol">
<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]>
<testsuite><testcase name="&c;"/></testsuite>"""
XXE = b'<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]><testsuite><testcase name="&x;"/></testsuite>'
PARAMETER = b'<!DOCTYPE t SYSTEM "http://127.0.0.1:1/x.dtd" [<!ENTITY % p SYSTEM "file:///x"> %p;]><testsuite/>'


@pytest.mark.parametrize("data", [LAUGHS, XXE, PARAMETER, LAUGHS.decode().encode("utf-16")])
def test_a_document_type_is_refused(data: bytes) -> None:
    """E5: billion laughs, external and parameter entities, in any encoding."""
    assert parse(data) == Parsed(broken="report has a document type declaration, which is refused")


def test_deep_nesting_is_refused() -> None:
    """E5."""
    data = b"<testsuite>" * 200_000
    assert parse(data) == Parsed(broken=f"report is nested deeper than {DEPTH} elements")


def test_a_report_over_the_size_cap_is_refused_unread() -> None:
    """E5."""
    assert parse(b"<testsuite>" + b" " * SIZE) == Parsed(broken="report is larger than 20 MiB")


@pytest.mark.slow
def test_a_flood_of_cases_is_refused() -> None:
    """E5."""
    data = b"<testsuite>" + b"<testcase/>" * (CASES + 1)
    assert parse(data) == Parsed(broken=f"report has more than {CASES} cases")


def test_a_torn_report_is_broken() -> None:
    parsed = parse(NEXTEST[: len(NEXTEST) // 2])
    assert parsed is not None
    assert (parsed.broken or "").startswith("report is not well-formed XML")


@pytest.mark.parametrize(
    "data",
    [
        '<?xml version="1.0" encoding="utf-16"?><testsuite><testcase name="ä"/></testsuite>'.encode(),
        '<?xml version="1.0" encoding="latin-1"?><testsuite><testcase name="ä"/></testsuite>'.encode("latin-1"),
        '<?xml version="1.0" encoding="no-such-thing"?><testsuite><testcase name="ä"/></testsuite>'.encode(),
        '<?xml version="1.0" encoding="zip"?><testsuite><testcase name="ä"/></testsuite>'.encode(),
        "\ufeff<testsuite><testcase name='ä'/></testsuite>".encode(),
        "<testsuite><testcase name='ä'/></testsuite>".encode("utf-16"),
        "<testsuite><testcase name='\x1bä&#27;&#x0;'/></testsuite>".encode(),
    ],
)
def test_a_wrong_encoding_or_a_forbidden_character_is_tolerated(data: bytes) -> None:
    """E5."""
    assert parse(data) == Parsed(frozenset({"ä"}), ran=1, passed=1, total=1)


@pytest.mark.parametrize("data", [b"", b"hello", b"<html></html>", b"{}", b"<testsuiteish/>"])
def test_what_is_no_junit_is_not_taken_for_it(data: bytes) -> None:
    assert parse(data) is None
