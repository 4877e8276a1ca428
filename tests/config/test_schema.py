"""One declaration a key: it covers the settings, and flags, variables, schema and table follow from it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from decimal import Decimal
from typing import Any, get_args, get_type_hints

import pytest

from ralph.config.describe import options_table, plain, shown
from ralph.config.kinds import Choice
from ralph.config.model import json_schema, judge
from ralph.config.schema import FAMILIES, KEYS, attribute, find
from ralph.config.sources import assembled
from ralph.facts import settings as facts
from ralph.facts.settings import Settings


def test_every_field_of_the_settings_has_a_key() -> None:
    tables = [f for f in fields(Settings) if f.name not in ("checks", "done")]
    expected = {f"{t.name}.{f.name.rstrip('_')}" for t in tables for f in fields(getattr(Settings(), t.name))}
    assert {key.path for key in KEYS} == (expected | {"done"}) - {"detect.levels"}  # has a family of keys


def test_closed_lists_are_those_of_the_settings() -> None:
    for key in KEYS:
        if isinstance(key.kind, Choice):
            table = getattr(Settings(), key.section)
            assert key.kind.options == get_args(get_type_hints(type(table))[attribute(key.name)])


def test_names_flags_and_variables_are_given_once() -> None:
    flags = [flag for key in (*KEYS, *FAMILIES) for flag in key.flags]
    assert len(set(flags)) == len(flags)
    assert len({key.env for key in KEYS}) == len(KEYS)


def test_a_check_is_found_by_its_prefix() -> None:
    assert find("check.lint") is FAMILIES[0]
    assert find("limits.nothing") is None


def test_the_table_for_the_readme_has_every_flag_key_and_default() -> None:
    rows = options_table().splitlines()[2:]
    assert len(rows) == len(KEYS) + len(FAMILIES)
    for key, row in zip((*KEYS, *FAMILIES), rows, strict=True):
        assert f"`{key.path}`" in row
        assert all(flag in row for flag in key.flags)
        assert len(re.findall(r"(?<!\\)\|", row)) == 5
    assert "| 8h |" in options_table()
    assert "| 1m, 5m, 30m, 2h |" in options_table()


DEFAULTS = dict(shown(Settings()))


def test_what_is_shown_can_be_typed_again() -> None:
    """The words of `config show` mean the same values when they stand in a file."""
    named = [key for key in KEYS if DEFAULTS[key.path] != "none"]
    words = [DEFAULTS[key.path] for key in named]
    typed = [
        word.split(", ") if isinstance(key.default, tuple) else word for key, word in zip(named, words, strict=True)
    ]
    answers = judge([{key.section: {key.name: word}} for key, word in zip(named, typed, strict=True)])
    for key, answer in zip(named, answers, strict=True):
        assert answer["faults"] == []
        assert answer["values"].keys() == {key.path}
        assert assembled(answer["values"]) == Settings()


def test_plain_values_are_json() -> None:
    changed = Settings(done=(facts.PromiseGate("X"), facts.CommandGate("make", ("/bin/sh", "-c", "make"))))
    values = plain(changed)
    assert values["done"] == ["promise=X", "command=make"]
    assert values["limits.backoff"] == [60.0, 300.0, 1800.0, 7200.0]


SCHEMA = json_schema()


def fits(value: object, schema: Mapping[str, Any]) -> bool:
    """Return whether a value fits the part of JSON Schema that ours is written in; an unknown word fails the test."""
    known = {
        "$schema",
        "title",
        "description",
        "$defs",
        "$ref",
        "anyOf",
        "enum",
        "type",
        "pattern",
        "items",
        "minItems",
    }
    known |= {"maxItems", "minimum", "maximum", "exclusiveMinimum", "properties", "additionalProperties"}
    assert schema.keys() <= known | {"patternProperties", "default"}, schema.keys()
    if "$ref" in schema:
        return fits(value, SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]])
    if "anyOf" in schema:
        return any(fits(value, one) for one in schema["anyOf"])
    if "enum" in schema and value not in schema["enum"]:
        return False
    return TYPES[schema["type"]](value, schema) if "type" in schema else True


def fits_object(value: object, schema: Mapping[str, Any]) -> bool:
    if not isinstance(value, dict):
        return False
    for name, one in value.items():
        patterns = schema.get("patternProperties", {})
        part = schema.get("properties", {}).get(name) or next(
            (s for p, s in patterns.items() if re.search(p, name)), None
        )
        part = part or schema.get("additionalProperties")
        if not part or (part is not True and not fits(one, part)):
            return False
    return True


def fits_number(value: object, schema: Mapping[str, Any]) -> bool:
    return (
        isinstance(value, int | float | Decimal)
        and not isinstance(value, bool)
        and schema.get("minimum", value) <= value <= schema.get("maximum", value)
        and value > schema.get("exclusiveMinimum", value - 1)
    )


def fits_list(value: object, schema: Mapping[str, Any]) -> bool:
    return (
        isinstance(value, list)
        and schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value))
        and all(fits(one, schema["items"]) for one in value)
    )


TYPES: dict[str, Any] = {
    "object": fits_object,
    "array": fits_list,
    "number": fits_number,
    "integer": lambda value, schema: isinstance(value, int) and fits_number(value, schema),
    "string": lambda value, schema: isinstance(value, str) and re.search(schema.get("pattern", ""), value) is not None,
    "boolean": lambda value, schema: isinstance(value, bool),
}

RIGHT: list[dict[str, Any]] = [
    {},
    {"limits": {"iterations": 5, "time": "1h30m", "cost": Decimal("5.5"), "tokens": "unlimited", "until": "07:00"}},
    {"limits": {"backoff": ["1s", "2s"], "iterations": "50", "cost": "$5"}},
    {"stop": {"no_progress": "off", "tests_stuck": "auto", "oscillation": 2}},
    {"done": "promise"},
    {"done": ["promise=X", "checklist=TODO.md", "command=make"]},
    {"test": {"command": "pytest -q", "report": "junit", "allow_changes": []}},
    {"test": {"command": ["pytest"]}, "check": {"lint": "ruff", "a-b_1": ["x"]}},
    {"prompt": {"notes": "off", "reload": "always"}, "run": {"accept": ["blocked"], "strict": True}},
    {"agent": {"name": "claude", "args": ["--x"]}, "env": {"pass": "A*", "drop": ["B"]}},
    {"snapshot": {"max_bytes": "512MB", "also": ".env"}},
]
WRONG: list[dict[str, Any]] = [
    {"limits": {"iterations": 0}},
    {"limits": {"iterations": "08"}},
    {"limits": {"time": 90}},
    {"limits": {"time": "90"}},
    {"limits": {"cost": -1}},
    {"limits": {"cost": "five"}},
    {"limits": {"grace": "off"}},
    {"limits": {"backoff": []}},
    {"limits": {"until": "7:00"}},
    {"limits": {"max_cost": 5}},
    {"limits": []},
    {"stop": {"oscillation": 1}},
    {"done": "promis"},
    {"done": "promise="},
    {"test": {"command": ""}},
    {"test": {"command": []}},
    {"test": {"report": "xml"}},
    {"check": {"a b": "x"}},
    {"check": {"a": 5}},
    {"prompt": {"notes": "maybe"}},
    {"run": {"accept": "bug"}},
    {"snapshot": {"max_bytes": 512}},
    {"tree": {"ignore": [""]}},
    {"nothing": {}},
]


ANSWERS = judge([*RIGHT, *WRONG])


@pytest.mark.parametrize("number", range(len(RIGHT)))
def test_schema_and_judge_both_take_a_right_document(number: int) -> None:
    assert ANSWERS[number]["faults"] == []
    assert fits(RIGHT[number], SCHEMA)
    assert fits({"profile": {"ci": RIGHT[number]}}, SCHEMA)


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_schema_and_judge_both_refuse_a_wrong_document(number: int) -> None:
    assert ANSWERS[len(RIGHT) + number]["faults"] != []
    assert not fits(WRONG[number], SCHEMA)
    assert not fits({"profile": {"ci": WRONG[number]}}, SCHEMA)
