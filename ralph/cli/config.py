"""`ralph config`: what holds and who said so, the JSON Schema of the file, and whether all of it is right."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ralph.cli.failure import shown
from ralph.cli.sink import show as told
from ralph.cli.sink import show_json
from ralph.config import describe
from ralph.config.aside import in_child
from ralph.config.model import json_schema
from ralph.config.sources import Loaded, Origin, load
from ralph.encode.terminal import clean
from ralph.errors import ConfigErrors
from ralph.facts.reason import FOUND_SOMETHING

SCHEMA = 1
"""Version of the JSON that `show --json` and `check --json` print."""


def _where(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--set", "sets", metavar="KEY=VALUE", multiple=True, help="Set a key as `run --set` would."),
        click.option("--profile", metavar="NAME", help="Lay the keys of [profile.NAME] over the others."),
        click.option("-C", "directory", metavar="DIR", default=".", help="Look as if started in DIR."),
    ):
        command = option(command)
    return command


@click.group()
def config() -> None:
    """Show, check or describe the configuration."""


@config.command()
@click.option("--origin", is_flag=True, help="Tell for each key who set it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@_where
def show(*, origin: bool, as_json: bool, directory: str, profile: str | None, sets: tuple[str, ...]) -> None:
    """Print every key with the value that holds here."""
    loaded = _loaded(directory, profile=profile, sets=sets)
    if as_json:
        show_json(_document(loaded))
        return
    for note in loaded.notes:
        told(f"note: {note}", err=True)
    rows = [(path, f"{path} = {clean(value)}") for path, value in describe.shown(loaded.settings)]
    width = min(60, max(len(line) for _, line in rows))
    told("\n".join(f"{line:<{width}}  # {_told(loaded.origins[path])}" if origin else line for path, line in rows))


def _told(origin: Origin) -> str:
    return f"{origin.kind}: {origin.where}" if origin.where not in ("", origin.kind) else origin.kind


def _document(loaded: Loaded) -> dict[str, object]:
    values = describe.plain(loaded.settings)
    keys = {
        path: {"value": value, "origin": loaded.origins[path].kind, "where": loaded.origins[path].where}
        for path, value in values.items()
    }
    files = [{"path": str(file.path), "sha256": file.sha256} for file in loaded.files]
    return {"schema": SCHEMA, "keys": keys, "notes": list(loaded.notes), "files": files}


@config.command()
def schema() -> None:
    """Print the JSON Schema of ralph.toml, for editors."""
    show_json(in_child(json_schema), indent=2)


@config.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@_where
def check(*, as_json: bool, directory: str, profile: str | None, sets: tuple[str, ...]) -> int:
    """Look for mistakes in every file and variable; exit 3 if there are any, all of them printed."""
    try:
        loaded = _loaded(directory, profile=profile, sets=sets)
    except ConfigErrors as e:
        found = [{"what": one.what, "where": one.where, "fix": one.fix} for one in e.errors]
        if as_json:
            show_json({"schema": SCHEMA, "errors": found})
        else:
            told(_listed(e))
        return FOUND_SOMETHING
    read = [str(file.path) for file in loaded.files if file.sha256 is not None]
    if as_json:
        show_json({"schema": SCHEMA, "errors": [], "files": read})
        return 0
    for note in loaded.notes:
        told(f"note: {note}", err=True)
    told(f"no mistakes in {', '.join(read)}" if read else "no configuration file: the defaults hold")
    return 0


def _listed(errors: ConfigErrors) -> str:
    return "\n".join(shown(one).rpartition("  [")[0] for one in errors.errors) + f"\n{errors.what}"


def _loaded(directory: str, *, profile: str | None, sets: tuple[str, ...]) -> Loaded:
    cwd = Path(os.path.realpath(directory))
    return load(flags={}, environ=os.environ, top=top_of(cwd), cwd=cwd, profile=profile, sets=sets)


def top_of(cwd: Path) -> Path:
    """Return the nearest folder above that holds a `.git`, else `cwd`; no git is started to look at a file."""
    return next((folder for folder in (cwd, *cwd.parents) if (folder / ".git").exists()), cwd)
