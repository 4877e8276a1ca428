"""Values to JSON and back: every record of `ralph.facts`, by its hints."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ralph.facts
from ralph.facts.ending import How, NotStarted, Signalled
from ralph.facts.event import Event, Trouble, Troubled
from ralph.facts.iteration import Iteration
from ralph.facts.settings import Env, Gate, PromiseGate, Settings, StopRules
from ralph.facts.tree import Tree
from ralph.journal.codec import Misshapen, dumps, from_json, to_json
from ralph.journal.log import line_of
from ralph.journal.read import Record, opened
from tests.journal.examples import NOON, iteration

MODULES = [importlib.import_module(f"ralph.facts.{m.name}") for m in pkgutil.iter_modules(ralph.facts.__path__)]
RECORDS = sorted(
    {v for m in MODULES for v in vars(m).values() if isinstance(v, type) and is_dataclass(v)},
    key=lambda cls: cls.__qualname__,
)
# A high surrogate before a low one would join to one character in any JSON; file names only ever hold low ones.
TEXT = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\udc80\udcff\0\x1b"), max_size=8)
MOMENTS = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))

SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT,
    int: st.integers(),
    bool: st.booleans(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bytes: st.binary(max_size=8),
    datetime: MOMENTS,
    type(None): st.none(),
    Path: TEXT.map(Path),
}


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Return any value of a hint; defaults are not favoured, as `from_type` would."""
    origin, args = get_origin(hint), get_args(hint)
    if hint in SCALARS:
        return SCALARS[hint]
    if is_dataclass(hint):
        hints = get_type_hints(hint)
        made: Any = hint
        return st.builds(made, **{name: values(each) for name, each in hints.items()})
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(list(hint))
    if origin is Literal:
        return st.sampled_from(args)
    if origin is tuple:
        if args[-1] is Ellipsis:
            return st.lists(values(args[0]), max_size=3).map(tuple)
        return st.tuples(*map(values, args))
    if origin is frozenset:
        return st.frozensets(values(args[0]), max_size=3)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return st.dictionaries(values(args[0]), values(args[1]), max_size=3)
    return st.one_of(*map(values, args))


