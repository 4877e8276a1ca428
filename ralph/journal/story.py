"""The fold over a journal: everything known of a run, one record at a time, for resume, status, report, summary.

Total: any records in any order give a story; what cannot be understood is counted in `skipped`. Numbers only grow.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast

from ralph.facts.finding import Finding
from ralph.facts.iteration import Iteration, Spent
from ralph.facts.run import Best, Conclusion, Opening, Pause, Stop, Totals
from ralph.facts.suite import Suite, Verdict
from ralph.journal.codec import from_json
from ralph.journal.decoding import decoder
from ralph.journal.read import Record
from ralph.journal.shapes import Misshapen
from ralph.journal.suites import Counts, counts_of
from ralph.journal.sums import Held, Outside, plus

FINDINGS_CAP = 1000
RAN = frozenset({Verdict.GREEN, Verdict.RED, Verdict.FLAKY})

_text = decoder(str)
_whole = decoder(int)
_micro = decoder(int | None)
_texts = decoder(tuple[str, ...])
_iteration = decoder(Iteration)


@dataclass(slots=True)
class Story:
    """What the records so far say. kept: how many of the newest iterations are held, None: all.

    settings, origins, agent, repo, holder: plain JSON as recorded. counts: of suites, by digest. held: open hold.
    abandoned: holds of iterations that a crash cut off, each charged. stops: (up_s, Stop) of every session.
    working: the agent that works now, "" where it never changed. sessions: 1 + resumes.
    up_s, n, at: of the newest record.
    """

    kept: int | None = None
    run: str = ""
    prompt_hash: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)
    origins: Mapping[str, object] = field(default_factory=dict)
    agent: Mapping[str, object] = field(default_factory=dict)
    repo: Mapping[str, object] = field(default_factory=dict)
    holder: Mapping[str, object] = field(default_factory=dict)
    working: str = ""
    isolation: str = "none"
    opening: Opening | None = None
    iterations: deque[Iteration] = field(default_factory=deque)
    counts: dict[str, Counts] = field(default_factory=dict)
    held: Held | None = None
    abandoned: list[Held] = field(default_factory=list)
    totals: Totals = field(default_factory=Totals)
    best: Best | None = None
    best_tests: Suite | None = None
    last: Suite | None = None
    findings: dict[Finding, int] = field(default_factory=dict)
    waits: deque[Pause] = field(default_factory=lambda: deque(maxlen=100))
    waited_s: float = 0.0
    outside: deque[Outside] = field(default_factory=lambda: deque(maxlen=100))
    reloads: list[tuple[str, str]] = field(default_factory=list)
    sessions: int = 0
    conclusion: Conclusion | None = None
    exit_code: int | None = None
    up_s: float = 0.0
    n: int = 0
    at: datetime | None = None
    skipped: int = 0
    _highest: int = 0
    _settled: int = 0
    _mark: tuple[int, int] | None = None

    @property
    def _pinned(self) -> set[str]:
        return {suite.digest for suite in (self.best_tests, self.opening.tests if self.opening else None) if suite}

    @property
    def stop(self) -> Stop | None:
        """Return how the run ended; None while it runs, or where it was cut off."""
        return self.conclusion.stop if self.conclusion else None

    @property
    def next_iteration(self) -> int:
        """Return the number of the next iteration: no number is ever used twice."""
        return self._highest + 1

    @property
    def committed_micro(self) -> int:
        """Return the money gone or held, in micro-dollars: what a limit must be compared with."""
        held = self.held.charge.micro if self.held else None
        return (self.totals.cost_micro or 0) + (held or 0)

    def add(self, record: Record) -> None:
        """Take one record; costs the same at any length. Never raises."""
        self.n, self.at = max(self.n, record.n), record.at
        self.up_s = max(self.up_s, record.up_s)
        take = TAKE.get(record.kind)
        try:
            if take is None:
                self.skipped += 1
            else:
                take(self, record)
        except (Misshapen, KeyError, TypeError):
            self.skipped += 1


def fold(records: Iterable[Record], *, kept: int | None = None) -> Story:
    """Return the story of these records. Never raises, on any prefix."""
    story = Story(kept=kept, iterations=deque(maxlen=kept))
    for record in records:
        story.add(record)
    return story


def _object(fields: Mapping[str, object], key: str) -> Mapping[str, object]:
    data = fields.get(key, {})
    if not isinstance(data, dict):
        raise Misshapen("expected an object", f".{key}")
    return cast(Mapping[str, object], data)


def _count(story: Story, suites: object) -> None:
    """Note the counts of suites in a record; the newest stay when not all iterations do."""
    for data in suites if isinstance(suites, list) else ():
        counts, digest = from_json(Counts, data.get("counts", {})), data.get("digest")
        if isinstance(digest, str) and digest:
            story.counts.pop(digest, None)
            story.counts[digest] = counts
    while story.kept is not None and len(story.counts) > 8 * story.kept + 16:
        digest = next(iter(story.counts))
        counts = story.counts.pop(digest)
        if digest in story._pinned:
            story.counts[digest] = counts


def _started(story: Story, record: Record) -> None:
    fields = record.fields
    opening = from_json(Opening, fields["opening"])
    story.settings, story.origins = _object(fields, "settings"), _object(fields, "origins")
    story.agent, story.repo, story.holder = (_object(fields, key) for key in ("agent", "repo", "holder"))
    story.run, story.prompt_hash = _text(fields["run"]), _text(fields["prompt_hash"])
    story.isolation = _text(fields.get("isolation", "none"))
    story.opening, story.sessions = opening, max(1, story.sessions)
    _count(story, _object(fields, "opening").get("baseline"))
    if opening.tests:
        _improve(story, 0, opening.tests)


def _resumed(story: Story, record: Record) -> None:
    settings, origins = _object(record.fields, "settings"), _object(record.fields, "origins")
    story.holder = _object(record.fields, "holder")
    story.settings, story.origins = settings or story.settings, origins or story.origins
    story.prompt_hash = _text(record.fields.get("prompt_hash", "")) or story.prompt_hash
    story.sessions, story.working = story.sessions + 1, ""
    story.conclusion = story.exit_code = None
    _abandon(story)


def _abandon(story: Story) -> None:
    """Charge a hold that nobody will settle any more."""
    if story.held is not None:
        story.abandoned.append(story.held)
        spent = story.held.spent or Spent()
        charged = Spent(story.held.charge, spent.tokens, spent.turns)
        story.totals = plus(story.totals, charged, elapsed_s=0.0)
        story.held = None


def _iteration_started(story: Story, record: Record) -> None:
    number, micro = _whole(record.fields["iteration"]), _micro(record.fields.get("hold_micro"))
    prompt_hash = _text(record.fields.get("prompt_hash", ""))
    _abandon(story)
    story.held = Held(number, None if micro is None else max(0, micro), prompt_hash, record.at)
    story._highest = max(story._highest, number)


def _agent_ended(story: Story, record: Record) -> None:
    held, told = story.held, record.fields["spent"]
    if held and held.number == _whole(record.fields["iteration"]):
        story.held = Held(held.number, held.micro, held.prompt_hash, held.at, told)


def _agent_changed(story: Story, record: Record) -> None:
    story.working = _text(record.fields["agent"])


def _finished(story: Story, record: Record) -> None:
    data = _object(record.fields, "iteration")
    iteration = cast(Iteration, _iteration(data))
    if iteration.number <= story._settled:
        raise Misshapen("an iteration that was settled before")
    _count(story, data.get("suites"))
    story._settled, story._highest = iteration.number, max(story._highest, iteration.number)
    if story.held and story.held.number == iteration.number:
        story.held = None
    story.iterations.append(iteration)
    story.totals = plus(story.totals, iteration.spent, elapsed_s=iteration.elapsed_s)
    for finding in iteration.findings:
        _note(story, finding, iteration.number)
    if tests := iteration.tests:
        story.last = tests
        if not any(finding.blocks for finding in iteration.findings):
            _improve(story, iteration.number, tests)


def _improve(story: Story, number: int, suite: Suite) -> None:
    """Take this as the best iteration: fewest failing, then most passing, then latest (design 3.1)."""
    if suite.verdict not in RAN:
        return
    counts = story.counts.get(suite.digest) or counts_of(suite)
    mark = (-counts.failing, counts.passing)
    if story._mark is None or mark >= story._mark:
        story._mark, story.best_tests = mark, suite
        story.best = Best(number, f"{counts.failing} failing, {counts.passing} passing")


def _waiting(story: Story, record: Record) -> None:
    pause = from_json(Pause, record.fields)
    story.waits.append(pause)
    story.waited_s += max(0.0, pause.seconds)


def _outside(story: Story, record: Record) -> None:
    fields = record.fields
    paths = cast(tuple[str, ...], _texts(fields.get("paths", [])))
    files = _whole(fields.get("files", len(paths)))
    story.outside.append(Outside(_whole(fields.get("iteration", 0)), files, paths))


def _reloaded(story: Story, record: Record) -> None:
    old, new = _text(record.fields["old"]), _text(record.fields["new"])
    story.reloads.append((old, new))
    story.prompt_hash = new


def _finding(story: Story, record: Record) -> None:
    _note(story, from_json(Finding, record.fields), _whole(record.fields.get("iteration", 0)))


def _note(story: Story, finding: Finding, number: int) -> None:
    if len(story.findings) < FINDINGS_CAP:
        story.findings.setdefault(finding, number)


def _stopped(story: Story, record: Record) -> None:
    code = record.fields.get("exit_code")
    data = {"run": story.run, "totals": {}, **record.fields}
    conclusion = from_json(Conclusion, data)
    _abandon(story)
    story.conclusion = conclusion
    story.exit_code = code if type(code) is int else conclusion.stop.reason.exit_code


def _nothing(story: Story, record: Record) -> None:
    """Take a record whose content stands in the iteration's own record as well."""


TAKE: dict[str, Callable[[Story, Record], None]] = {
    "run_started": _started,
    "run_resumed": _resumed,
    "iteration_started": _iteration_started,
    "agent_ended": _agent_ended,
    "agent_changed": _agent_changed,
    "tests_ended": _nothing,
    "iteration_finished": _finished,
    "signal": _nothing,
    "waiting": _waiting,
    "changed_outside": _outside,
    "reloaded": _reloaded,
    "finding": _finding,
    "run_stopped": _stopped,
}
"""Record type to how it is taken; other types are skipped (S8)."""
