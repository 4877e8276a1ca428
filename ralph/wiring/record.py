"""The record of a run as the loop needs it: journal, the fold over it, the summaries made from it, the JSON events."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from ralph.console.lines import Lines
from ralph.errors import UserError
from ralph.facts.iteration import Iteration
from ralph.facts.run import Conclusion
from ralph.journal.log import Log
from ralph.journal.places import RunDir
from ralph.journal.read import Record, stamp
from ralph.journal.story import Story, fold
from ralph.journal.summary import NEWEST, iteration_view, summary, write_summary
from ralph.ports import Clock

LAST = "run_stopped"


class Recorder:
    """Folds each record once it is on disk, and writes what is made of them.

    public: the file of `--summary`, None without one; that it cannot be written is said once and ends nothing.
    """

    def __init__(self, paper: RunDir, console: Lines, *, public: Path | None) -> None:
        self.story: Story = fold((), kept=NEWEST)
        self._paper = paper
        self._console = console
        self._public = public
        self._live = False
        self._views: dict[int, tuple[Iteration, object]] = {}
        """The iterations of the newest summary as it shows them: each is made and cleaned once."""

    def begin(self, clock: Clock) -> Log:
        """Begin the journal of a new run. Raises: UserError (storage)."""
        self._live = True
        return Log.create(self._paper.journal, clock=clock, tell=self.take)

    def go_on(self, clock: Clock) -> Log:
        """Go on with the journal of an earlier session. Raises: UserError (storage, usage)."""
        log = Log.open(self._paper.journal, clock=clock, tell=self.take)
        self._live = True
        return log

    def take(self, record: Record) -> None:
        """Fold one record and show it to machines; the last one is shown with the summary, by `publish`."""
        self.story.add(record)
        if self._live and record.kind != LAST:
            frame = {"n": record.n, "at": stamp(record.at), "up_s": record.up_s}
            self._console.event(record.kind, {**frame, **record.fields})

    def publish(self, conclusion: Conclusion | None, exit_code: int | None = None) -> None:
        """Write the summary as things stand, without secrets: it is read by more people than the journal (E7)."""
        status = "running" if conclusion is None else "stopped"
        told = summary(self.story, status=status, conclusion=conclusion, exit_code=exit_code, newest=0)  # type: ignore[arg-type]
        clean = cast(dict[str, object], self._console.redactor.value(told))
        data = {**clean, "iterations": self._iterations()}
        write_summary(self._paper.summary, data)
        self._publish(data)
        if conclusion is not None:
            self._console.event(LAST, {"n": self.story.n, "run": self._paper.id, "summary": data})

    def _iterations(self) -> list[object]:
        known, self._views = self._views, {}
        for one in self.story.iterations:
            before, view = known.get(one.number, (None, None))
            if before is not one:
                view = self._console.redactor.value(iteration_view(one, self.story.counts))
            self._views[one.number] = (one, view)
        return [view for _, view in self._views.values()]

    def _publish(self, data: Mapping[str, object]) -> None:
        if self._public is None:
            return
        try:
            write_summary(self._public, data, mode=0o644)
        except UserError as e:
            self._console.say(f"{e.where}: {e.what}; the summary in the state directory is complete")
            self._public = None
