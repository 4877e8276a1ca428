"""Changes are noticed by the kernel's word, or by looking where the kernel has no watches left (C25)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ralph.watching import Changes, Watching, notified, polled

PATIENCE_S = 30.0
WRITER = "import sys, time\nwhile True:\n    open(sys.argv[1], 'a').write('x')\n    time.sleep(0.05)\n"

EXHAUSTED = """
import os, resource, sys
from pathlib import Path
import watchfiles
from ralph.watching import Watching

folder, said, held = Path(sys.argv[1]), [], []
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
try:
    while True:
        held.append(os.open(os.devnull, os.O_RDONLY))
except OSError:
    pass

def tell(text):
    said.append(text)
    for _ in range(8):
        os.close(held.pop())

watching = Watching(tell=tell)
print(watching.wait(folder, patience_s=30))
print(watching.wait(folder, folder.parent, patience_s=30))
print(len(said), *said)
"""


@contextmanager
def written(file: Path) -> Iterator[None]:
    """Have another process append to a file all the time."""
    with subprocess.Popen([sys.executable, "-I", "-c", WRITER, str(file)]) as writer:
        try:
            yield
        finally:
            writer.kill()


@pytest.mark.parametrize("by", [notified, polled])
def test_a_change_is_noticed_and_quiet_ends_with_the_patience(tmp_path: Path, by: Changes) -> None:
    said: list[str] = []
    watching = Watching(tell=said.append, by=by)
    assert watching.wait(tmp_path, patience_s=0.1) is False
    inner = tmp_path / "inner"
    inner.mkdir()
    with written(inner / "file"):
        assert watching.wait(inner, patience_s=PATIENCE_S) is True
    assert said == []


def test_c25_without_watches_files_are_looked_at_and_that_is_said_once(tmp_path: Path) -> None:
    """The real thing: every descriptor of the process is taken when the watch is asked for."""
    folder = tmp_path / "watched"
    folder.mkdir()
    with written(folder / "file"):
        done = subprocess.run(
            [sys.executable, "-c", EXHAUSTED, str(folder)], capture_output=True, text=True, timeout=60, check=False
        )
    assert done.returncode == 0, done.stderr
    first, second, said = done.stdout.splitlines()
    assert (first, second) == ("True", "True")
    assert said.startswith("1 cannot watch for changes (")
    assert said.endswith("looking every 1 s instead")


def test_c25_a_watch_that_breaks_later_is_no_end_either(tmp_path: Path) -> None:
    def breaking(folders: tuple[Path, ...], patience_s: float) -> Iterator[bool]:
        yield True
        raise RuntimeError("the watcher died")

    said: list[str] = []
    watching = Watching(tell=said.append, by=breaking)
    assert watching.wait(tmp_path, patience_s=0.05) is True
    assert watching.wait(tmp_path, patience_s=0.05) is False
    assert watching.wait(tmp_path / "other", patience_s=0.05) is False
    assert len(said) == 1
    assert "the watcher died" in said[0]
