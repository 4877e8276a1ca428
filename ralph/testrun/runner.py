"""Starts one command under the guardian and collects what it leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ralph.facts.ending import Cut, Ended, Why
from ralph.facts.job import Job, Logs, StdinBytes, TimeRules
from ralph.facts.settings import Command
from ralph.facts.suite import Suite
from ralph.ports import Clock, Processes
from ralph.testreports import Outputs, Parsed, read
from ralph.testrun import reportfile, verdict
from ralph.testrun.collect import Collector
from ralph.testrun.reportfile import ReportFile

_OWN_LIMITS = (Why.ITERATION_TIME, Why.IDLE, Why.LINGER)


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The command was ended for a reason that is not its own (a signal to us, the run's deadline): no result."""

    cut: Cut


@dataclass(frozen=True, slots=True)
class TestRunner:
    """Runs test, check and gate commands.

    top: where they run. environment: the scrubbed one of the agent; `CI=1` is added here, for tests alone (R099).
    scratch: a folder outside the work tree where reports go; it must exist. keep: names that the sweep leaves alone.
    """

    __test__: ClassVar[bool] = False  # its name would make pytest collect it

    processes: Processes
    clock: Clock
    top: Path
    environment: Mapping[str, str]
    scratch: Path
    grace_s: float = 10.0
    keep: tuple[str, ...] = ()

    def run(
        self,
        name: str,
        command: Command,
        *,
        report: str = "auto",
        timeout_s: float,
        deadline_s: float | None,
        logs: Logs,
    ) -> Suite | Interrupted:
        """Run one command to its end.

        report: key of `testreports.FORMATS` or "auto". timeout_s: awake seconds. deadline_s: reading of `Clock.real`.
        Whatever the command does is a value. Raises: OSError where scratch or the logs cannot be written.
        """
        place = reportfile.fresh(self.scratch) if reportfile.wants_report(command) else None
        try:
            return self._run(name, command, place, report=report, job_time=self._time(timeout_s, deadline_s), logs=logs)
        finally:
            if place is not None:
                reportfile.removed(place)

    def _time(self, timeout_s: float, deadline_s: float | None) -> TimeRules:
        return TimeRules(total_s=timeout_s, deadline_s=deadline_s, grace_s=self.grace_s)

    def _run(
        self, name: str, command: Command, place: ReportFile | None, *, report: str, job_time: TimeRules, logs: Logs
    ) -> Suite | Interrupted:
        if deadline_passed(job_time, self.clock):
            return Interrupted(Cut(Why.DEADLINE, "the run's time is up"))
        collector = Collector()
        argv = reportfile.with_path(command, place.path) if place is not None else command
        env = {**self.environment, "CI": "1"}
        job = Job(argv, self.top, env, stdin=StdinBytes(), time=job_time, logs=logs, keep=self.keep)
        ended = self.processes.run(job, collector)
        if ended.cut is not None and ended.cut.why not in _OWN_LIMITS:
            return Interrupted(ended.cut)
        return self._result(name, command, place, report=report, ended=ended, collector=collector)

    def _result(
        self,
        name: str,
        command: Command,
        place: ReportFile | None,
        *,
        report: str,
        ended: Ended,
        collector: Collector,
    ) -> Suite:
        data, missing = reportfile.taken(place) if place is not None else (None, None)
        format_, parsed = read(Outputs(data, collector.text(), cut=collector.cut), report)
        if parsed is None:
            missing = missing or f"no {format_} report in what it printed"
        facts = verdict.Facts(
            name,
            ended,
            format_,
            parsed or Parsed(),
            missing=missing,
            in_shell=reportfile.is_shell_text(command),
            tail=collector.tail(),
        )
        return verdict.suite(facts)


def deadline_passed(time: TimeRules, clock: Clock) -> bool:
    """Return whether the run's deadline lies behind us: then nothing is started any more."""
    return time.deadline_s is not None and clock.real() >= time.deadline_s
