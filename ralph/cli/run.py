"""`ralph run`: from the command line to the verdict and the exit code."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click

from ralph.cli.dry import shown_plan
from ralph.cli.options import Chosen, RunCommand, chosen, run_options
from ralph.cli.sink import show
from ralph.config.sources import load
from ralph.console.lines import Lines
from ralph.encode.redact import Redactor
from ralph.errors import UserError
from ralph.facts.reason import Reason
from ralph.facts.run import Conclusion
from ralph.journal.effects import FULL, storage_error
from ralph.loop.run import Run
from ralph.loop.supervise import supervise
from ralph.process import system
from ralph.process.signals import Signals
from ralph.prompt import SIZE_CAP
from ralph.repo.find import locate
from ralph.repo.git import find_git
from ralph.report.verdict import verdict_block
from ralph.wiring.build import new_run
from ralph.wiring.order import Order

NESTED = "RALPH_RUN"
DISK_TROUBLES = FULL | {errno.EROFS, errno.EIO, errno.EFBIG}


@click.command(cls=RunCommand)
@run_options
def run(**parameters: Any) -> int:
    """Run an agent on a prompt file, again and again, until the work is done or going on is a waste.

    PROMPT.md is the prompt file (default: prompt.file, else ./PROMPT.md), - reads it from stdin. COMMAND is any
    program that takes the prompt on stdin.
    """
    typed = chosen(parameters)
    console = Lines(quiet=typed.quiet, as_json=typed.as_json, redactor=Redactor.of(os.environ))
    refuse_nested()
    ready_process()
    order = ordered(typed, console=console)
    if order.dry_run:
        show(shown_plan(order))
        return 0
    with full_disk_told(), ExitStack() as stack:
        signals = stack.enter_context(Signals(then_deaf=True))
        return finished(new_run(order, signals=signals, stack=stack), console)


@contextmanager
def full_disk_told() -> Iterator[None]:
    """Turn what a full or failing disk raises, wherever it strikes, into an ending. Raises: UserError (storage)."""
    try:
        yield
    except OSError as error:
        if error.errno not in DISK_TROUBLES:
            raise
        place = os.fsdecode(error.filename) if error.filename else ""
        fix = "Make room, or name another place with `--state-dir DIR`."
        raise storage_error("ralph cannot write what it must", error, where=place, fix=fix) from error


def finished(run: Run, console: Lines) -> int:
    """Run to the end, print the verdict, return the exit code. Raises: UserError (storage) if the record is lost."""
    try:
        conclusion: Conclusion = supervise(run)
    except OSError as error:
        state = run.world.paper.path.parent.parent
        if not is_storage_trouble(error, state):
            raise
        raise storage_error("the record of this run can no longer be kept", error, where=state) from error
    console.verdict(verdict_block(conclusion))
    return run.world.exit_code(conclusion)


def is_storage_trouble(error: OSError, state: Path) -> bool:
    """Return whether this is about the disk or our own files: full, read-only, or deleted by the agent (C4, S4)."""
    about = error.filename
    ours = isinstance(about, str | bytes) and Path(os.fsdecode(about)).is_relative_to(state)
    return ours or error.errno in DISK_TROUBLES


def refuse_nested() -> None:
    """Refuse to start inside an agent of another run (E2). Raises: UserError (refused)."""
    if os.environ.get(NESTED):
        raise UserError(
            "an agent of a run may not start runs of its own",
            where=NESTED,
            fix="Unset it if this shell is yours.",
            reason=Reason.REFUSED,
        )


def ready_process() -> None:
    """Make this process fit to supervise. Raises: UserError (refused) on a system that cannot carry the promises."""
    why = system.unsupported()
    if why is not None:
        raise UserError(why, reason=Reason.REFUSED)
    os.umask(0o077)
    system.reopen_standard()
    system.harden()


def ordered(typed: Chosen, *, console: Lines) -> Order:
    """Find the tree and load the configuration. Raises: UserError with all mistakes at once."""
    here = Path(typed.directory)
    if not here.is_dir():
        raise UserError(f"no such folder '{typed.directory}'", where="-C", fix="Name a folder that exists.")
    git = find_git()
    place = locate(here, git, no_git=bool(typed.flags.get("run.no_git")))
    flags = dict(typed.flags)
    text = stdin_prompt() if flags.get("prompt.file") == "-" else None
    if text is not None:
        del flags["prompt.file"]
    loaded = load(
        flags=flags,
        environ=os.environ,
        top=place.top,
        cwd=Path(os.path.realpath(here)),
        profile=typed.profile,
        sets=typed.sets,
    )
    return Order(
        loaded, git, place, dict(os.environ), console, text, accept_config=typed.accept_config, dry_run=typed.dry_run
    )


def stdin_prompt() -> bytes:
    """Read the prompt from stdin, up to the cap. Raises: UserError on a terminal, where nothing would come."""
    if sys.stdin is None or sys.stdin.isatty():
        raise UserError("stdin is a terminal", where="-", fix="Pipe the prompt in, or name a file.")
    return sys.stdin.buffer.read(SIZE_CAP + 1)
