"""What is checked of the agent before anything is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from ralph.errors import UserError
from ralph.facts.settings import Agent, Settings
from ralph.prompt import Frozen
from ralph.wiring.crew import ARGUMENT_CAP, check_prompt, find_roster

LONG = Frozen(b"x" * (ARGUMENT_CAP + 1), "PROMPT.md")


def installed(folder: Path, name: str) -> dict[str, str]:
    program = folder / name
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return {"PATH": str(folder)}


@pytest.mark.parametrize(("name", "refused"), [("mini", True), ("claude", False)])
def test_a_prompt_that_an_argument_cannot_carry_is_refused_at_start(tmp_path: Path, name: str, refused: bool) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "repo").mkdir()
    settings = Settings(agent=Agent(name=(name,)))
    roster = find_roster(settings, environ=installed(tmp_path / "bin", name), top=tmp_path / "repo")
    check_prompt(roster, Frozen(b"short", "PROMPT.md"))
    if refused:
        with pytest.raises(UserError, match="takes the prompt as an argument"):
            check_prompt(roster, LONG)
    else:
        check_prompt(roster, LONG)
