"""What the README lists is what the code does."""

from __future__ import annotations

import re

from ralph.cli.app import COMMANDS
from tests.readme_tables import README, TABLES, filled

TEXT = README.read_text(encoding="utf-8")


def test_the_tables_are_those_of_the_code() -> None:
    assert filled(TEXT) == TEXT, "run: python -m tests.readme_tables"


def test_every_table_has_its_place() -> None:
    for name in TABLES:
        assert f"<!-- table: {name} -->" in TEXT


def test_every_command_the_readme_names_exists() -> None:
    named = set(re.findall(r"`ralph ([a-z]+)", TEXT))
    assert named <= set(COMMANDS)
