"""How an iteration ended, by the table of design 3.3: structure first, then exit, then texts; tool results never."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from datetime import datetime

from ralph.facts.ending import Cut, Ended, Exited, How, NotStarted, Poisoned, Signalled, Why
from ralph.facts.event import Finish, Finished, Trouble
from ralph.facts.outcome import Outcome
from ralph.judge.stream import StreamFacts
from ralph.judge.words import quote

QUICK_S = 10.0
CONTEXT_OVERFLOW = "context overflow"
"""How the detail of an overflow begins; no words of an agent stand at the front of any detail made here."""
ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ENOEXEC, errno.EISDIR, errno.ELOOP})
OURS: dict[Why, Outcome] = {
    Why.ITERATION_TIME: Outcome.TIMED_OUT,
    Why.DEADLINE: Outcome.LIMIT,
    Why.IDLE: Outcome.IDLE,
    Why.LINGER: Outcome.COMPLETED,
    Why.COST: Outcome.LIMIT,
    Why.TOKENS: Outcome.LIMIT,
    Why.TURNS: Outcome.OWN_LIMIT,
    Why.LOOPING: Outcome.LOOPING,
    Why.BLOCKED: Outcome.COMPLETED,
    Why.SIGNAL: Outcome.INTERRUPTED,
    Why.STOP_NOW: Outcome.INTERRUPTED,
}
PATIENCE = frozenset({Why.ITERATION_TIME, Why.IDLE, Why.LINGER, Why.DEADLINE, Why.COST, Why.TOKENS, Why.TURNS})
"""Ends of ours that take nothing from an agent that had already told its result (A4, R002)."""
TROUBLES: dict[Trouble, Outcome] = {
    Trouble.QUOTA: Outcome.QUOTA,
    Trouble.OUTAGE: Outcome.OUTAGE,
    Trouble.AUTH: Outcome.AUTH,
    Trouble.MISCONFIGURED: Outcome.MISCONFIGURED,
    Trouble.CONTEXT: Outcome.FAILED,
}
FINISHES: dict[Finish, Outcome] = {
    Finish.OK: Outcome.COMPLETED,
    Finish.FAILED: Outcome.FAILED,
    Finish.REFUSED: Outcome.REFUSED,
    Finish.TRUNCATED: Outcome.TRUNCATED,
    Finish.OWN_LIMIT: Outcome.OWN_LIMIT,
    Finish.INTERRUPTED: Outcome.FAILED,
}


@dataclass(frozen=True, slots=True)
class Ruling:
    """The outcome, one line that says why (foreign words raw, in quotes), and when a usage limit lifts."""

    outcome: Outcome
    detail: str = ""
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """All that is weighed. words: what the agent said on stderr, for the reader of the verdict."""

    ended: Ended
    facts: StreamFacts
    diagnosis: tuple[Trouble, str] | None
    new_state: bool
    moved: bool
    plain: bool

    @property
    def short(self) -> bool:
        """Say whether it died young and left nothing new."""
        return self.ended.elapsed_s < QUICK_S and not self.new_state

    @property
    def silent(self) -> bool:
        """Say whether it printed nothing at all."""
        return self.ended.bytes_out == 0 and self.ended.bytes_err == 0


def classify(
    ended: Ended,
    stream: StreamFacts,
    *,
    diagnosis: tuple[Trouble, str] | None = None,
    new_state: bool,
    moved: bool | None = None,
    plain: bool = False,
) -> Ruling:
    """Return how the iteration ended.

    diagnosis: what the adapter reads in stderr. new_state: it ended in a state the run never had. moved: the tree
    changed at all (None: as new_state). plain: the agent's output has no structure, so its exit code must do.
    """
    case = Case(ended, stream, diagnosis, new_state, new_state if moved is None else moved, plain)
    return _not_run(ended.how) or _cut(case) or _limited(case) or _told(case) or _untold(case)


def _not_run(how: How) -> Ruling | None:
    if isinstance(how, Poisoned):
        return Ruling(Outcome.POISONED, "the guardian vanished, its tree was swept")
    if isinstance(how, NotStarted):
        outcome = Outcome.MISSING if how.error in ABSENT else Outcome.NOT_STARTED
        return Ruling(outcome, f'could not be started: "{quote(how.message)}"')
    return None


def _cut(case: Case) -> Ruling | None:
    cut = case.ended.cut
    if cut is None:
        return None
    if cut.why in PATIENCE:
        if case.facts.trouble is not None and case.facts.trouble.kind is Trouble.QUOTA:
            return None
        if case.facts.finish is not None:
            return _told(case)
    return Ruling(OURS[cut.why], _cut_words(cut))


def _cut_words(cut: Cut) -> str:
    return f"ended by ralph: {cut.detail or cut.why.value}"


def _limited(case: Case) -> Ruling | None:
    """A usage limit is believed even where a success was told with it: some agents print it as their result (R063)."""
    trouble = case.facts.trouble
    if trouble is None or trouble.kind is not Trouble.QUOTA:
        return None
    return Ruling(Outcome.QUOTA, _says(trouble.text) or "usage limit", trouble.until)


def _told(case: Case) -> Ruling | None:
    finish = case.facts.finish
    if finish is None:
        return None
    outcome = FINISHES[finish.how]
    if outcome is Outcome.COMPLETED:
        return Ruling(outcome, "; ".join(_warnings(case)))
    if outcome is not Outcome.FAILED:
        return Ruling(outcome, _says(finish.text or (finish.answer or "")))
    return _failed(case, f"the agent reports a failure{_after(finish)}")


def _after(finish: Finished) -> str:
    words = _says(finish.text)
    return f": {words}" if words else ""


def _warnings(case: Case) -> list[str]:
    ended, warnings = case.ended, []
    if ended.how != Exited(0) and ended.cut is None:
        warnings.append(f"warning: {ended.how} after a result that says success")
    if ended.cut is not None:
        warnings.append(f"warning: it did not leave after its result ({ended.cut.why.value})")
    if case.facts.conflicting:
        warnings.append("warning: two results that contradict each other")
    return warnings


def _untold(case: Case) -> Ruling:
    """No terminal event: the exit code, then the texts."""
    how = case.ended.how
    if how == Exited(0) and case.facts.trouble is None:
        if case.silent:
            return _silent(case)
        if case.plain:
            return Ruling(Outcome.COMPLETED)
        return _failed(case, "exit 0, but the agent told no result")
    words = f"{how}" if isinstance(how, Exited | Signalled) else "no result"
    return _failed(case, words)


def _silent(case: Case) -> Ruling:
    if not case.moved:
        return Ruling(Outcome.QUICK, "exit 0, printed nothing and changed nothing")
    if case.plain:
        return Ruling(Outcome.COMPLETED, "printed nothing")
    return _failed(case, "exit 0, but the agent printed nothing")


def _failed(case: Case, words: str) -> Ruling:
    trouble, said = _named_trouble(case)
    if trouble is Trouble.CONTEXT:
        return Ruling(Outcome.FAILED, f"{CONTEXT_OVERFLOW}: {said}" if said else CONTEXT_OVERFLOW)
    until = case.facts.trouble.until if case.facts.trouble else None
    if trouble is not None:
        return Ruling(TROUBLES[trouble], said or words, until)
    tail = _says(case.ended.error_tail.decode("utf-8", "replace"))
    detail = f"{words}; {tail}" if tail and tail not in words else words
    return Ruling(Outcome.QUICK if case.short else Outcome.FAILED, detail)


def _named_trouble(case: Case) -> tuple[Trouble | None, str]:
    if case.facts.trouble is not None:
        return case.facts.trouble.kind, _says(case.facts.trouble.text)
    if case.diagnosis is not None:
        return case.diagnosis[0], _says(case.diagnosis[1])
    return None, ""


def _says(text: str) -> str:
    words = quote(text)
    return f'"{words}"' if words else ""
