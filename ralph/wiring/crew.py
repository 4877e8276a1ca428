"""Finds the agent of a run, and sees that its cost can be counted if it is to be limited."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from ralph.agents import ADAPTERS, adapter
from ralph.agents.adapter import Adapter
from ralph.config.rules import cost_rule
from ralph.errors import UserError
from ralph.facts.reason import Reason
from ralph.facts.settings import Settings
from ralph.facts.usage import Price
from ralph.loop.world import Crew
from ralph.prices import price_of
from ralph.process.program import Missing, find_program


def find_crew(settings: Settings, *, environ: Mapping[str, str], top: Path) -> Crew:
    """Return the agent to run. Raises: UserError (agent-missing) with what was looked for and where."""
    path = environ.get("PATH", os.defpath)
    if settings.agent.command:
        speaks = adapter(settings.agent.name[0]) if settings.agent.name else ADAPTERS["plain"]
        first, *rest = settings.agent.command
        return _crew(speaks, (str(_found(first, path=path, top=top)), *rest), given=True)
    names = settings.agent.name or tuple(a.name for a in ADAPTERS.values() if a.programs)
    for name in names:
        for program in adapter(name).programs:
            place = find_program(program, path=path, cwd=top, outside=top)
            if not isinstance(place, Missing):
                return _crew(adapter(name), (str(place),), given=False)
    raise _nobody(names, path)


def _crew(speaks: Adapter, program: tuple[str, ...], *, given: bool) -> Crew:
    return Crew(speaks, program, given, os.geteuid() == 0, remembered(price_of))


def _found(name: str, *, path: str, top: Path) -> Path:
    # A COMMAND that was typed may lie in the work tree: the user named it.
    place = find_program(name, path=path, cwd=top, outside=None)
    if isinstance(place, Missing):
        raise UserError(
            str(place),
            where="COMMAND",
            fix="Give a program that takes the prompt on stdin; one of your own needs `chmod +x` and its path.",
            reason=Reason.AGENT_MISSING,
        )
    return place


def _nobody(names: tuple[str, ...], path: str) -> UserError:
    programs = [program for name in names for program in adapter(name).programs]
    if not programs:
        return UserError(
            f'agent "{names[0]}" needs a program',
            fix="Name it: ralph run PROMPT.md -- COMMAND …",
            reason=Reason.AGENT_MISSING,
        )
    fix = "Install it, or name yours: ralph run PROMPT.md -- COMMAND …\nNo agent yet? ralph demo"
    return UserError(
        f"no coding agent found; looked for {', '.join(programs)} on PATH {path!r}",
        fix=fix,
        reason=Reason.AGENT_MISSING,
    )


def remembered(look_up: Callable[[str | None], Price | None]) -> Callable[[str | None], Price | None]:
    """Return a look-up that asks at most once for a model."""
    known: dict[str | None, Price | None] = {None: None}

    def price(model: str | None) -> Price | None:
        if model not in known:
            known[model] = look_up(model)
        return known[model]

    return price


def check_cost(settings: Settings, crew: Crew) -> None:
    """Refuse a cost limit that could not be measured. Raises: UserError (usage)."""
    if settings.limits.cost is None:
        return
    reports = crew.adapter.abilities.reports_cost
    priced = not reports and crew.price_of(settings.agent.model) is not None
    error = cost_rule(settings, reports_cost=reports, priced=priced)
    if error is not None:
        raise error


def check_tests(settings: Settings, *, environ: Mapping[str, str], top: Path) -> None:
    """Refuse a test or check command given as argv whose program is not there. Raises: UserError (usage)."""
    named = [("test.command", settings.test.command), *((f"check.{c.name}", c.command) for c in settings.checks)]
    for where, command in named:
        if command and shutil.which(command[0], path=environ.get("PATH")) is None and not (top / command[0]).is_file():
            raise UserError(f'"{command[0]}" not found', where=where, fix="Install it, or mend the command.")
