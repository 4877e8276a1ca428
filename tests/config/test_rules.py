"""Rules across keys, tomorrow's run, and the helper child."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pydantic  # noqa: F401 - see tests.config.place
import pytest

from ralph.config.aside import in_child
from ralph.config.files import ConfigFile
from ralph.config.obeyed import ChangedDuring, files_now, refusal
from ralph.config.rules import cost_rule, covers
from ralph.config.sources import load
from ralph.facts.reason import Reason
from ralph.facts.settings import Settings

CAPPED = replace(Settings(), limits=replace(Settings().limits, cost=5_000_000))


def test_a_cost_limit_that_nobody_can_keep_is_refused() -> None:
    """R074: tokens without a price are no dollars."""
    error = cost_rule(CAPPED, reports_cost=False, priced=False)
    assert error is not None
    assert "$5.00" in error.what
    assert "--cost-per-iteration" in error.fix


@pytest.mark.parametrize(("reports_cost", "priced"), [(True, False), (False, True), (True, True)])
def test_a_cost_limit_with_a_measure_is_fine(reports_cost: bool, priced: bool) -> None:
    assert cost_rule(CAPPED, reports_cost=reports_cost, priced=priced) is None


def test_a_figure_for_each_iteration_makes_a_cost_limit_keepable() -> None:
    told = replace(CAPPED, limits=replace(CAPPED.limits, cost_per_iteration=500_000))
    assert cost_rule(told, reports_cost=False, priced=False) is None
    assert cost_rule(Settings(), reports_cost=False, priced=False) is None


COVERED = [
    (("PROMPT.md",), "PROMPT.md", True),
    (("*.md",), "PROMPT.md", True),
    (("*.md",), "docs/PROMPT.md", True),
    (("docs/",), "docs/PROMPT.md", True),
    (("/docs",), "docs/PROMPT.md", True),
    (("**/PROMPT.md",), "a/b/PROMPT.md", True),
    (("**/b/PROMPT.md",), "a/b/PROMPT.md", True),
    (("docs/*.md",), "docs/PROMPT.md", True),
    (("*.md", "!PROMPT.md"), "PROMPT.md", False),
    (("tests/",), "PROMPT.md", False),
    (("/PROMPT.md",), "docs/PROMPT.md", False),
    ((), "PROMPT.md", False),
]


@pytest.mark.parametrize(("patterns", "path", "expected"), COVERED)
def test_a_pattern_covers_a_path(patterns: tuple[str, ...], path: str, expected: bool) -> None:
    assert covers(patterns, path) is expected


OWN = Path("/p/ralph.toml")
AGENT = ChangedDuring(OWN, run="r1", iteration=7, step="agent", sha256="b")


def test_a_file_an_agent_changed_is_not_obeyed_tomorrow() -> None:
    """E1, C2: the injection that raises the limits for the next start."""
    error = refusal([ConfigFile(OWN, "b")], {OWN: "a"}, changes=[AGENT], accepted=False)
    assert error is not None
    assert error.reason is Reason.REFUSED
    assert "ralph.toml in iteration 7 (agent step) of r1" in error.what
    assert "--accept-config" in error.fix


@pytest.mark.parametrize("now", ["c", None])
def test_it_stays_refused_whatever_became_of_the_file(now: str | None) -> None:
    assert refusal([ConfigFile(OWN, now)], {OWN: "a"}, changes=[AGENT], accepted=False) is not None


def test_a_file_an_agent_planted_is_refused() -> None:
    assert refusal([ConfigFile(OWN, "b")], {OWN: None}, changes=[AGENT], accepted=False) is not None


def test_a_file_that_was_put_back_is_fine() -> None:
    assert refusal([ConfigFile(OWN, "a")], {OWN: "a"}, changes=[AGENT], accepted=False) is None


def test_a_file_a_person_changed_is_fine() -> None:
    assert refusal([ConfigFile(OWN, "b")], {OWN: "a"}, changes=[], accepted=False) is None


def test_the_typed_word_accepts_the_change() -> None:
    assert refusal([ConfigFile(OWN, "b")], {OWN: "a"}, changes=[AGENT], accepted=True) is None


def test_files_are_looked_at_whatever_an_agent_left(tmp_path: Path) -> None:
    """C3: no hang and no error after a step; each state has a hash of its own."""
    own, shared = tmp_path / "ralph.toml", tmp_path / "pyproject.toml"
    seen = [files_now(tmp_path, {})]
    for text in ("limits.turns = 5\n", "limits.turns = 6\n", "torn = [\n", "torn = {\n"):
        own.write_text(text)
        seen.append(files_now(tmp_path, {}))
    own.unlink()
    os.mkfifo(own)
    seen.append(files_now(tmp_path, {}))
    assert [file.path for file in seen[0]] == [own, shared]
    assert seen[0][0].sha256 is None
    assert len({files[0].sha256 for files in seen}) == len(seen)


def test_a_dependency_added_to_pyproject_is_no_change_of_ours(tmp_path: Path) -> None:
    shared = tmp_path / "pyproject.toml"
    shared.write_text("[project]\nname = 'x'\n")
    before = files_now(tmp_path, {})
    shared.write_text("[project]\nname = 'x'\ndependencies = ['y']\n")
    assert files_now(tmp_path, {}) == before
    shared.write_text("[tool.ralph]\nlimits.iterations = 'unlimited'\n")
    assert files_now(tmp_path, {}) != before


def test_the_files_looked_at_hash_as_those_obeyed(tmp_path: Path) -> None:
    (tmp_path / "ralph.toml").write_text("limits.turns = 5\n")
    environ = {"HOME": str(tmp_path / "home")}
    obeyed = load(flags={}, environ=environ, top=tmp_path, cwd=tmp_path).files
    assert set(obeyed) <= set(files_now(tmp_path, environ))
    assert {file.path.name for file in obeyed} == {"ralph.toml", "config.toml"}


def test_a_child_returns_what_it_computed() -> None:
    assert in_child(lambda: {"pid": os.getpid()})["pid"] != os.getpid()


def test_a_large_answer_comes_whole() -> None:
    assert len(in_child(lambda: "x" * (1 << 20))) == 1 << 20


def test_a_failing_child_is_a_fault_with_its_last_words() -> None:
    def work() -> None:
        raise KeyError("nothing here")

    with pytest.raises(RuntimeError, match="nothing here"):
        in_child(work)


def test_a_killed_child_is_a_fault() -> None:
    with pytest.raises(RuntimeError, match="status 9"):
        in_child(lambda: os.kill(os.getpid(), 9))


def test_a_child_leaves_no_descriptor_and_no_zombie() -> None:
    before = len(list(Path("/dev/fd").iterdir()))
    for _ in range(3):
        in_child(lambda: None)
    assert len(list(Path("/dev/fd").iterdir())) == before
    with pytest.raises(ChildProcessError):
        os.waitpid(os.getpid(), os.WNOHANG)
