"""All states a run has had, and who had them first. Two small entries a state, so ten thousand cost about 2 MB."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from ralph.facts.suite import Suite, Verdict
from ralph.facts.tree import Tree


def digest(text: str) -> bytes:
    """Return 12 bytes that stand for a text; surrogates from file names are taken as they are."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).digest()


def failing_digest(suites: Iterable[Suite]) -> bytes | None:
    """Return what stands for the set of failing ids of these suites; None where it is not known.

    It is not known where nothing ran, nor where a suite is flaky: then the tree alone is the state. A suite that is
    not green and names no test fails under the name of its verdict.
    """
    found = tuple(suites)
    if not found or any(suite.verdict is Verdict.FLAKY for suite in found):
        return None
    ids: list[str] = []
    for suite in found:
        if suite.failing:
            ids += (f"{suite.name}\0{test}" for test in suite.failing)
        elif suite.verdict is not Verdict.GREEN:
            ids.append(f"{suite.name}\0({suite.verdict.value})")
    return digest("\1".join(sorted(ids)))


class SeenStates:
    """A map from state to the number of the iteration that had it first.

    A state is (tree, failing set). A tree that nobody tested (seen between iterations, or left by a test step) has no
    failing set yet and takes the first one it is met with. A partial tree is never remembered: it equals no other.
    """

    def __init__(self) -> None:
        self._trees: dict[bytes, int] = {}
        self._states: dict[bytes, int] = {}
        self._untested: set[bytes] = set()
        self._near = ("", b"")

    def place(self, state: str) -> bytes:
        """Return what stands for a tree's state; the same one is asked for several times in a row."""
        if state != self._near[0]:
            self._near = state, digest(state)
        return self._near[1]

    def __len__(self) -> int:
        return len(self._states) + len(self._untested)

    def first(self, tree: Tree, failing: bytes | None) -> int | None:
        """Return who had this state first, None where it is new. failing None: unknown, so the tree alone decides."""
        if tree.partial:
            return None
        place = self.place(tree.state)
        if failing is None or place in self._untested:
            return self._trees.get(place)
        return self._states.get(place + failing)

    def note(self, tree: Tree, failing: bytes | None, *, number: int) -> None:
        """Remember that iteration `number` had this state, unless it was known."""
        if tree.partial:
            return
        place = self.place(tree.state)
        if failing is None and place in self._trees:
            return
        fresh = place not in self._trees
        first = self._trees.setdefault(place, number)
        if failing is None:
            if fresh:
                self._untested.add(place)
        elif place in self._untested:
            self._untested.discard(place)
            self._states[place + failing] = first
        else:
            self._states.setdefault(place + failing, number)
