"""Commands that speak to a live run over its control socket: stop, reload, wake, and the agent's `blocked`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from ralph.cli.pick import RUN_OPTIONS, picked
from ralph.errors import UserError
from ralph.steer.speak import ask

SOCKET = "RALPH_SOCKET"


@click.command()
@RUN_OPTIONS
@click.option("--now", is_flag=True, help="End the agent now; without it the iteration is finished first.")
def stop(run: str | None, directory: str, state_dir: str | None, now: bool) -> None:
    """End a run from another terminal."""
    _tell(run, directory, state_dir, {"verb": "stop", "now": now})
    click.echo("the run stops now" if now else "the run stops after this iteration", err=True)


@click.command()
@RUN_OPTIONS
def reload(run: str | None, directory: str, state_dir: str | None) -> None:
    """Let a run take the prompt file as it is now, from its next iteration on."""
    _tell(run, directory, state_dir, {"verb": "reload"})
    click.echo("the next iteration takes the prompt file as it is then", err=True)


@click.command()
@RUN_OPTIONS
def wake(run: str | None, directory: str, state_dir: str | None) -> None:
    """End a run's wait for a quota or a pause."""
    _tell(run, directory, state_dir, {"verb": "wake"})
    click.echo("the run goes on now", err=True)


@click.command()
@click.option("--tried", multiple=True, metavar="TEXT", help="One thing you tried; give it as often as needed.")
@click.option("--needed", default="", metavar="TEXT", help="What you need to go on.")
def blocked(tried: tuple[str, ...], needed: str) -> None:
    """Called BY the agent: give up honestly. A correct outcome, not a failure."""
    path = os.environ.get(SOCKET)
    if not path:
        raise UserError("no run is listening here", where=SOCKET, fix="Only an agent that ralph started may say this.")
    ask(path, {"verb": "blocked", "tried": list(tried), "needed": needed})
    click.echo("noted: the run ends as blocked. Write down what is missing and finish.")


def _tell(run: str | None, directory: str, state_dir: str | None, message: dict[str, object]) -> None:
    ask(_socket_of(picked(run, directory, state_dir).path), message)


def _socket_of(run_dir: Path) -> str:
    link = run_dir / "socket"
    try:
        return link.read_text(encoding="utf-8").strip()
    except OSError as e:
        raise UserError("this run is not alive", where=run_dir.name, fix="`ralph status` tells how it ended.") from e
