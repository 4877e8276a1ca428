"""Short ways to write down values for tests: a suite, an iteration, and a whole run as a walk in one word a step.

A word of a walk is `TREE[/TREE_AFTER_TESTS][!failing,ids][=outcome][*]`:
"A" ended in tree A, no suite ran; "B!x,y" the tests x and y fail; "B!" all tests pass; "B/A" the test step took the
tree back to A; "B=quota" ended as a usage limit; "A*" read so much that it is soft. The first word is the start.
All ids named anywhere in a walk are its tests: where they do not fail they pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from ralph.facts.iteration import Iteration, Spent
from ralph.facts.outcome import Outcome
from ralph.facts.run import Moment, Opening, Stop
from ralph.facts.settings import Settings
from ralph.facts.suite import Suite, Verdict
from ralph.facts.tree import Changes, Tree, Trees
from ralph.facts.usage import Charge, Source
from ralph.judge.history import History
from ralph.judge.stops import decide

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
PASSING = ("test_always_green",)
FREE = Spent(Charge(0, Source.REPORTED))
NOON = Moment(up_s=60.0, left_s=3600.0)


def tree(state: str, *, partial: tuple[str, ...] = ()) -> Tree:
    """Return a tree whose id and state are this word."""
    return Tree(id=state, state=state, partial=partial)


def suite(
    failing: Sequence[str] = (),
    passing: Sequence[str] = PASSING,
    *,
    name: str = "tests",
    verdict: Verdict | None = None,
    form: str = "junit",
    reused: bool = False,
) -> Suite:
    """Return a suite; red where something fails, green else, if no verdict is given."""
    told = verdict or (Verdict.RED if failing else Verdict.GREEN)
    return Suite(name, told, frozenset(passing), frozenset(failing), format=form, reused=reused)


def iteration(
    number: int = 1,
    *,
    before: str | Tree = "A",
    agent: str | Tree = "B",
    tests: str | Tree | None = None,
    outcome: Outcome = Outcome.COMPLETED,
    **fields: object,
) -> Iteration:
    """Return an iteration that went from one tree to another; all else by keyword, or a sensible default.

    changes default to one file "file.py" where the agent moved the tree.
    """
    start, left = _tree(before), _tree(agent)
    trees = Trees(start, left, left if tests is None else _tree(tests))
    moved = start.state != left.state
    made = Iteration(
        number=number,
        started_at=START + timedelta(minutes=number),
        trees=trees,
        outcome=outcome,
        elapsed_s=60.0,
        exit="exit 0",
        changes=Changes(1, 1, 0, ("file.py",)) if moved else Changes(),
        spent=FREE,
        printed=100,
    )
    return replace(made, **fields)  # type: ignore[arg-type]  # the names are checked by replace itself


def walk(words: str, **fields: object) -> tuple[Iteration, ...]:
    """Return the iterations of a walk; fields go to every one of them."""
    first, *rest = words.split()
    before, made = _tree(first.partition("!")[0]), []
    tests = _all_ids(words)
    for number, word in enumerate(rest, 1):
        one = _step(word, number=number, before=before, tests=tests)
        made.append(replace(one, **fields))  # type: ignore[arg-type]  # as above
        before = one.trees.tests
    return tuple(made)


def opening(words: str = "A", **fields: object) -> Opening:
    """Return the start of a walk; "A!x" has a baseline in which x fails."""
    state, bang, failing = words.split()[0].partition("!")
    baseline = (_suite(failing, tests=_all_ids(words)),) if bang else ()
    return replace(Opening("run", START, tree(state), baseline), **fields)  # type: ignore[arg-type]  # as above


def history(words: str = "A", settings: Settings | None = None, **fields: object) -> History:
    """Return the history of a walk."""
    past = History(opening(words), settings or Settings())
    for one in walk(words, **fields):
        past.add(one)
    return past


def ending(words: str, settings: Settings | None = None, **fields: object) -> tuple[int, Stop | None]:
    """Walk until a rule stops the run; return the number of the last iteration and the stop, None if it never came."""
    rules = settings or Settings()
    past = History(opening(words), rules)
    for one in walk(words, **fields):
        past.add(one)
        if (stop := decide(past, rules, NOON)) is not None:
            return one.number, stop
    return past.count, None


def _tree(state: str | Tree) -> Tree:
    return tree(state) if isinstance(state, str) else state


def _ids(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _all_ids(words: str) -> frozenset[str]:
    told = [word.rstrip("*").partition("=")[0].partition("!")[2] for word in words.split()]
    return frozenset(name for text in told for name in _ids(text))


def _suite(failing: str, *, tests: frozenset[str]) -> Suite:
    return suite(_ids(failing), (*PASSING, *(tests - set(_ids(failing)))))


def _step(word: str, *, number: int, before: Tree, tests: frozenset[str]) -> Iteration:
    soft = word.endswith("*")
    word, _, outcome = word.rstrip("*").partition("=")
    places, bang, failing = word.partition("!")
    agent, _, after = places.partition("/")
    made = iteration(number, before=before, agent=agent, tests=after or None, new_results=8 if soft else 0)
    suites = (_suite(failing, tests=tests),) if bang else ()
    return replace(made, suites=suites, outcome=Outcome(outcome) if outcome else Outcome.COMPLETED)
