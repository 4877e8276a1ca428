"""What is loaded while an agent runs, and by `ralph --version`: packages that a run does not use are not resident."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ABSENT = ("pydantic", "git", "rich", "genai_prices", "watchfiles")
"""Import names of what stays out of a run's memory (design 4.3); `git` is GitPython."""
PRESENT = ("ralph.loop.supervise", "ralph.process.launch", "ralph.repo.worktree", "click", "msgspec")
"""Proof that the list was taken in the middle of a run."""
RUN = """
import sys
from pathlib import Path
from ralph.process.drain import Drain

def listed(self, ears, *, sides, run=Drain.run):
    with Path({listed!r}).open("a") as file:
        print(*sys.modules, sep="\\n", file=file)
    return run(self, ears, sides=sides)

Drain.run = listed
from ralph.start import main
main()
"""


def python(code: str, *arguments: str, cwd: Path, expected: int = 0) -> str:
    home = {"HOME": str(cwd / "home"), "XDG_STATE_HOME": str(cwd / "state"), "PATH": os.environ["PATH"]}
    argv = [sys.executable, "-P", "-c", code, *arguments]
    done = subprocess.run(argv, cwd=cwd, env=home, capture_output=True, text=True, check=False)
    assert done.returncode == expected, done.stdout + done.stderr
    return done.stdout


def loaded(names: set[str], package: str) -> set[str]:
    return {name for name in names if name == package or name.startswith(f"{package}.")}


def test_no_package_that_a_run_does_not_use_is_resident_while_the_agent_runs(tmp_path: Path) -> None:
    """With tests, a cost limit and a report of the tests: all that a run may use at every iteration."""
    top = tmp_path / "work"
    top.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=top, check=True)
    (top / "PROMPT.md").write_text("Do it.\n", encoding="utf-8")
    suite = '<testsuite name="s"><testcase classname="a" name="b"/></testsuite>'
    test = f"printf '%s' '{suite}' > {{report}}"
    options = ["-n", "1", "--test", test, "--set", "test.report=junit", "--max-cost", "5", "--cost-per-iteration", "1"]
    listed = tmp_path / "modules"
    agent = ["/bin/sh", "-c", "cat >/dev/null; echo done"]
    arguments = ["run", "-C", str(top), *options, "--", *agent]
    python(RUN.format(listed=str(listed)), *arguments, cwd=tmp_path, expected=20)
    names = set(listed.read_text(encoding="utf-8").split())
    assert [name for name in PRESENT if name not in names] == []
    assert {package: found for package in ABSENT if (found := loaded(names, package))} == {}


def test_the_version_is_told_without_click(tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv[1:] = ['--version']; from ralph.start import main; main(); print(*sys.modules, sep='\\n')"
    )
    out = python(code, cwd=tmp_path)
    names = set(out.split())
    assert out.startswith("ralph ")
    ours = loaded(names, "ralph")
    assert ours == {"ralph", "ralph.start"}
    assert not loaded(names, "click") | loaded(names, "msgspec") | loaded(names, "asyncio")


def test_help_is_told_without_the_loop(tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv[1:] = ['--help']\nfrom ralph.start import main\n"
        "try: main()\nexcept SystemExit: print(*sys.modules, sep='\\n')"
    )
    names = set(python(code, cwd=tmp_path).split())
    assert loaded(names, "click")
    assert not loaded(names, "ralph.loop") | loaded(names, "ralph.repo") | loaded(names, "msgspec")
