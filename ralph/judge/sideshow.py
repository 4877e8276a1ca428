"""Iterations that are busy beside the work: only the plan file, only noise, or "done" said over red gates."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from fnmatch import translate
from typing import Literal

from ralph.facts.iteration import Iteration
from ralph.facts.settings import ChecklistGate, Settings
from ralph.judge.churn import is_noise
from ralph.judge.step import Kind, Step

PLAN_NAMES = frozenset(
    {"fix_plan.md", "implementation_plan.md", "plan.md", "todo.md", "tasks.md", "prd.json", "progress.txt"}
)
CACHES = "__pycache__ .pytest_cache .mypy_cache .ruff_cache .hypothesis .tox .nox .cache .gradle htmlcov node_modules"
NOISE_NAMES = ("*.log", ".coverage", ".coverage.*", "coverage.xml", "*.pyc", "*.tsbuildinfo", ".ds_store", "*.swp")
NOISE = re.compile("|".join(map(translate, NOISE_NAMES)))
NOISE_FOLDERS = frozenset(CACHES.split())

Side = Literal["plan", "noise"]
ASIDE_LIMIT = 5
CLAIM_LIMIT = 3


def side(path: str, *, plans: frozenset[str]) -> Side | None:
    """Return which side matter a changed path is, None where it is content. plans: paths of checklist gates.

    Documents are content like any other, and so are lock files: people commit eight of them in a row. A name in the
    table of plans is a plan in any folder.
    """
    *folders, name = path.lower().split("/")
    if path in plans or name in PLAN_NAMES:
        return "plan"
    if not NOISE_FOLDERS.isdisjoint(folders) or NOISE.match(name):
        return "noise"
    return None


@dataclass(frozen=True, slots=True)
class Aside:
    """One iteration that changed side matter only."""

    number: int
    paths: tuple[str, ...]


class Sideshow:
    """Folds iterations. asides: the unbroken row of iterations that changed side matter only. claims: numbers of
    iterations in a row that claimed to be done over the same red gates while the tests got no better.
    """

    def __init__(self, settings: Settings) -> None:
        self._plans = frozenset(gate.path for gate in settings.done if isinstance(gate, ChecklistGate))
        self.asides: deque[Aside] = deque(maxlen=ASIDE_LIMIT)
        self.claims: deque[int] = deque(maxlen=CLAIM_LIMIT)
        self._red: tuple[str, ...] = ()

    def add(self, iteration: Iteration, *, step: Step, better: bool) -> None:
        """Take an iteration. better: the tests got better, which ends every row of claims."""
        if step.kind is Kind.VOID:
            return
        self._claim(iteration, better=better)
        if step.kind is Kind.NEW:
            self._aside(iteration)

    def restart(self) -> None:
        """Forget both rows."""
        self.asides.clear()
        self.claims.clear()

    def _aside(self, iteration: Iteration) -> None:
        paths = iteration.changes.paths
        noise = {edit.path for edit in iteration.changes.edits if is_noise(edit)}
        if not paths or any(path not in noise and side(path, plans=self._plans) is None for path in paths):
            self.asides.clear()
            return
        self.asides.append(Aside(iteration.number, paths[:20]))

    def _claim(self, iteration: Iteration, *, better: bool) -> None:
        red = tuple(_gate_key(gate.name, gate.detail) for gate in iteration.gates if not gate.holds)
        if better or red != self._red:
            self.claims.clear()  # a box more, a test more: the claim was early, not empty
        self._red = red
        if iteration.claimed and red:
            self.claims.append(iteration.number)
        else:
            self.claims.clear()


def _gate_key(name: str, detail: str) -> str:
    return f"{name}: {detail}" if name.startswith("checklist") else name
