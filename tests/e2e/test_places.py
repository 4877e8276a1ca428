"""Where a run can take place, and that it leaves the place as it was."""

from __future__ import annotations

import hashlib
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.site import Site, cases

pytestmark = pytest.mark.slow

WORK = ["append:target.txt", "say:x"]


def fingerprint(top: Path) -> dict[str, tuple[int, int, str]]:
    """Return mode, modification time and content of everything below a folder, access times left out."""
    found = {}
    for path in sorted(top.rglob("*")):
        info = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(info.st_mode) else ""
        found[str(path.relative_to(top))] = (info.st_mode, info.st_mtime_ns, content)
    return found


def test_a_run_that_does_nothing_leaves_every_byte_as_it_was(site: Site) -> None:
    """Promise 4, R085, R044: a dirty tree, staged and untracked files; .git identical to the last byte."""
    site.write("staged.txt", "staged\n")
    site.git("add", "staged.txt")
    site.write("target.txt", "modified\n")
    site.write("untracked.txt", "untracked\n")
    site.git("status")  # the user's own git writes the index now, not between the two looks
    status, before = site.git("status", "--porcelain=v2"), fingerprint(site.repo)
    done = site.run("--test", "true", "--done", "promise", agent="say:nothing to do")
    assert (done.code, done.launches) == (10, 3)
    assert fingerprint(site.repo) == before
    assert site.git("status", "--porcelain=v2") == status
    assert done.summary["iterations"][0]["diff"]["files"] == 0, "dirt of before is no progress (R034)"


def no_commits(site: Site) -> None:
    shutil.rmtree(site.repo / ".git")
    site.git("init", "-q", "-b", "main")


def detached(site: Site) -> None:
    site.git("checkout", "-q", "--detach")


def shallow(site: Site) -> None:
    site.write("more.txt", "more\n")
    site.commit()
    origin = site.repo.rename(site.root / "origin")
    site.git("clone", "-q", "--depth", "1", origin.as_uri(), str(site.repo), cwd=site.root)
    detached(site)


def linked(site: Site) -> None:
    main = site.repo.rename(site.root / "main")
    site.git("worktree", "add", "-q", str(site.repo), "-b", "side", cwd=main)


def plain(site: Site) -> None:
    shutil.rmtree(site.repo / ".git")


def submodule_with_work(site: Site) -> None:
    site.git("init", "-q", "inner")
    site.write("inner/a.txt", "a\n")


PLACES: dict[str, Callable[[Site], None]] = {
    "a repository without commits (R033)": no_commits,
    "a detached HEAD": detached,
    "a shallow, detached clone (R116)": shallow,
    "a linked worktree": linked,
    "a plain folder (R040)": plain,
    "a nested repository": submodule_with_work,
}


@pytest.mark.parametrize("place", cases(PLACES, slow=list(PLACES)[1:4:2]))
def test_progress_is_seen_and_rest_is_rest(site: Site, place: Callable[[Site], None]) -> None:
    place(site)
    idle = ["say:x"]
    steps = [*WORK, "/", "write:new/file.txt=x", "say:x", "/", *idle, "/", *idle, "/", *idle]
    done = site.run(agent=steps)
    assert (done.code, done.launches) == (10, 5), done.err
    assert [i["diff"]["files"] for i in done.summary["iterations"]] == [1, 1, 0, 0, 0]
    back = site.command("restore", "start")
    assert back.returncode == 0, back.stderr
    assert (site.repo / "target.txt").read_text(encoding="utf-8") == "start\n"
    assert not (site.repo / "new").exists()


def test_work_in_a_nested_repository_is_progress(site: Site) -> None:
    """R032: committed there, and uncommitted there; the record names it."""
    site.git("init", "-q", "inner")
    site.git("config", "user.name", "u", cwd=site.repo / "inner")
    site.git("config", "user.email", "u@example.invalid", cwd=site.repo / "inner")
    commit = "shell:cd inner && echo {n} >> a && git add a && git commit -qm {n}"
    done = site.run("-n", "5", agent=[commit, "say:x", "/", "append:inner/b.txt", "say:x"])
    assert (done.code, done.reason) == (20, "iteration-limit"), done.out
    assert all(i["diff"]["files"] >= 1 for i in done.summary["iterations"])


