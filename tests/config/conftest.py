"""The fixture of the tests that load a configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.config.place import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)
