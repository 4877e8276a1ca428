"""`ralph demo`: the real loop on a scripted agent in a throw-away repository; each ending can be seen."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from ralph.demo.scenarios import BY_NAME, SCENARIOS, run_arguments, throw_away_repository
from ralph.errors import UserError
from ralph.prompt import own_command


@click.command()
@click.argument("scenario", default="done")
@click.option("--list", "listed", is_flag=True, help="List the scenarios and the exit code each ends with.")
def demo(scenario: str, listed: bool) -> int:
    """See ralph work, without a key and without a network: SCENARIO is how the run is to end."""
    if listed:
        for s in SCENARIOS:
            click.echo(f"{s.name:10} {s.reason.exit_code:3}  {s.about}")
        return 0
    if scenario not in BY_NAME:
        raise UserError(f"unknown scenario '{scenario}'", fix=f"One of: {', '.join(BY_NAME)}.")
    return _play(scenario)


def _play(name: str) -> int:
    from ralph.cli.run import run

    folder = Path(tempfile.mkdtemp(prefix="ralph-demo-"))
    (folder / "agent").mkdir()
    top = throw_away_repository(folder)
    # Kept on purpose: the commands under the verdict are to be tried.
    click.echo(f"throw-away repository: {top} (remove it with: rm -r {folder})", err=True)
    arguments = run_arguments(BY_NAME[name], top, folder / "agent", ralph=own_command())
    code = run.main(arguments, prog_name="ralph run", standalone_mode=False)
    assert isinstance(code, int)
    return code
