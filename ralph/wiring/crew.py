"""Finds the agent of a run, and sees that its cost can be counted if it is to be limited."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from ralph.agents import ADAPTERS, adapter
from ralph.agents.adapter import Adapter, Ask
from ralph.config.rules import cost_rule
from ralph.errors import UserError
from ralph.facts.reason import Reason
from ralph.facts.settings import Settings
from ralph.facts.usage import Price
from ralph.loop.world import Crew, Roster
from ralph.prices import price_of
from ralph.process.program import Missing, find_program
from ralph.prompt import Frozen

ARGUMENT_CAP = 120 << 10
"""Linux passes 128 KiB in one argument; the note needs some of it. Source: execve(2), MAX_ARG_STRLEN."""


def find_roster(settings: Settings, *, environ: Mapping[str, str], top: Path) -> Roster:
    """Return the agents to run: all that were named and are there, or the first there is.

    Raises: UserError (agent-missing) with what was looked for and where.
    """
    asked = settings.agent
    path = environ.get("PATH", os.defpath)
    if asked.command:
        speaks = adapter(asked.name[0]) if asked.name else ADAPTERS["plain"]
        first, *rest = asked.command
        return _roster([_crew(speaks, (str(_found(first, path=path, top=top)), *rest), given=True)], settings)
    names = tuple(dict.fromkeys(asked.name)) or tuple(a.name for a in ADAPTERS.values() if a.programs)
    found = list(_there(names, path=path, top=top))
    if not found:
        raise _nobody(names, path)
    return _roster(found if asked.name else found[:1], settings)


def _roster(found: list[Crew], settings: Settings) -> Roster:
    """Return the agents with the words of the configuration that are meant for them: model and arguments."""
    asked = settings.agent
    # The names of models and flags differ between agents: they were typed for the first that was named.
    meant = not asked.name or found[0].adapter.name == asked.name[0]
    return Roster([replace(found[0], model=asked.model, args=asked.args) if meant else found[0], *found[1:]])


def _there(names: tuple[str, ...], *, path: str, top: Path) -> Iterator[Crew]:
    for name in names:
        places = (find_program(program, path=path, cwd=top, outside=top) for program in adapter(name).programs)
        place = next((place for place in places if not isinstance(place, Missing)), None)
        if place is not None:
            yield _crew(adapter(name), (str(place),), given=False)


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


def check_cost(settings: Settings, roster: Roster) -> None:
    """Refuse a cost limit that could not be measured with one of the agents. Raises: UserError (usage)."""
    if settings.limits.cost is None:
        return
    for crew in roster.crews:
        reports = crew.adapter.abilities.reports_cost
        priced = not reports and crew.price_of(crew.model) is not None
        error = cost_rule(settings, reports_cost=reports, priced=priced)
        if error is not None:
            raise error


def check_prompt(roster: Roster, prompt: Frozen) -> None:
    """Refuse a prompt that the command line of one of the agents cannot carry. Raises: UserError (usage)."""
    if len(prompt.data) <= ARGUMENT_CAP:
        return
    for crew in roster.crews:
        if not crew.given and crew.adapter.launch(Ask(crew.program)).feed == "argument":
            raise UserError(
                f"{crew.adapter.name} takes the prompt as an argument, which may have {ARGUMENT_CAP >> 10} KiB",
                where=prompt.where,
                fix="Keep the task short and let it name the files to read, or use another agent.",
            )


def check_tests(settings: Settings, *, environ: Mapping[str, str], top: Path) -> None:
    """Refuse a test or check command given as argv whose program is not there. Raises: UserError (usage)."""
    named = [("test.command", settings.test.command), *((f"check.{c.name}", c.command) for c in settings.checks)]
    for where, command in named:
        if command and shutil.which(command[0], path=environ.get("PATH")) is None and not (top / command[0]).is_file():
            raise UserError(f'"{command[0]}" not found', where=where, fix="Install it, or mend the command.")
