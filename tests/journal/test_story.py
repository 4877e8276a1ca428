"""The fold: every prefix gives a story, numbers only grow, holds are charged, nothing raises."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ralph.facts.finding import Finding, Signal
from ralph.facts.iteration import Spent
from ralph.facts.reason import Reason
from ralph.facts.run import Pause
from ralph.facts.settings import Limits, Settings
from ralph.facts.usage import Charge, Source, Tokens
from ralph.journal import entries
from ralph.journal.entries import Entry
from ralph.journal.log import Log
from ralph.journal.read import Record, read
from ralph.journal.story import Story, fold
from ralph.journal.suites import Counts, keep, load, whole
from tests.journal.examples import NOON, StillClock, iteration, started, stopped, suite


def records(*made: Entry) -> list[Record]:
    return [Record(n, NOON, float(n), kind, fields) for n, (kind, fields) in enumerate(made, 1)]


def opened(number: int, micro: int | None = 500_000) -> Entry:
    return entries.iteration_started(number, hold_micro=micro, prompt_hash="ab", note="")


def ended(number: int, micro: int) -> Entry:
    spent = Spent(Charge(micro, Source.SEEN_LIVE), Tokens(10, 5))
    return entries.agent_ended(number, outcome="completed", exit="exit 0", elapsed_s=3.0, spent=spent)


EVERYTHING: list[Entry] = [
    started(),
    entries.finding_made(0, finding=Finding("git-config", "core.bare changed", ("core.bare",))),
    opened(1),
    entries.signal_raised(1, signal=Signal("identical-call", "nudge", (3, 4, 5))),
    ended(1, 250_000),
    entries.tests_ended(1, suites=(suite("t::a"),)),
    entries.iteration_finished(iteration(1, "t::a")),
    entries.waiting(Pause(60.0, "quota", NOON)),
    entries.changed_outside(2, paths=("b", "a")),
    entries.reloaded("ab" * 32, "cd" * 32),
    opened(2),
    entries.run_resumed(
        settings=Settings(limits=Limits(iterations=9)), origins={"limits.iterations": "--max-iterations"}
    ),
    opened(3),
    entries.iteration_finished(iteration(3, findings=(Finding("tests-vanished", "2 gone", blocks=True),))),
    stopped(),
]


def test_the_whole_run_is_known() -> None:
    story = fold(records(*EVERYTHING))
    assert (story.run, story.sessions, story.skipped, story.next_iteration) == ("20261130-0512-7f3a", 2, 0, 4)
    assert [i.number for i in story.iterations] == [1, 3]
    assert [h.number for h in story.abandoned] == [2]
    assert story.totals.iterations == 3
    assert story.totals.cost_micro == 250_000 + 500_000 + 250_000
    assert story.stop is not None
    assert story.stop.reason is Reason.DONE
    assert story.exit_code == 0
    assert story.prompt_hash == "cd" * 32
    assert story.waited_s == 60.0
    assert [(o.before, o.files, o.paths) for o in story.outside] == [(2, 2, ("a", "b"))]
    assert [f.kind for f in story.findings] == ["git-config", "tests-vanished"]
    limits = story.settings["limits"]
    assert isinstance(limits, dict)
    assert limits["iterations"] == 9


def test_an_iteration_comes_back_equal_but_for_the_ids_of_its_tests() -> None:
    story = fold(records(*EVERYTHING))
    made, back = iteration(1, "t::a"), story.iterations[0]
    assert back.trees == made.trees
    assert back.changes == made.changes
    assert back.spent == made.spent
    assert back.tests is not None
    assert made.tests is not None
    assert back.tests.failing == {"t::a"}
    assert back.tests.passing == frozenset()
    assert story.counts[back.tests.digest] == Counts(3, 1, 0)


def test_the_ids_of_its_tests_come_from_the_store(tmp_path: Path) -> None:
    many = suite(*(f"t::{n}" for n in range(500)))
    keep(tmp_path / "suites", many)
    keep(tmp_path / "suites", many)
    story = fold(records(entries.tests_ended(1, suites=(many,))))
    assert story.skipped == 0
    assert load(tmp_path / "suites", many.digest) == many
    assert whole(tmp_path / "suites", suite("t::1", digest=many.digest)).failing == many.failing
    assert whole(tmp_path / "none", suite("t::1")).failing == {"t::1"}


def test_best_leaves_out_tampered_iterations_and_prefers_the_latest() -> None:
    story = fold(records(*EVERYTHING))
    assert story.best is not None
    assert story.best.number == 1, "iteration 3 is greener, but tests vanished in it"
    again = fold(records(started(), *(entries.iteration_finished(iteration(n)) for n in (1, 2, 3))))
    assert again.best is not None
    assert again.best.number == 3


def test_a_hold_stays_charged_until_it_is_settled() -> None:
    """S1, D7: what a limit is compared with never falls below what may have been spent."""
    story = fold(records(started(), opened(1)))
    assert story.committed_micro == 500_000
    story = fold(records(started(), opened(1), ended(1, 800_000)))
    assert story.committed_micro == 800_000, "seen more than held"
    story = fold(records(started(), opened(1), ended(1, 200_000), entries.iteration_finished(iteration(1))))
    assert (story.held, story.committed_micro) == (None, 250_000)


def test_without_a_cost_limit_a_lost_iteration_makes_the_total_at_least() -> None:
    story = fold(records(started(), opened(1, None), opened(2, None)))
    assert story.totals.at_least
    assert story.totals.cost_micro is None


def test_every_prefix_is_a_story_and_numbers_only_grow() -> None:
    made = records(*EVERYTHING)
    before = fold([])
    for size in range(1, len(made) + 1):
        now = fold(made[:size])
        assert now.totals.iterations >= before.totals.iterations
        assert (now.totals.cost_micro or 0) >= (before.totals.cost_micro or 0)
        assert now.next_iteration >= before.next_iteration
        assert now.up_s >= before.up_s
        before = now


def test_adding_one_by_one_is_the_fold_of_all() -> None:
    made = records(*EVERYTHING)
    story = Story()
    for record in made:
        story.add(record)
    assert story == fold(made)


def test_unknown_records_are_skipped() -> None:
    """S8: a newer minor version may say more."""
    story = fold(records(started(), ("moon_phase", {"x": 1}), opened(1)))
    assert story.skipped == 1
    assert story.next_iteration == 2


JUNK: list[object] = [None, True, -1, 10**400, 1.5, "", "x", [], [None], {}, {"number": 1}, {"digest": []}, [[]], [{}]]


def test_fields_of_any_shape_never_raise() -> None:
    """R092: valid JSON of the wrong shape."""
    dice = random.Random(7)
    for _ in range(1000):
        kind, fields = dice.choice(EVERYTHING)
        bent = {key: dice.choice(JUNK) if dice.random() < 0.3 else value for key, value in fields.items()}
        inner = bent.get("iteration")
        if isinstance(inner, dict):
            bent["iteration"] = {k: dice.choice(JUNK) if dice.random() < 0.1 else v for k, v in inner.items()}
        story = fold(records(started(), (kind, bent), opened(4)))
        assert story.next_iteration >= 5


def test_an_iteration_settled_twice_counts_once() -> None:
    story = fold(records(started(), *[entries.iteration_finished(iteration(1))] * 2))
    assert (len(story.iterations), story.totals.iterations, story.skipped) == (1, 1, 1)


def test_a_live_story_holds_the_newest_only() -> None:
    made = [started()] + [entries.iteration_finished(iteration(n, f"t::{n}")) for n in range(1, 2000)]
    story = fold(records(*made), kept=50)
    assert [i.number for i in story.iterations] == list(range(1950, 2000))
    assert story.totals.iterations == 1999
    assert len(story.counts) < 500
    assert story.best is not None
    assert story.best_tests is not None
    assert story.best_tests.digest in story.counts


def test_a_story_survives_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    live = Story()
    with Log.create(path, clock=StillClock(), tell=live.add) as log:
        for entry in EVERYTHING:
            log.append(*entry)
    back = fold(read(path).records)
    assert back.iterations == live.iterations
    assert back.totals == live.totals
    assert back.conclusion == live.conclusion
    assert back.opening == live.opening


@pytest.mark.slow
def test_ten_thousand_iterations_fold_within_a_second() -> None:
    made = [started()]
    for n in range(1, 10_001):
        made += [opened(n), ended(n, 5), entries.iteration_finished(iteration(n, f"t::{n % 7}"))]
    whole_run = records(*made)
    began = datetime.now(UTC)
    story = fold(whole_run)
    assert story.totals.iterations == 10_000
    assert (datetime.now(UTC) - began).total_seconds() < 5, "the benchmark has the true figure"
