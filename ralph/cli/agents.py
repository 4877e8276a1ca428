"""`ralph agents`: which agents are known, which are found on this machine, and what each can do."""

from __future__ import annotations

import os
from pathlib import Path

import click

from ralph.agents import ADAPTERS
from ralph.agents.adapter import Abilities, Adapter
from ralph.cli.sink import show, show_json
from ralph.encode.terminal import one_line
from ralph.process.program import Missing, find_program


@click.command()
@click.option("-C", "directory", default=".", metavar="DIR", help="As if started in this folder.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object an agent, in a list.")
def agents(directory: str, as_json: bool) -> None:
    """List the agents ralph can drive."""
    rows = [_row(adapter, Path(directory)) for adapter in ADAPTERS.values()]
    if as_json:
        show_json(rows)
        return
    for row in rows:
        found = one_line(str(row["found"] or "not found"), 80)
        lines = (
            f"{row['name']:10} {found}",
            f"{'':10} {row['tells']}",
            f"{'':10} {row['note']}" if row["note"] else "",
        )
        show("\n".join(filter(None, lines)))


def _row(adapter: Adapter, here: Path) -> dict[str, object]:
    return {
        "name": adapter.name,
        "found": _found(adapter, here),
        "tells": tells(adapter.abilities),
        "own_cap": adapter.abilities.own_cap,
        "note": adapter.abilities.note,
    }


def _found(adapter: Adapter, here: Path) -> str | None:
    for name in adapter.programs:
        place = find_program(name, path=os.environ.get("PATH", ""), cwd=here, outside=here.resolve())
        if not isinstance(place, Missing):
            return str(place)
    return "any command after --" if not adapter.programs else None


def tells(abilities: Abilities) -> str:
    """Return in one line what the agent's stream tells, how its spending can be held, and how it is spoken to."""
    parts = [
        "dollars" if abilities.reports_cost else "no dollars",
        f"tokens: {abilities.reports_tokens}",
        "tools" if abilities.reports_tools else "no tools",
        "turns" if abilities.reports_turns else "no turns",
    ]
    if abilities.own_cap:
        parts.append(f"own cap {abilities.own_cap}")
    parts.append(f"steered by {abilities.steered}" if abilities.steered else "not steered")
    return ", ".join(parts)
