"""Where values come from: precedence, profiles, shapes, paths."""

from __future__ import annotations

import pytest

from ralph.config.schema import KEYS
from ralph.config.sources import Origin
from ralph.facts.settings import Check, ChecklistGate, CommandGate, PromiseGate, Settings
from tests.config.place import Place


def test_nothing_said_gives_the_defaults(place: Place) -> None:
    found = place.load()
    assert found.settings == Settings()
    assert found.origins == {key.path: Origin("default") for key in KEYS}
    assert found.notes == ()


SOURCES = ("user file", "pyproject.toml", "ralph.toml", "profile", "environment", "set", "flag")


@pytest.mark.parametrize("highest", range(len(SOURCES)), ids=SOURCES)
def test_the_highest_source_wins(place: Place, highest: int) -> None:
    """Each source says its own number of iterations; those up to `highest` speak."""
    said = SOURCES[: highest + 1]
    profile = "\n[profile.p]\nlimits.iterations = 104\n" if "profile" in said else ""
    place.user("limits.iterations = 101\n")
    if "pyproject.toml" in said:
        place.pyproject("[tool.ralph]\nlimits.iterations = 102\n")
    if "ralph.toml" in said:
        place.project(f"limits.iterations = 103\n{profile}")
    if "environment" in said:
        place.environ["RALPH_LIMITS__ITERATIONS"] = "105"
    found = place.load(
        {"limits.iterations": "107"} if "flag" in said else {},
        sets=("limits.iterations=106",) if "set" in said else (),
        profile="p" if "profile" in said else None,
    )
    assert found.settings.limits.iterations == 101 + highest
    expected = "flag" if SOURCES[highest] == "set" else SOURCES[highest]
    assert found.origins["limits.iterations"].kind == expected


ORIGINS = [
    ("ralph.toml", "ralph.toml:2 limits.time"),
    ("pyproject.toml", "pyproject.toml:2 tool.ralph.limits.time"),
    ("environment", "RALPH_LIMITS__TIME"),
    ("flag", "--max-time"),
]


@pytest.mark.parametrize(("kind", "where"), ORIGINS)
def test_an_origin_names_its_place(place: Place, kind: str, where: str) -> None:
    if kind == "ralph.toml":
        place.project("[limits]\ntime = '1h'\n")
    if kind == "pyproject.toml":
        place.pyproject("[tool.ralph.limits]\ntime = '1h'\n")
    if kind == "environment":
        place.environ["RALPH_LIMITS__TIME"] = "1h"
    found = place.load({"limits.time": "1h"} if kind == "flag" else {})
    assert found.settings.limits.time == 3600
    assert (found.origins["limits.time"].kind, found.origins["limits.time"].where) == (kind, where)


def test_ralph_toml_hides_the_table_of_pyproject_and_says_so(place: Place) -> None:
    place.project("limits.turns = 5\n")
    place.pyproject("[tool.ralph]\nlimits.iterations = 9\nnonsense = 1\n")
    found = place.load()
    assert found.settings.limits.iterations == 50
    assert found.notes == ("[tool.ralph] in pyproject.toml is ignored: ralph.toml is there",)


def test_a_pyproject_without_our_table_is_nothing_to_speak_of(place: Place) -> None:
    place.project("")
    place.pyproject("[project]\nname = 'x'\n")
    assert place.load().notes == ()


def test_a_user_profile_lies_over_the_project_file(place: Place) -> None:
    place.user("[profile.night]\nlimits.time = '10h'\nlimits.turns = 1\n")
    place.project("limits.time = '1h'\n[profile.night]\nlimits.turns = 2\n")
    found = place.load(profile="night").settings.limits
    assert (found.time, found.turns) == (36000, 2)


def test_the_user_file_may_be_a_link(place: Place) -> None:
    target = place.home / "dotfile"
    target.write_text("limits.turns = 5\n")
    (place.home / ".config" / "ralph" / "config.toml").symlink_to(target)
    assert place.load().settings.limits.turns == 5


def test_xdg_config_home_moves_the_user_file(place: Place) -> None:
    other = place.home / "xdg"
    (other / "ralph").mkdir(parents=True)
    (other / "ralph" / "config.toml").write_text("limits.turns = 6\n")
    place.environ["XDG_CONFIG_HOME"] = str(other)
    assert place.load().settings.limits.turns == 6


def test_no_home_is_no_error(place: Place) -> None:
    """R117: cron and containers start without HOME."""
    place.environ.clear()
    assert place.load().settings == Settings()


