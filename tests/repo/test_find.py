"""Where a run is to work: found from any folder inside, refused where it would be a mistake."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ralph.errors import UserError
from ralph.facts.reason import Reason
from ralph.repo.find import Place, locate
from ralph.repo.git import Git, find_git
from ralph.repo.ignoring import Patterns
from tests.repo.trees import git, repository, write


@pytest.fixture
def program() -> Git:
    return find_git()


def found(start: Path, program: Git, *, no_git: bool = False) -> Place:
    return locate(start, program, no_git=no_git)


def refused(start: Path, program: Git) -> UserError:
    with pytest.raises(UserError) as caught:
        locate(start, program, no_git=False)
    assert caught.value.reason is Reason.REFUSED
    return caught.value


def test_a_repository_is_found_from_below_and_through_a_link(tmp_path: Path, program: Git) -> None:
    top = repository(tmp_path / "repo", {"d/e/f": "1"})
    (tmp_path / "link").symlink_to(top / "d")
    place = found(tmp_path / "link", program)
    status = top.stat()
    assert (place.top, place.git_dir, place.common_dir, place.linked) == (top, top / ".git", top / ".git", False)
    assert place.top_is == (status.st_dev, status.st_ino)
    assert place.index == top / ".git/index"


def test_fresh_detached_and_shallow_repositories_are_repositories(tmp_path: Path, program: Git) -> None:
    fresh = repository(tmp_path / "fresh")
    full = repository(tmp_path / "full", {"f": "1"})
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{full}", "shallow")
    git(full, "checkout", "-q", "--detach")
    for top in (fresh, full, tmp_path / "shallow"):
        assert found(top, program).git_dir == top / ".git"


def test_a_linked_work_tree_and_a_submodule_have_their_own_git_directories(tmp_path: Path, program: Git) -> None:
    top = repository(tmp_path / "repo", {"f": "1"})
    git(top, "worktree", "add", "-q", str(tmp_path / "linked"))
    place = found(tmp_path / "linked", program)
    assert (place.git_dir, place.common_dir, place.linked) == (top / ".git/worktrees/linked", top / ".git", True)
    git(top, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repository(tmp_path / "l", {"f": ""})))
    place = found(top / "l", program)
    assert (place.top, place.git_dir, place.linked) == (top / "l", top / ".git/modules/l", False)


def test_a_plain_folder_is_its_own(tmp_path: Path, program: Git) -> None:
    """R040"""
    place = found(tmp_path, program)
    assert (place.top, place.git_dir, place.common_dir, place.git_is) == (tmp_path, None, None, None)


def test_no_git_takes_the_folder_as_it_is(tmp_path: Path, program: Git) -> None:
    top = repository(tmp_path / "repo", {"d/f": "1"})
    assert found(top / "d", program, no_git=True).top == top / "d"
    assert found(Path(os.environ["HOME"]), program, no_git=True).git_dir is None


def test_the_root_and_a_home_directory_are_refused(program: Git) -> None:
    """R040: with the way out."""
    assert "--no-git" in refused(Path("/"), program).fix
    assert refused(Path(os.environ["HOME"]), program).what.startswith("refusing to work on a home directory")


def test_a_bare_repository_is_refused_from_anywhere_inside(tmp_path: Path, program: Git) -> None:
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    refused(tmp_path / "bare.git", program)
    refused(tmp_path / "bare.git/refs", program)
    refused(repository(tmp_path / "repo") / ".git/info", program)


def test_a_git_file_that_leads_nowhere_is_refused(tmp_path: Path, program: Git) -> None:
    (tmp_path / ".git").write_text("gitdir: /nowhere\n")
    assert refused(tmp_path, program).what == f"{tmp_path}/.git leads to no git directory"


def test_a_pipe_named_git_hangs_nothing(tmp_path: Path, program: Git) -> None:
    """C3"""
    os.mkfifo(tmp_path / ".git")
    refused(tmp_path, program)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path, program: Git) -> None:
    refused(tmp_path / "missing", program)


@pytest.mark.slow
def test_a_huge_plain_folder_is_refused_and_a_huge_built_in_one_is_not(tmp_path: Path, program: Git) -> None:
    """R039, R040"""
    (tmp_path / "node_modules").mkdir()
    for n in range(200_001):
        (tmp_path / "node_modules" / str(n)).touch()
    assert found(tmp_path, program).git_dir is None
    (tmp_path / "node_modules").rename(tmp_path / "data")
    refused(tmp_path, program)


PATTERNS = [
    "*.log",
    "/top",
    "dir/",
    "a/b",
    "a/**/z",
    "**/q",
    "w/**",
    "*.l?g",
    "x[ab]y",
    "x[!ab]y",
    "\\!lit",
    "!keep.log",
    "#no",
]
PATHS = [
    "x.log", "d/x.log", "keep.log", "top", "d/top", "dir/f", "d/dir/f", "dir", "a/b", "d/a/b", "a/z", "a/m/n/z",
    "q", "d/q/f", "w/f", "w", "x.lag", "xay", "xcy", "!lit", "no", "#no", "dirx", "a/bc",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_match_as_git_matches(tmp_path: Path, pattern: str) -> None:
    """Against `git check-ignore`, with `*.log` first so that a negation has something to take back."""
    top = repository(tmp_path / "repo")
    write(top, {".gitignore": f"*.log\n{pattern}\n"})
    told = git(top, "check-ignore", "--no-index", "-z", "--stdin", stdin="\0".join(PATHS).encode(), check=False)
    ours = Patterns(["*.log", pattern])
    assert {path for path in PATHS if ours.match(path.encode())} == {p.decode() for p in told.split(b"\0") if p}


def test_a_set_that_makes_no_sense_is_taken_as_typed() -> None:
    assert Patterns(["[z-a]"]).match(b"d/[z-a]")
    assert not Patterns(["[z-a]", ""]).match(b"z")