@pytest.mark.parametrize("cls", RECORDS, ids=lambda cls: cls.__name__)
def test_every_record_comes_back_equal(cls: type) -> None:
    @settings(max_examples=15, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(values(cls))
    def check(value: object) -> None:
        text = dumps(to_json(value))
        assert text.isascii()
        assert from_json(cls, json.loads(text)) == value
        assert dumps(to_json(from_json(cls, json.loads(text)))) == text

    check()


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("cls", [Iteration, Settings, Tree], ids=lambda cls: cls.__name__)
def test_wrong_shapes_raise_one_error(cls: type) -> None:
    good = to_json(iteration(1)) if cls is Iteration else {}

    @settings(max_examples=100, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(sorted(get_type_hints(cls))), JUNK)
    def check(key: str, junk: object) -> None:
        assert isinstance(good, dict)
        try:
            assert isinstance(from_json(cls, {**good, key.rstrip("_"): junk}), cls)
        except Misshapen:
            return

    check()


def test_the_error_names_the_path() -> None:
    data = json.loads(dumps(to_json(iteration(1))))
    data["suites"][0]["failing"] = ["a", 7]
    with pytest.raises(Misshapen, match=r"^\.suites\[0\]\.failing\[1\]: expected text, got int"):
        from_json(Iteration, data)
    data["suites"], data["trees"]["before"] = [], {"id": "x"}
    with pytest.raises(Misshapen, match=r"^\.trees\.before: without state"):
        from_json(Iteration, data)


def test_unknown_keys_are_ignored_and_missing_ones_take_their_default() -> None:
    """S8: journals of older and of newer minor versions."""
    assert from_json(Tree, {"id": "a", "state": "b", "colour": "red"}) == Tree("a", "b")


@pytest.mark.parametrize(
    ("cls", "data"),
    [
        (StopRules, {"no_progress": True}),
        (StopRules, {"no_progress": 3.0}),
        (StopRules, {"tests_stuck": "often"}),
        (Settings, {"prompt": {"reload": 1}}),
        (Settings, {"limits": {"time": float("inf")}}),
        (Settings, {"limits": {"time": 10**400}}),
        (Settings, {"done": [{"kind": "magic"}]}),
        (Settings, {"done": [["kind"]]}),
        (Settings, []),
    ],
)
def test_near_misses_are_refused(cls: type, data: object) -> None:
    with pytest.raises(Misshapen):
        from_json(cls, data)


@pytest.mark.parametrize(
    ("hint", "value", "tagged"),
    [
        (Gate, PromiseGate("T"), {"kind": "promise-gate", "token": "T"}),
        (How, NotStarted(2, "no such file"), {"kind": "not-started", "error": 2, "message": "no such file"}),
        (How, Signalled(9), {"kind": "signalled", "number": 9}),
    ],
)
def test_a_union_carries_the_name_of_its_member(hint: Any, value: object, tagged: object) -> None:
    assert to_json(value, hint) == tagged
    assert from_json(hint, tagged) == value


def test_a_union_whose_member_has_a_kind_is_tagged_by_type() -> None:
    data = to_json(Troubled(Trouble.QUOTA, "limit"), Event)
    assert isinstance(data, dict)
    assert (data["type"], data["kind"]) == ("troubled", "quota")


def test_names_equal_the_keys_of_the_configuration() -> None:
    assert to_json(Env(pass_=("A",))) == {"pass": ["A"], "drop": []}


def test_numbers_without_a_word_in_json_are_refused() -> None:
    @dataclass(frozen=True, slots=True)
    class Odd:
        value: float

    for value in (float("nan"), float("inf")):
        with pytest.raises(Misshapen):
            to_json(Odd(value))
        with pytest.raises(ValueError, match="JSON"):
            dumps({"value": value})


def test_times_are_utc_and_need_a_zone() -> None:
    east = NOON.astimezone(timezone(timedelta(hours=5)))
    assert to_json(east) == "2026-11-30T12:00:00Z"
    assert from_json(datetime, "2026-11-30T17:00:00+05:00") == NOON
    for text in ("2026-11-30T12:00:00", "noon", "", 5, None):
        with pytest.raises(Misshapen):
            from_json(datetime, text)
    with pytest.raises(Misshapen):
        to_json(NOON.replace(tzinfo=None))


def test_key_order_does_not_depend_on_how_a_value_was_made() -> None:
    hint: Any = Mapping[str, int]
    assert dumps(to_json({"b": 1, "a": 2}, hint)) == dumps(to_json({"a": 2, "b": 1}, hint)) == '{"a":2,"b":1}'
    sets: Any = frozenset[str]
    assert to_json(frozenset("cab"), sets) == ["a", "b", "c"]


def test_a_hint_without_a_form_is_a_bug() -> None:
    hint: Any = list[int] | dict[str, int]
    for make in (lambda: to_json([1], hint), lambda: from_json(hint, [1])):
        with pytest.raises(TypeError):
            make()


@settings(max_examples=60, deadline=None, database=None)
@given(st.dictionaries(TEXT.filter(lambda k: k not in ("n", "at", "up_s", "type", "crc")), JUNK, max_size=4))
def test_any_fields_survive_the_line(fields: dict[str, object]) -> None:
    try:
        line = line_of(Record(7, NOON, 1.5, "finding", fields))
    except ValueError:
        assert "nan" in repr(fields) or "inf" in repr(fields)
        return
    assert line.count(b"\n") == 1
    assert opened(line[:-1], 7) == Record(7, NOON, 1.5, "finding", fields)
    assert opened(line[:-1], 8) is None


def test_literals_keep_their_type() -> None:
    hint: Any = Literal[1, "a"]
    assert get_origin(hint) is Literal
    assert get_args(hint) == (1, "a")
    assert from_json(hint, 1) == 1
    with pytest.raises(Misshapen):
        from_json(hint, True)
