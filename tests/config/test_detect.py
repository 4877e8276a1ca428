"""The keys `detect.*`: tables with names in them, from every source alike."""

from __future__ import annotations

import pytest

from ralph.config.describe import options_table, plain, shown
from ralph.config.layers import nested
from ralph.config.model import json_schema
from ralph.config.schema import LEVELS, find
from ralph.errors import ConfigErrors
from ralph.facts.settings import Detect, Levels, Settings
from ralph.journal.codec import from_json, to_json
from ralph.judge.signals.table import DETECTORS
from tests.config.place import Place

FILE = """
[detect]
polling = ["make wait", "await_*"]
off = "sweep"
identity.read_page = ["session", "page"]

[detect.identical]
nudge = 2
end = "off"

[detect.same-error]
deny = 9
"""
WANTED = Detect(
    polling=("make wait", "await_*"),
    identity={"read_page": ("session", "page")},
    levels={"identical": Levels(nudge=2, end=None), "same-error": Levels(deny=9)},
    off=("sweep",),
)


def test_the_file_sets_polling_identity_levels_and_what_is_off(place: Place) -> None:
    place.project(FILE)
    loaded = place.load()
    assert loaded.settings.detect == WANTED
    assert loaded.origins["detect.identical.end"].where == "ralph.toml:9 detect.identical.end"
    assert loaded.origins["detect.identity"].where == "ralph.toml:5 detect.identity"


def test_the_line_says_the_same(place: Place) -> None:
    sets = (
        'detect.polling=["make wait", "await_*"]',
        "detect.off=sweep",
        'detect.identity.read_page=["session", "page"]',
        "detect.identical.nudge=2",
        "detect.identical.end=off",
        "detect.same-error.deny=9",
    )
    loaded = place.load(sets=sets)
    assert loaded.settings.detect == WANTED
    assert loaded.origins["detect.same-error.deny"].where == "--set detect.same-error.deny"


def test_the_environment_says_the_same(place: Place) -> None:
    place.environ |= {
        "RALPH_DETECT__POLLING": '["make wait", "await_*"]',
        "RALPH_DETECT__OFF": "sweep",
        "RALPH_DETECT__IDENTITY": '{read_page = ["session", "page"]}',
        "RALPH_DETECT__IDENTICAL__NUDGE": "2",
        "RALPH_DETECT__IDENTICAL__END": "off",
        "RALPH_DETECT__SAME_ERROR__DENY": "9",
    }
    assert place.load().settings.detect == WANTED


def test_layers_add_up_name_by_name(place: Place) -> None:
    place.project(FILE)
    sets = ('detect.identity={other = "id"}', "detect.identical.end=12")
    detect = place.load(sets=sets).settings.detect
    assert detect.identity == {"read_page": ("session", "page"), "other": ("id",)}
    assert detect.levels["identical"] == Levels(nudge=2, end=12)


def test_mistakes_name_the_key_and_the_nearest_detector(place: Place) -> None:
    sets = ("detect.identicl.end=3", "detect.drift.end=0", "detect.off=drif", "detect.cycle=3", "detect.cycle.end=3")
    with pytest.raises(ConfigErrors) as caught:
        place.load(sets=sets)
    told = {error.where: f"{error.what} {error.fix}" for error in caught.value.errors}
    assert "Did you mean detect.identical?" in told["--set detect.identicl"]
    assert "above zero" in told["--set detect.drift.end"]
    assert "Did you mean drift?" in told["--set detect.off[0]"]
    assert "is not a table" in told["--set detect.cycle"]


def test_a_dotted_tool_name_is_one_name() -> None:
    document = nested({"detect.identity.container.exec": ["cmd"], "limits.a.b": 1, "done": "promise"})
    assert document == {
        "detect": {"identity": {"container.exec": ["cmd"]}},
        "limits": {"a.b": 1},
        "done": "promise",
    }


def test_a_level_is_found_by_its_last_word() -> None:
    assert [find(f"detect.any.{key.name}") for key in LEVELS] == list(LEVELS)
    assert find("detect.any.thing") is None
    assert find("limits.any.end") is None


def test_what_is_shown_can_be_typed_again(place: Place) -> None:
    settings = Settings(detect=WANTED)
    words = {path: word for path, word in shown(settings) if path.startswith("detect.")}
    assert words["detect.identical.end"] == "off"
    assert "detect.identical.deny" not in words  # not set, and so no line
    typed = [f"{path}={word}" for path, word in words.items() if path != "detect.polling"]
    again = place.load(sets=(*typed, 'detect.polling=["make wait", "await_*"]')).settings.detect
    assert again == WANTED
    assert plain(settings)["detect.identity"] == {"read_page": ["session", "page"]}
    assert plain(settings)["detect.identical.end"] is None


def test_the_record_keeps_them() -> None:
    """A resumed and a replayed run obey what was set."""
    settings = Settings(detect=WANTED)
    assert from_json(Settings, to_json(settings)) == settings


def test_schema_and_table_know_every_detector() -> None:
    assert set(json_schema()["$defs"]["detect"]["properties"]) == {"polling", "identity", "off", *DETECTORS}
    assert "`detect.NAME.nudge` | own |" in options_table()
