"""Every mistake at once, each with its place and the way out; contradictions; the judge never breaks."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ralph.config.model import judge
from ralph.config.schema import CHECK, KEYS, SECTIONS
from ralph.facts.settings import PromiseGate
from tests.config.place import Place


def test_every_mistake_of_every_source_comes_at_once(place: Place) -> None:
    place.user("limits.grace = 0\n")
    place.project("""# mine
[limits]
iterations = 0
max_cost = 5
[test]
when = "chnged"
timeout = 30
[tree]
ignore = ["a", 3]
[check]
tests = "x"
[profile.ci]
limits.time = ""
[bogus]
a = 1
""")
    place.environ |= {"RALPH_LIMITS__COST": "", "RALPH_LIMITS__TOKENS": "many"}
    errors = place.errors(
        {"limits.cost": "abc", "check": ("x",), "agent.name": ("cluade",)}, sets=("foo=1", "limits.turns=08", "bad")
    )
    found = {error.where: error for error in errors}
    user = str(place.home / ".config/ralph/config.toml")
    assert found.keys() == {
        f"{user}:1 limits.grace",
        "ralph.toml:3 limits.iterations",
        "ralph.toml:4 limits.max_cost",
        "ralph.toml:6 test.when",
        "ralph.toml:7 test.timeout",
        "ralph.toml:9 tree.ignore[1]",
        "ralph.toml:11 check.tests",
        "ralph.toml:13 profile.ci.limits.time",
        "ralph.toml:14 bogus",
        "RALPH_LIMITS__COST",
        "RALPH_LIMITS__TOKENS",
        "--max-cost",
        "--check",
        "--agent[0]",
        "--set foo",
        "--set limits.turns",
        "--set",
    }
    assert "limits.cost" in found["ralph.toml:4 limits.max_cost"].fix
    assert "changed" in found["ralph.toml:6 test.when"].fix
    assert "claude" in found["--agent[0]"].fix
    assert all(error.what and error.fix for error in errors)


CONTRADICTIONS = [
    ("prompt.notes = 'off'\ndone = 'promise'\n", "ralph.toml:1 prompt.notes", "promise=TOKEN"),
    ("prompt.reload = 'always'\ntree.protect = 'PROMPT.md'\n", "ralph.toml:1 prompt.reload", "ask"),
    ("done = ['promise', 'promise=X']\n", "ralph.toml:1 done", "one"),
    ("done = ['checklist=a', 'checklist=a']\n", "ralph.toml:1 done", "once"),
]


@pytest.mark.parametrize(("text", "where", "fix"), CONTRADICTIONS)
def test_contradicting_keys_are_refused(place: Place, text: str, where: str, fix: str) -> None:
    place.project(text)
    (error,) = place.errors()
    assert error.where == where
    assert fix in error.fix


def test_contradictions_come_with_the_other_mistakes(place: Place) -> None:
    place.project("prompt.notes = 'off'\ndone = 'promise'\nlimits.time = 5\n")
    assert [error.where for error in place.errors()] == ["ralph.toml:3 limits.time", "ralph.toml:1 prompt.notes"]


def test_a_token_makes_do_without_notes(place: Place) -> None:
    place.project("prompt.notes = 'off'\ndone = 'promise=X'\n")
    assert place.load().settings.done == (PromiseGate("X"),)


def test_an_unknown_profile_names_the_nearest(place: Place) -> None:
    place.project("[profile.night]\nlimits.turns = 1\n")
    (error,) = place.errors(profile="nigth")
    assert error.fix == "Did you mean night?"


def test_two_checks_of_one_name_are_refused(place: Place) -> None:
    (error,) = place.errors({"check": ("a=x", "a=y")})
    assert error.what == 'two checks are called "a"'


DOCUMENTS = st.dictionaries(
    st.sampled_from([*SECTIONS, CHECK, "done", "profile", "x"]),
    st.one_of(
        st.integers(),
        st.text(max_size=5),
        st.lists(st.integers(), max_size=2),
        st.dictionaries(
            st.sampled_from([key.name for key in KEYS] + ["[key]", "0", "a b", "tests"]),
            st.recursive(
                st.one_of(st.none(), st.booleans(), st.decimals(), st.datetimes(), st.text(max_size=9), st.just("off")),
                lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner)),
                max_leaves=5,
            ),
            max_size=4,
        ),
    ),
    max_size=5,
)


@settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(documents=st.lists(DOCUMENTS, min_size=10, max_size=40))
def test_no_document_breaks_the_judge(documents: list[dict[str, object]]) -> None:
    """Faults are told or values are there; what is told can be placed. Many at once: building the model is the cost."""
    known = {key.path for key in KEYS}
    for document, answer in zip(documents, judge(documents), strict=True):
        assert all(path in known or path.startswith(f"{CHECK}.") for path in answer["values"])
        assert all(fault["path"] and fault["what"] and fault["fix"] for fault in answer["faults"])
        if not answer["faults"]:
            assert not document.keys() & {"x", "profile"}
