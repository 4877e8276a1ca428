"""`RALPH_…` variables: keys, empty ones, and those that only look like keys."""

from __future__ import annotations

import pytest

from ralph.config.schema import KEYS, Key
from ralph.facts.settings import Check, ChecklistGate, PromiseGate, Settings
from tests.config.place import Place

ENVIRONMENT = [
    ("RALPH_LIMITS__COST", "$5", "limits", "cost", 5_000_000),
    ("RALPH_AGENT__MODEL", "4", "agent", "model", "4"),
    ("RALPH_TREE__IGNORE", '["a", "b"]', "tree", "ignore", ("a", "b")),
    ("RALPH_TREE__IGNORE", "[ab]*", "tree", "ignore", ("[ab]*",)),
    ("RALPH_TEST__COMMAND", "[ -f x ]", "test", "command", ("/bin/sh", "-c", "[ -f x ]")),
    ("RALPH_TEST__COMMAND", '["a"]', "test", "command", ("a",)),
    ("RALPH_PROMPT__NOTES", "off", "prompt", "notes", False),
    ("RALPH_STATE_DIR", "/s", "run", "state_dir", "/s"),
    ("RALPH_RUN__STATE_DIR", "/s", "run", "state_dir", "/s"),
]


@pytest.mark.parametrize(("name", "raw", "table", "field", "value"), ENVIRONMENT)
def test_a_variable_sets_its_key(place: Place, name: str, raw: str, table: str, field: str, value: object) -> None:
    place.environ[name] = raw
    assert getattr(getattr(place.load().settings, table), field) == value


def test_a_variable_names_a_check_and_gates(place: Place) -> None:
    place.environ |= {"RALPH_CHECK__LINT": "ruff check", "RALPH_DONE": '["promise", "checklist=T.md"]'}
    found = place.load().settings
    assert found.checks == (Check("lint", ("/bin/sh", "-c", "ruff check")),)
    assert found.done == (PromiseGate(), ChecklistGate("T.md"))


def test_our_own_variables_are_no_keys(place: Place) -> None:
    """A run inside a run inherits them."""
    place.environ |= {"RALPH_RUN": "20260101-1", "RALPH_SOCKET": "/tmp/x"}
    found = place.load()
    assert (found.settings, found.notes) == (Settings(), ())


@pytest.mark.parametrize("key", [key for key in KEYS if key.is_limit], ids=lambda key: key.path)
@pytest.mark.parametrize("raw", ["", "  "])
def test_an_empty_variable_never_lifts_a_limit(place: Place, key: Key, raw: str) -> None:
    name = key.env
    place.environ[name] = raw
    (error,) = place.errors()
    assert (error.what, error.where) == (f"{name} is set but empty", name)
    assert "unlimited" in error.fix


def test_another_empty_variable_is_said(place: Place) -> None:
    place.environ["RALPH_AGENT__MODEL"] = ""
    found = place.load()
    assert found.settings.agent.model is None
    assert found.notes == ("RALPH_AGENT__MODEL is set but empty: ignored",)


MISNAMED = [
    ("RALPH_LIMITS_COST", "RALPH_LIMITS__COST"),
    ("RALPH_MAX_COST", "RALPH_LIMITS__COST"),
    ("RALPH_LIMIT__COST", "RALPH_LIMITS__COST"),
    ("RALPH_LIMITS__MAX_COST", ""),
    ("RALPH_MAX_ITERATIONS", "RALPH_LIMITS__ITERATIONS"),
    ("RALPH_STOP__NO_PROGRES", "RALPH_STOP__NO_PROGRESS"),
    ("RALPH_CHECK_LINT", ""),
    ("RALPH_X__Y", ""),
]


@pytest.mark.parametrize(("name", "meant"), MISNAMED)
def test_a_variable_that_looks_like_a_key_is_an_error(place: Place, name: str, meant: str) -> None:
    place.environ[name] = "5"
    (error,) = place.errors()
    assert error.where == name
    assert meant in error.fix


def test_a_stranger_variable_is_a_note(place: Place) -> None:
    place.environ["RALPH_LAUREN"] = "5"
    assert place.load().notes == ("RALPH_LAUREN is no variable of ralph's: ignored",)


def test_the_older_name_of_the_state_directory_is_told_as_typed(place: Place) -> None:
    place.environ["RALPH_STATE_DIR"] = "/s"
    assert place.load().origins["run.state_dir"].where == "RALPH_STATE_DIR"
