"""The exact fingerprint of one repository: git names the paths that moved, we read their raw bytes, a tree remembers.

The tree is a function of what lies on disk now: files that no rule ignores, and files that the user's index tracks.
What `status` is compared with (the *base*) is our own cache and never shows in the result.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from pathlib import Path

from ralph.repo.find import common_dir_of, git_dir_of
from ralph.repo.git import Git, Running
from ralph.repo.ignoring import Excludes, capped
from ralph.repo.merkle import Merkle
from ralph.repo.names import Names, present
from ralph.repo.nested import Nested
from ralph.repo.objects import GITLINK
from ralph.repo.private import Listed, Private, Row, parsed
from ralph.repo.reading import NOTHING, SETTLED_COARSE_NS, Seen, is_settled, key_of, see
from ralph.repo.store import Store

WORTH_TRACKING = 32
"""So many settled paths outside the base make a new base worth its price, and 2 % of the base."""
ATTEMPTS = 4
UNCACHED = "untracked cache is disabled"
UNOPENED = "could not open directory"
"""In warnings of git: one that does not matter, and one that means that it did not see everything."""


@dataclass(frozen=True, slots=True)
class Site:
    """One repository to look at. prefix: its path from the run's top, "/"-ended or empty. depth: 0 for the top."""

    top: Path
    git_dir: Path | None
    exclude: bytes
    prefix: bytes = b""
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Pace:
    """When a file counts as settled, and when a new base is worth its price. clock_ns: wall time."""

    clock_ns: Callable[[], int] = time.time_ns
    worth_tracking: int = WORTH_TRACKING


DEFAULT = Pace()


@dataclass(frozen=True, slots=True)
class Means:
    """What every look of a run shares."""

    store: Store
    git: Git
    excludes: Excludes
    pace: Pace = DEFAULT