def test_all_shapes_reach_the_settings(place: Place) -> None:
    place.project("""
done = ["promise=DONE", "checklist=TODO.md", "command=make check"]
test.command = ["pytest", "-q"]
env = {pass = "GITHUB_TOKEN", drop = ["A", "B*"]}
limits.cost = 5.10
limits.until = 07:00:00
run.accept = "iteration-limit"
prompt.notes = false
snapshot.max_bytes = "1MiB"
[check]
lint = "ruff check"
types = ["mypy"]
""")
    found = place.load({"check": ("lint=other", "new=x y"), "agent.name": ("codex,claude",)}).settings
    assert found.done == (
        PromiseGate("DONE"), ChecklistGate("TODO.md"), CommandGate("make check", ("/bin/sh", "-c", "make check")),
    )  # fmt: skip
    assert found.test.command == ("pytest", "-q")
    assert found.env.pass_ == ("GITHUB_TOKEN",)
    assert found.env.drop == ("A", "B*")
    assert (found.limits.cost, found.limits.until) == (5_100_000, "07:00")
    assert found.run.accept == ("iteration-limit",)
    assert found.prompt.notes is False
    assert found.snapshot.max_bytes == 1 << 20
    shell = ("/bin/sh", "-c")
    assert found.checks == (Check("lint", (*shell, "other")), Check("types", ("mypy",)), Check("new", (*shell, "x y")))
    assert found.agent.name == ("codex", "claude")


SETS = [
    ('limits.backoff=["1s","10s"]', "limits", "backoff", (1.0, 10.0)),
    ("limits.cost=5.10", "limits", "cost", 5_100_000),
    ("limits.cost=unlimited", "limits", "cost", None),
    ("stop.no_progress=off", "stop", "no_progress", None),
    ("test.command=pytest -q", "test", "command", ("/bin/sh", "-c", "pytest -q")),
    ('test.command=["pytest","-q"]', "test", "command", ("pytest", "-q")),
    ("test.command=[ -f x ] && make", "test", "command", ("/bin/sh", "-c", "[ -f x ] && make")),
    ("tree.ignore=*.log", "tree", "ignore", ("*.log",)),
    ("run.strict=true", "run", "strict", True),
    ("agent.model=a=b", "agent", "model", "a=b"),
]


@pytest.mark.parametrize(("line", "table", "name", "value"), SETS)
def test_set_takes_toml_or_a_bare_word(place: Place, line: str, table: str, name: str, value: object) -> None:
    found = place.load(sets=(line,)).settings
    assert getattr(getattr(found, table), name) == value


@pytest.mark.parametrize("ci", ["true", "1", "woodpecker"])
def test_ci_does_not_wait_for_a_quota(place: Place, ci: str) -> None:
    place.environ["CI"] = ci
    found = place.load()
    assert found.settings.quota.action == "stop"
    assert found.origins["quota.action"] == Origin("CI", "CI")


@pytest.mark.parametrize("ci", ["", "false", "0"])
def test_no_ci_waits(place: Place, ci: str) -> None:
    place.environ["CI"] = ci
    assert place.load().settings.quota.action == "wait"


def test_ci_changes_only_the_default(place: Place) -> None:
    place.environ["CI"] = "true"
    found = place.load({"quota.action": "wait"})
    assert (found.settings.quota.action, found.origins["quota.action"].kind) == ("wait", "flag")


def test_paths_of_the_line_start_where_the_user_stands(place: Place) -> None:
    """R117: relative paths are resolved against a documented base."""
    below = place.top / "docs"
    below.mkdir()
    typed = {"prompt.file": "P.md", "run.summary": "s.json", "run.state_dir": "../st"}
    found = place.load(typed, cwd=below).settings
    assert found.prompt.file == "docs/P.md"
    assert found.run.summary == str(below / "s.json")
    assert found.run.state_dir == str(place.top / "st")


def test_paths_of_a_file_start_at_the_top(place: Place) -> None:
    below = place.top / "docs"
    below.mkdir()
    place.project("prompt.file = 'P.md'\nrun.summary = 'out/s.json'\n")
    found = place.load(cwd=below).settings
    assert (found.prompt.file, found.run.summary) == ("P.md", str(place.top / "out/s.json"))


def test_a_prompt_outside_the_tree_stays_absolute(place: Place) -> None:
    assert place.load({"prompt.file": "../P.md"}).settings.prompt.file == str(place.top.parent / "P.md")
    assert place.load({"prompt.file": "-"}).settings.prompt.file == "-"
