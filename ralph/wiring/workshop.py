"""What a run starts its programs with: signals, the launcher, the control socket, the scrubbed environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from ralph.console.lines import Lines
from ralph.errors import UserError
from ralph.facts.ending import Cut, Ended
from ralph.facts.job import Job, Logs, TimeRules
from ralph.facts.reason import Reason
from ralph.facts.settings import Settings
from ralph.loop.control import Control
from ralph.ports import Processes, Side, Watcher
from ralph.process import system
from ralph.process.boot import Interpreter
from ralph.process.clock import SystemClock
from ralph.process.environment import child_environment
from ralph.process.launch import Launcher
from ralph.process.signals import Signals
from ralph.process.tree import is_below
from ralph.steer.channel import Channel, Who
from ralph.testrun import TestRunner


@dataclass(frozen=True, slots=True)
class Workshop:
    """Everything a child is started with. dropped: names it does not inherit."""

    launcher: Launcher
    control: Control
    channel: Channel
    environment: Mapping[str, str]
    dropped: tuple[str, ...]
    runner: TestRunner
    scratch: Path


@dataclass(frozen=True, slots=True)
class Attended:
    """`Processes` that also listens to the control socket, whatever it runs: `stop --now` ends a test too."""

    inner: Processes
    side: Side

    def run(self, job: Job, watcher: Watcher, *, sides: tuple[Side, ...] = ()) -> Ended:
        """Run one child; see `ports.Processes`."""
        return self.inner.run(job, watcher, sides=(*sides, self.side))

    def wait(self, seconds: float, *, sides: tuple[Side, ...] = ()) -> Cut | None:
        """Wait; see `ports.Processes`."""
        return self.inner.wait(seconds, sides=(*sides, self.side))

    def interruption(self) -> int | None:
        """Return the first signal; see `ports.Processes`."""
        return self.inner.interruption()


def open_workshop(
    settings: Settings,
    *,
    run: str,
    top: Path,
    scratch: Path,
    signals: Signals,
    environ: Mapping[str, str],
    moved: Callable[[], bool],
    by: Interpreter,
    stack: ExitStack,
) -> Workshop:
    """Make the run's launcher, socket, environment and test runner; the stack ends them again."""
    clock = SystemClock()
    launcher = stack.enter_context(Launcher(clock, signals, moved=moved, by=by, ahead=True))
    control = Control()
    channel = Channel(agent=control.agent(), operator=control.operator(), who=who)
    stack.callback(channel.close)
    extra = {"RALPH_RUN": run, "RALPH_SOCKET": str(channel.path)}
    environment, dropped = child_environment(environ, passes=settings.env.pass_, drops=settings.env.drop, extra=extra)
    runner = TestRunner(
        Attended(launcher, channel),
        clock,
        top=top,
        environment=environment,
        scratch=scratch,
        grace_s=settings.limits.grace,
        keep=settings.process.keep,
    )
    return Workshop(launcher, control, channel, environment, dropped, runner, scratch)


def who(pid: int) -> Who | None:
    """Return whether a process is the agent's (below us) or the operator's; None for one that has already gone."""
    if system.started(pid) is None:
        return None
    return "agent" if is_below(pid, os.getpid()) else "operator"


def interpreter(top: Path, *, strict: bool, console: Lines) -> Interpreter:
    """Return what runs guardians: held in memory, so that no agent and no upgrade changes it under a live run (E14).

    Where ralph itself lies in the work tree the agent can change the ralph of tomorrow: warned, or refused with
    --strict. Raises: UserError (refused).
    """
    loaded = Interpreter.loaded()
    package = Path(__file__).resolve().parent.parent
    inside = [p for p in (package, Path(sys.prefix).resolve()) if p.is_relative_to(top)]
    if not inside:
        return loaded
    if strict:
        raise UserError(
            "ralph itself lies inside the work tree, where the agent can change it",
            where=str(inside[0]),
            fix="Install ralph elsewhere (pipx, a virtual environment outside), or drop --strict.",
            reason=Reason.REFUSED,
        )
    console.say(f"warning: ralph itself lies inside the work tree ({inside[0]}): the agent can change tomorrow's ralph")
    import_everything(package)
    return loaded


def import_everything(package: Path) -> None:
    """Import every module of ours now, so that none is read after an agent could have written it."""
    from importlib import import_module

    for file in sorted(package.rglob("*.py")):
        parts = ("ralph", *file.relative_to(package).with_suffix("").parts)
        if "demo" not in parts and parts[-1] not in ("__init__", "guardian", "table", "darwin"):
            import_module(".".join(parts))


def no_planted_modules(top: Path) -> None:
    """Forget entries of the import path that lie in the work tree, unless we live there ourselves (E14)."""
    package = Path(__file__).resolve().parent.parent
    if not package.is_relative_to(top):
        sys.path[:] = [entry for entry in sys.path if entry and not Path(entry).resolve().is_relative_to(top)]


def start_beside(workshop: Workshop, settings: Settings, *, top: Path, folder: Path) -> None:
    """Start `setup.command` beside the loop. Raises: UserError (usage) if it cannot start."""
    if not settings.setup.command:
        return
    job = Job(
        settings.setup.command,
        top,
        workshop.environment,
        time=TimeRules(grace_s=settings.limits.grace),
        logs=Logs(folder / "setup.out", folder / "setup.err"),
    )
    if workshop.launcher.beside(job).ended():
        raise UserError("the set-up command could not be started", where="setup.command", fix="Mend the command.")