def test_odd_file_names_are_progress_each(site: Site) -> None:
    """R038: a blank, an accent, a newline, a leading dash, quotes, a byte that is no UTF-8."""
    names = ["a b", "é", r"new\nline", "./-dash", '"quoted"', r"\udcff"]
    steps: list[str] = []
    for name in names[:5]:
        steps += [f"append:{name}", "say:x", "/"]
    bad = r"""shell:printf x > "$(printf 'bad\\377')" """
    done = site.run("-n", "6", agent=[*steps, bad, "say:x"])
    assert (done.code, [i["diff"]["files"] for i in done.summary["iterations"]]) == (20, [1] * 6), done.err


@pytest.mark.slow
def test_symlinks_pipes_sockets_and_devices_hang_nothing(site: Site) -> None:
    """C11, C12: a loop, a link to /, a FIFO, an unreadable file, a sparse file of 4 GiB."""
    make = "ln -s loop loop; ln -s / outside; mkfifo pipe; touch secret; chmod 000 secret; truncate -s 4G sparse"
    done = site.run("-n", "3", agent=[f"shell:{make}", "say:x", "/", *WORK])
    assert (done.code, done.outcomes) == (20, ["completed"] * 3), done.err
    assert done.summary["iterations"][1]["diff"]["files"] == 1
    assert sum(f.stat().st_blocks * 512 for f in site.state.rglob("*") if f.is_file()) < 64 << 20


@pytest.mark.slow
def test_a_filter_whose_program_is_missing_hides_nothing(site: Site) -> None:
    """R037: a required clean filter that is not installed."""
    site.git("config", "filter.big.clean", "no-such-program")
    site.git("config", "filter.big.required", "true")
    site.write(".gitattributes", "*.bin filter=big\n")
    site.write("a.bin", "one\n")
    done = site.run(agent=["append:a.bin", "say:x", "/", "say:x"])
    assert (done.code, done.launches) == (10, 4)
    assert done.summary["iterations"][0]["diff"]["files"] == 1


@pytest.mark.slow
def test_hooks_signing_and_identity_of_the_user_are_not_ours_to_use(site: Site) -> None:
    """R086: a hook that sleeps for ever, signing forced on, no identity: ralph makes no commit, so nothing hangs."""
    site.write(".git/hooks/pre-commit", "#!/bin/sh\nsleep 600\n").chmod(0o755)
    site.git("config", "commit.gpgsign", "true")
    site.git("config", "user.useConfigOnly", "true")
    done = site.run("-n", "1", agent=WORK)
    assert done.code == 20
    assert len(site.git("rev-list", "--all").split()) == 1
    assert done.summary["totals"]["elapsed_s"] < 20


@pytest.mark.slow
def test_end_of_line_and_mode_flips_come_back_to_a_known_state(site: Site) -> None:
    """R036: CRLF and LF in turn, the executable bit on and off: a circle, not progress."""
    site.git("config", "core.autocrlf", "true")
    flip = ["shell:printf 'a\\r\\n' > target.txt; chmod +x PROMPT.md", "say:x"]
    flop = ["shell:printf 'a\\n' > target.txt; chmod -x PROMPT.md", "say:x"]
    done = site.run("-n", "9", agent=[*flip, "/", *flop, "/", *flip, "/", *flop, "/", *flip, "/", *flop])
    assert (done.code, done.reason) == (11, "oscillation"), done.out


@pytest.mark.slow
def test_a_change_from_outside_is_credited_to_nobody(site: Site) -> None:
    """R083, R088."""
    live = site.start("--set", 'limits.quick_failure_pauses=["1h"]', "-n", "3", agent=["exit:1", "/", "say:x"])
    site.wait_until(lambda: any(r["type"] == "waiting" for r in site.records()), "a wait")
    site.write("human.txt", "mine\n")
    assert site.command("wake").returncode == 0
    done = live.end()
    (changed,) = done.of("changed_outside")
    assert changed["paths"] == ["human.txt"]
    assert [i["diff"]["files"] for i in done.summary["iterations"]] == [0, 0, 0]
