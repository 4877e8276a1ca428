"""`go test -json` and TAP, on streams written after real ones."""

from __future__ import annotations

import json

from ralph.testreports import gotest, tap
from ralph.testreports.parsed import Parsed


def events(*rows: tuple[str, str, str | None]) -> bytes:
    lines = []
    for action, package, test in rows:
        event = {"Time": "2026-01-01T00:00:00Z", "Action": action, "Package": package, "Elapsed": 0.01}
        lines.append(json.dumps(event | ({"Test": test} if test else {})))
    return "\n".join(lines).encode()


def test_go_events_become_ids_of_package_and_test() -> None:
    data = b"go: downloading x\n" + events(
        ("start", "acme/calc", None),
        ("run", "acme/calc", "TestAdd"),
        ("run", "acme/calc", "TestAdd/zero"),
        ("pass", "acme/calc", "TestAdd/zero"),
        ("pass", "acme/calc", "TestAdd"),
        ("run", "acme/calc", "TestSub"),
        ("fail", "acme/calc", "TestSub"),
        ("skip", "acme/calc", "TestNet"),
        ("fail", "acme/calc", None),
    )
    assert gotest.parse(data) == Parsed(
        frozenset({"acme/calc::TestAdd", "acme/calc::TestAdd/zero"}),
        frozenset({"acme/calc::TestSub"}),
        frozenset({"acme/calc::TestNet"}),
        ran=3,
        passed=2,
        total=4,
    )


def test_a_go_package_that_does_not_compile_fails_under_its_own_name() -> None:
    data = events(("start", "p", None), ("fail", "p", None), ("pass", "q", "T"), ("pass", "q", None))
    assert gotest.parse(data) == Parsed(frozenset({"q::T"}), frozenset({"p"}), ran=1, passed=1, total=1, partial=True)


def test_a_go_test_that_a_panic_cut_off_fails() -> None:
    data = events(("run", "p", "TestA"), ("pass", "p", "TestA"), ("run", "p", "TestB"), ("fail", "p", None))
    assert gotest.parse(data) == Parsed(frozenset({"p::TestA"}), frozenset({"p::TestB"}), ran=2, passed=1, total=2)


def test_go_without_test_files_ran_nothing() -> None:
    """R097."""
    assert gotest.parse(events(("start", "p", None), ("skip", "p", None))) == Parsed(ran=0, passed=0, total=0)


def test_json_that_is_not_of_go_is_not_taken_for_it() -> None:
    assert (
        gotest.parse(b'{"Action":1}\n{"a":[' + b"[" * 9000 + b"\n[1]\n{}\n" + b'{"Action":"x","Package":"p"}') is None
    )


TAP14 = b"""TAP version 14
# Subtest: math
    ok 1 - adds
    not ok 2 - subtracts
      ---
      message: "1 != 2"
      ok 9 - not a point
      ...
    1..2
not ok 1 - math
ok 2 - net # SKIP no network
not ok 3 - later # TODO not yet
ok 4 \\# hash
1..4
"""


def test_tap_points_become_ids_through_their_subtests() -> None:
    assert tap.parse(TAP14) == Parsed(
        frozenset({"math/adds", "# hash"}),
        frozenset({"math", "math/subtracts"}),
        frozenset({"net", "later"}),
        ran=4,
        passed=2,
        total=6,
    )


def test_tap_12_without_version_or_descriptions_is_read() -> None:
    assert tap.parse(b"1..2\nok 1\nnot ok 2\n") == Parsed(
        frozenset({"test 1"}), frozenset({"test 2"}), ran=2, passed=1, total=2
    )


def test_a_plan_that_is_not_kept_fails() -> None:
    assert tap.parse(b"1..3\nok 1 - a\n") == Parsed(
        frozenset({"a"}), frozenset({"plan of 3 tests"}), ran=1, passed=1, total=1, partial=True
    )


def test_bail_out_fails_with_its_reason() -> None:
    assert tap.parse(b"1..3\nok 1 - a\nBail out! no database\n") == Parsed(
        frozenset({"a"}), frozenset({"bail out: no database"}), ran=1, passed=1, total=1, partial=True
    )


def test_a_plan_of_nothing_ran_nothing() -> None:
    """R097."""
    assert tap.parse(b"1..0 # SKIP no tests here\n") == Parsed(ran=0, passed=0, total=0)


def test_prose_with_ok_lines_is_not_tap() -> None:
    assert tap.parse(b"ok  \tacme/calc\t0.3s\nok then\n") is None
