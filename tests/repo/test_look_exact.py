"""The fingerprint changes exactly when the content does, whatever an agent does to files, rules and the index."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ralph.repo.look import DEFAULT, Pace
from tests.repo.trees import EAGER, bytes_of_git, content_hash, git, opened, raw_tree, repository

NAMES = [
    b"a",
    b"d",
    b"d/x",
    b"d/y.log",
    b"d/sub/z",
    b"an \xc3\xa9",
    b"-dash",
    b'new\nline\t"q"',
    b"\xff\xfe",
    b"keep.log",
    b"n/inner/f",
    b"n/g.log",
]
CONTENTS = [b"", b"one\n", b"two\n", b"one\r\ntwo\r\n", b"$Id$\n", b"\0bin", b"# salt\n" * 40]
RULES = {
    b".gitignore": [b"*.log\n", b"*.log\n!keep.log\n", b"d/\n", b"", b"/n\n", b"*\n"],
    b".gitattributes": [b"* text eol=crlf\n", b"* filter=trap ident\n", b"*.log -text\n", b"* text=auto\n", b""],
    b"d/.gitignore": [b"*\n", b"x\n", b"!y.log\n"],
    b"n/.gitignore": [b"*.log\n", b"inner/\n"],
}

Act = Callable[[Path], None]


@dataclass(frozen=True)
class Step:
    """One thing an agent does, with a name that reads well in a falsifying example."""

    told: str
    do: Act

    def __repr__(self) -> str:
        return self.told


def _clear(place: Path) -> None:
    if place.is_symlink() or place.is_file():
        place.unlink()
    elif place.is_dir():
        shutil.rmtree(place)


def put(name: bytes, data: bytes) -> Step:
    def act(top: Path) -> None:
        place = top / os.fsdecode(name)
        for above in [*reversed(place.relative_to(top).parents)][1:]:
            if (top / above).is_symlink() or (top / above).is_file():
                (top / above).unlink()
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        elif place.is_symlink():
            place.unlink()
        place.write_bytes(data)

    return Step(f"put({name!r}, {data!r})", act)


def link(name: bytes, target: str) -> Step:
    def act(top: Path) -> None:
        put(name, b"").do(top)
        place = top / os.fsdecode(name)
        place.unlink()
        place.symlink_to(target)

    return Step(f"link({name!r}, {target!r})", act)


def drop(name: bytes) -> Step:
    return Step(f"drop({name!r})", lambda top: _clear(top / os.fsdecode(name)))


def flip(name: bytes) -> Step:
    def act(top: Path) -> None:
        place = top / os.fsdecode(name)
        if place.is_file() and not place.is_symlink():
            place.chmod(place.stat().st_mode ^ 0o111)

    return Step(f"flip({name!r})", act)


def run(*args: str, where: str = ".") -> Step:
    def act(top: Path) -> None:
        if (top / where).is_dir() and (where == "." or (top / where / ".git").exists()):
            git(top / where, *args, check=False)

    return Step(f"run{args} in {where}", act)


def nest(where: str) -> Step:
    def act(top: Path) -> None:
        if not (top / where).is_symlink() and (top / where).is_dir():
            git(top / where, "init", "-q")

    return Step(f"nest({where})", act)


def unnest(where: str) -> Step:
    return Step(f"unnest({where})", lambda top: _clear(top / where / ".git"))


files = st.sampled_from(NAMES)
rules = st.one_of([st.builds(put, st.just(name), st.sampled_from(texts)) for name, texts in RULES.items()])
steps = st.one_of(
    st.builds(put, files, st.sampled_from(CONTENTS)),
    st.builds(put, files, st.sampled_from(CONTENTS)),
    st.builds(drop, files),
    st.builds(flip, files),
    st.builds(link, files, st.sampled_from(["a", "../outside", "d"])),
    rules,
    st.sampled_from(
        [
            run("add", "-A"),
            run("add", "-A", "-f"),
            run("commit", "-q", "-m", "x", "--allow-empty"),
            run("rm", "-r", "-q", "--cached", "."),
            run("stash", "-q"),
            run("reset", "-q", "--hard"),
            run("add", "-A", "-f", where="n"),
            run("commit", "-q", "-m", "x", where="n"),
            nest("n"),
            nest("d/sub"),
            nest("n/inner"),
            unnest("n"),
        ]
    ),
)


def oracle(top: Path) -> set[bytes]:
    """Return the names that belong to the tree, as the user's own git sees them, nested repositories included."""
    told = git(top, "-c", "core.excludesFile=", "ls-files", "-z", "-c", "-o", "--exclude-standard").split(b"\0")
    found: set[bytes] = set()
    for name in told:
        place = top / os.fsdecode(name)
        if name.endswith(b"/"):
            found |= {name + below for below in oracle(place)}
        elif name and (place.is_symlink() or place.is_file()) and _reached(top, name):
            found.add(name)
    return found


def _reached(top: Path, name: bytes) -> bool:
    return not any((top / above).is_symlink() for above in Path(os.fsdecode(name)).parents)


def _play(acts: list[Step], pace: Pace) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        top = repository(Path(scratch, "repo"), {"a": "one\n", "d/x": "two\n", "keep.log": "kept\n", "d/y.log": "k\n"})
        world = opened(top, Path(scratch, "state"), pace=pace)
        known: dict[str, str] = {}
        for n, act in enumerate([Step("nothing", lambda top: None), *acts]):
            act.do(top)
            before = bytes_of_git(top)
            names = oracle(top)
            tree = world.tree.look()
            assert tree.partial == ()
            assert known.setdefault(content_hash(top, names), tree.id) == tree.id, f"same content, other id after {act}"
            assert len(set(known.values())) == len(known), f"other content, same id after {act}"
            assert tree.files == len(names)
            world.tree.save(tree, str(n))
            assert bytes_of_git(top).keys() >= before.keys()
        assert tree.id == raw_tree(top, Path(scratch, "raw"), names)
        kept = world.store.entries(tree.id)
        assert set(kept) == names
        for name, (mode, oid) in kept.items():
            place = top / os.fsdecode(name)
            data = os.fsencode(place.readlink()) if mode == b"120000" else place.read_bytes()
            assert world.store.read_blob(oid) == data


LESS = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
MORE = settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@given(st.lists(steps, max_size=10))
@LESS
def test_the_id_changes_exactly_when_the_content_does(acts: list[Step]) -> None:
    """C10, C11, R030, R031, R032, R036, R037, R038: and equals `git write-tree` of the raw bytes."""
    _play(acts, DEFAULT)


@given(st.lists(steps, max_size=10))
@LESS
def test_the_id_changes_exactly_when_the_content_does_compared_by_an_index(acts: list[Step]) -> None:
    _play(acts, EAGER)


@pytest.mark.slow
@given(st.lists(steps, max_size=14), st.sampled_from([DEFAULT, EAGER]))
@MORE
def test_the_id_changes_exactly_when_the_content_does_at_length(acts: list[Step], pace: Pace) -> None:
    _play(acts, pace)