class Look:
    """One repository and those nested in it. Call `take`, then read `tree` and `troubles`."""

    def __init__(self, site: Site, means: Means) -> None:
        self.site = site
        self.means = means
        self.root = os.fsencode(site.top) + b"/"
        self.tree = Merkle()
        self.unkept: set[bytes] = set()
        """Paths whose content was seen since it was last saved."""
        self.troubles: list[str] = []
        """What could not be read in the newest look: such a tree is partial."""
        place = hashlib.sha256(site.prefix).hexdigest()[:16] if site.prefix else "top"
        self.private = Private(means.store.path / "looks" / place, top=site.top, store=means.store, git=means.git)
        self.private.lay_out(site.exclude)
        self.names = Names(site.git_dir / "index" if site.git_dir else None, self._tracked, means.excludes.patterns)
        self.nested = Nested(self.root, self._open)
        self._base: dict[bytes, bytes] = {}
        self._overlay: dict[bytes, Seen] = {}
        self._absent: frozenset[bytes] = frozenset()
        self._stale: frozenset[bytes] = frozenset()
        self._doubted: Set[bytes] = frozenset()
        self._last: tuple[bytes, Listed] = (b"-", Listed())
        self._begun: Running | None = None

    def begin(self) -> None:
        """Have git list the work tree from now on, for the next `take`, which is to be told the time of this moment."""
        self.drop()
        self._begun = self.private.begin()

    def drop(self) -> None:
        """Take back what was begun."""
        begun, self._begun = self._begun, None
        if begun is not None:
            begun.drop()
            self.private.unlock()

    def take(self, now_ns: int) -> None:
        """Look. now_ns: wall time, read before. Never raises for what the tree holds. Raises: UserError (storage)."""
        self.troubles = []
        if self.names.refresh():
            self._compare_names()
        listed = self._listed(now_ns)
        self.nested.release(listed.nested, self.tree)
        same = self._read(listed, now_ns)
        self.nested.take(listed.nested, now_ns)
        self.nested.mount(self.tree)
        self.troubles += self.nested.troubles
        if same > self._worth() or not self._base:
            self._track(now_ns)

    def everything(self) -> Iterator[Look]:
        """Yield this look and all below it."""
        yield self
        for look in self.nested.looks():
            yield from look.everything()

    def has_moved(self) -> bool:
        """Return whether anything moved since the last look; reads no content, remembers nothing."""
        told = self.private.status()
        if told.out != self._last[0] or any(_differs(self.root + path, seen) for path, seen in self._overlay.items()):
            return True
        return any(look.has_moved() for look in self.nested.looks())

    def _tracked(self) -> frozenset[bytes] | None:
        assert self.site.git_dir is not None
        return self.private.names(self.site.git_dir / "index", self.site.git_dir)

    def _compare_names(self) -> None:
        self._absent = self.names.all - self._base.keys()
        self._stale = frozenset(self._base.keys() - self.names.all)
        self._last = (b"-", Listed())

    def _listed(self, now_ns: int) -> Listed:
        """Return what git names, after mending what would make its answer depend on the past."""
        cached = True
        for _ in range(ATTEMPTS):
            begun, self._begun = self._begun, None
            told = begun.finish() if begun is not None else self.private.status(cached=cached)
            if not told.ok:
                self.troubles = [told.complaint]
                self._forget()
                continue
            complaints = [line for line in told.err.decode("utf-8", "replace").splitlines() if UNCACHED not in line]
            self.troubles = [line for line in complaints if UNOPENED in line]
            # What git could not even stat (below a link that leads to itself) it leaves out: we look ourselves.
            self._doubted = self._base.keys() - set(present(self.root, self._base)) if complaints else frozenset()
            listed = self._last[1] if told.out == self._last[0] else self._filtered(parsed(told.out))
            if self._is_outdated(listed, now_ns):
                continue
            if self.nested.contradicts(listed) and cached:
                cached = False
                continue
            self._last = (told.out, listed)
            return listed
        self.troubles.append("git cannot list the work tree")
        return self._last[1]

    def _filtered(self, listed: Listed) -> Listed:
        patterns = self.means.excludes.patterns
        if not patterns:
            return listed
        prefix = self.site.prefix
        return Listed(
            listed.changed,
            tuple(path for path in listed.untracked if not patterns.match(prefix + path)),
            tuple(path for path in listed.nested if not patterns.match(prefix + path + b"/")),
        )

    def _is_outdated(self, listed: Listed, now_ns: int) -> bool:
        """Make a new base where the old one hides something; return whether it did.

        That is a path the user's index let go (its ignore rules count again), and a nested repository that lies
        over files which the user's index tracks (to git they are files of the outer one).
        """
        changed = set(listed.changed) if self._stale else set()
        gone = bool(self._stale) and bool(present(self.root, self._stale - changed))
        over = [path for folder in listed.nested for path in self.names.below(folder)]
        over = present(self.root, set(over) - self._base.keys())
        for path in over:
            self._overlay[path] = see(self.root + path, now_ns)
            self._put(path, self._overlay[path].content)
        if gone or over:
            self._track(now_ns, unsettled=frozenset(over))
        return gone or bool(over)

    def _read(self, listed: Listed, now_ns: int) -> int:
        """Bring the tree up to date; return how many tracked paths outside the base did not move."""
        before, overlay, same = self._overlay, {}, 0
        root, names = self.root, self.names.all
        for path in self._paths(listed):
            old = before.get(path)
            overlay[path] = seen = see(root + path, now_ns, old)
            if seen is not old:
                self._put(path, seen.content)
            elif (path in names or path in self._base) and _is_trackable(seen, now_ns):
                same += 1
            if seen.trouble:
                self.troubles.append(f"{os.fsdecode(self.site.prefix + path)}: {seen.trouble}")
        for path in before.keys() - overlay.keys():
            self._put(path, self._base.get(path))
        self._overlay = overlay
        return same

    def _paths(self, listed: Listed) -> Iterator[bytes]:
        yield from listed.changed
        yield from listed.untracked
        yield from self._doubted - set(listed.changed)
        if self._absent:
            yield from present(self.root, self._absent.difference(listed.untracked))

    def _put(self, path: bytes, content: bytes | None) -> None:
        if content is None:
            self.tree.remove(path)
        else:
            self.tree.put(path, content)
            self.unkept.add(path)

    def _worth(self) -> int:
        return max(self.means.pace.worth_tracking, len(self._base) // 50)

    def _track(self, now_ns: int, unsettled: frozenset[bytes] = frozenset()) -> None:
        """Make a new base of what the user's index tracks. unsettled: paths to take although they are young.

        A young file stays outside: git's index may know whole seconds only, and would miss its next change.
        """
        rows = []
        for path in self.names.all:
            content = self.tree.get(path)
            if content is None or content[:6] == GITLINK:
                continue
            row = self._row(path, content, now_ns)
            if row.status or path in unsettled:
                rows.append(row)
        if len(rows) < self.means.pace.worth_tracking and not self._base and not unsettled:
            return
        self.private.track(rows)
        self._rebase({row.path: row.content for row in rows})

    def _row(self, path: bytes, content: bytes, now_ns: int) -> Row:
        """Return the row of a file whose content is still what its stat data said when it was read."""
        try:
            status = os.lstat(self.root + path)
        except OSError:
            return Row(path, content, None)
        key, seen = key_of(status), self._overlay.get(path)
        settled = is_settled(key, now_ns, age_ns=SETTLED_COARSE_NS)
        return Row(path, content, status if settled and (seen is None or seen.key == key) else None)

    def _forget(self) -> None:
        """Start from nothing: git could not use what we told it (killed half-way, or a file grew out of bounds)."""
        self.private.forget()
        self._rebase({})

    def _rebase(self, base: dict[bytes, bytes]) -> None:
        """Take a new base. What the old one alone knew of goes to the overlay, to be looked for once more."""
        for path in self._base.keys() - base.keys() - self._overlay.keys():
            self._overlay[path] = Seen(self._base[path])
        self._base = base
        self._overlay = {path: seen for path, seen in self._overlay.items() if path not in base}
        self._compare_names()

    def _open(self, folder: bytes) -> Look | None:
        """Return a look into a nested repository, None where its git directory cannot be found."""
        top = Path(os.fsdecode(self.root + folder))
        try:
            git_dir = git_dir_of(top)
            common = common_dir_of(git_dir) if git_dir else None
        except OSError:
            return None
        if git_dir is None or common is None:
            return None
        exclude = self.means.excludes.everywhere + capped(common / "info" / "exclude")
        prefix = self.site.prefix + folder + b"/"
        return Look(Site(top, git_dir, exclude, prefix, self.site.depth + 1), self.means)


def _is_trackable(seen: Seen, now_ns: int) -> bool:
    if seen.key is None:
        return seen is NOTHING
    mode = seen.content[:6] if seen.content else b""
    return mode != GITLINK and is_settled(seen.key, now_ns, age_ns=SETTLED_COARSE_NS)


def _differs(path: bytes, seen: Seen) -> bool:
    try:
        status = os.lstat(path)
    except OSError:
        return seen is not NOTHING
    if seen is NOTHING:
        return not stat.S_ISDIR(status.st_mode)
    return not seen.trouble and seen.key != key_of(status)
