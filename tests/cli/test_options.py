"""The options of `run`: made from the table, judged later, shown in two portions."""

from __future__ import annotations

from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from ralph.cli.options import Chosen, RunCommand, chosen, run_options
from ralph.config.schema import CHECKS, KEYS

ASKED_FOR = """
    -a -m --agent-arg -n --max-time --max-cost --max-tokens --until --iteration-timeout --max-turns
    --cost-per-iteration --test --check --done --no-progress-after --oscillation-after --tests-stuck-after --ignore
    --protect --allow-test-changes --notes --on-quota --worktree --no-git --accept --accept-config
    --accept-findings --strict --summary --json -q -v --color --dry-run -C --state-dir --profile --set
"""
"""Flags of `run` in the design, but for those of rooms that are not built yet."""


@click.command(cls=RunCommand)
@run_options
def run(**parameters: Any) -> Chosen:
    """Loop."""
    return chosen(parameters)


def call(*arguments: str) -> Result:
    return CliRunner().invoke(run, arguments, standalone_mode=False)


def line(*arguments: str) -> Chosen:
    result = call(*arguments)
    if result.exception is not None:
        raise result.exception
    assert isinstance(result.return_value, Chosen)
    return result.return_value


def test_an_empty_line_says_nothing() -> None:
    assert line() == Chosen({})


def test_values_stay_as_typed() -> None:
    flags = line("P.md", "-n", "0", "--max-cost", "", "--max-time", "90", "--notes", "maybe").flags
    typed = {"limits.iterations": "0", "limits.cost": "", "limits.time": "90", "prompt.notes": "maybe"}
    assert flags == {"prompt.file": "P.md", **typed}


def test_repeated_options_gather() -> None:
    flags = line("--check", "a=b", "--check", "c=d", "--done", "promise", "--ignore", "*.log", "--ignore", "x").flags
    assert flags == {"check": ("a=b", "c=d"), "done": ("promise",), "tree.ignore": ("*.log", "x")}


def test_what_follows_two_dashes_is_the_command() -> None:
    found = line("P.md", "--strict", "--", "my-agent", "-n", "5", "--", "--json")
    assert found.flags["agent.command"] == ("my-agent", "-n", "5", "--", "--json")
    assert found.flags["prompt.file"] == "P.md"
    assert found.flags["run.strict"] is True
    assert not found.as_json


def test_two_dashes_without_a_command_are_refused() -> None:
    with pytest.raises(click.UsageError, match="COMMAND"):
        line("P.md", "--")


def test_the_prompt_may_be_stdin() -> None:
    assert line("-").flags == {"prompt.file": "-"}


def test_an_agent_argument_may_look_like_a_flag() -> None:
    assert line("--agent-arg", "--json").flags == {"agent.args": ("--json",)}


def test_the_line_says_how_to_talk() -> None:
    found = line("--json", "-q", "-vv", "-C", "x", "--profile", "ci", "--set", "a=1", "--set", "b=2", "--accept-config")
    assert found == Chosen(
        {}, sets=("a=1", "b=2"), profile="ci", directory="x", as_json=True, quiet=True, verbose=2, accept_config=True
    )


def test_every_flag_of_the_contract_is_there() -> None:
    shown = call("--help-all").stdout
    for flag in ASKED_FOR.split():
        assert f"  {flag}" in shown or f", {flag}" in shown, flag


def test_short_help_shows_a_dozen_and_points_to_the_rest() -> None:
    shown = call("-h").stdout
    assert sum(text.startswith("  -") for text in shown.splitlines()) == 12
    assert "--help-all" in shown
    assert "--oscillation-after" not in shown


def test_long_help_shows_every_flag_of_the_table() -> None:
    shown = call("--help-all").stdout
    for key in (*KEYS, CHECKS):
        for flag in key.flags:
            assert flag in shown


def test_a_bad_choice_names_the_nearest() -> None:
    with pytest.raises(click.BadParameter, match="Did you mean always"):
        line("--color", "alwys")


def test_an_unknown_flag_names_the_nearest() -> None:
    with pytest.raises(click.NoSuchOption) as caught:
        line("--max-iteration", "5")
    assert "--max-iterations" in (caught.value.possibilities or ())


def test_a_second_prompt_is_refused() -> None:
    with pytest.raises(click.UsageError):
        line("A.md", "B.md")
