"""E11: what we print is no command to a CI job, and B9: foreign lines cannot pose as ours."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.encode.workflow import behind_gutter, continued, harmless, harmless_json
from tests.runner import commands

HOSTILE = [
    "::set-output name=a::b",
    "  \t::add-mask::x",
    "\u00a0::error::x",
    "a\n::stop-commands::t",
    "words ##[set-env name=X]y",
    "##[group]x",
    "##vso[task.setvariable variable=x]y",
    "::::x::y",
    "###[x]",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_e11_no_command_is_left(text: str) -> None:
    assert commands(text), "the runner of the tests takes it for one"
    for shown in (harmless(text), behind_gutter(text), continued("12:00 " + text)):
        assert commands(shown) == []


@pytest.mark.parametrize("text", ["a::b", "std::vector", "## [x]", "tests/a.py::test_b", "│ ::x"])
def test_other_text_stays(text: str) -> None:
    assert harmless(text) == text


PIECES = st.sampled_from(["::", ":", "#", "##[", "[", "vso[", " ", "\t", "\n", "set-env", "]", "\u2003", "│ "])


@given(st.lists(PIECES).map("".join))
def test_e11_any_text_is_harmless_and_stays_so(text: str) -> None:
    shown = harmless(text)
    assert commands(shown) == []
    assert harmless(shown) == shown
    assert all(line.startswith("│ ") for line in behind_gutter(text).split("\n"))


@given(st.recursive(st.text() | st.lists(PIECES).map("".join), lambda inner: st.lists(inner), max_leaves=5))
def test_e11_a_harmless_document_says_the_same(value: object) -> None:
    for ascii_only in (True, False):
        document = harmless_json(json.dumps(value, ensure_ascii=ascii_only))
        assert json.loads(document) == value
        assert commands(document) == []
