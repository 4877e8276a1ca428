"""A fresh site for each test: a repository with one commit, nothing of this machine's environment."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.site import Site


@pytest.fixture(scope="session")
def first_commit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the repository that every site copies."""
    repo = tmp_path_factory.mktemp("template") / "repo"
    repo.mkdir()
    for name, text in {"PROMPT.md": "Improve it.\n", "target.txt": "start\n", ".gitignore": "*.pyc\n"}.items():
        (repo / name).write_text(text, encoding="utf-8")
    lines = ("init -q -b main --template=", "config user.name u", "config user.email u@example.invalid")
    for line in (*lines, "add -A", "commit -qm first"):  # in the repository: the agent gets no GIT_* of ours
        subprocess.run(["git", *line.split()], cwd=repo, check=True)
    return repo


@pytest.fixture
def site(tmp_path: Path, first_commit: Path) -> Iterator[Site]:
    """Return the ground of one test; whatever it did, no process may be left."""
    made = Site(tmp_path, dict(os.environ))
    shutil.copytree(first_commit, made.repo)
    yield made
    made.close()
    assert made.left_running() == []
