"""Opens the lane by which advice reaches this agent: the best its adapter knows.

A COMMAND as it was typed gets no arguments of ours: none, unless the dialect it speaks is a conversation, or has
nothing but the shells that inherit our variable.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ralph.agents.adapter import FILE_CAP, Ask, Launch, Reader
from ralph.agents.lanes import Advises, Conversed, Hooked, Lane, Shelled, SpeaksToAny, Talk, by_shell
from ralph.facts.steer import Moment
from ralph.loop.world import Crew, World
from ralph.steer import hook, shell


@dataclass(frozen=True, slots=True)
class Opened:
    """A start with its lane. talk: with a conversed agent. hooked: the adapter that reads its hooks' payloads.

    script: the file a shell lane speaks through. files: what is to be removed again. advises: the moments at which
    advice can be put. reader: of this start alone, None: the adapter's. asks: see `Lane`.
    """

    launch: Launch
    talk: Talk | None = None
    hooked: Hooked | None = None
    script: Path | None = None
    files: tuple[Path, ...] = ()
    advises: tuple[Moment, ...] = ()
    reader: Reader | None = None
    asks: bool = True

    @property
    def is_laned(self) -> bool:
        """Return whether the agent can be spoken to."""
        return self.talk is not None or self.hooked is not None or self.script is not None


def opened(world: World, ask: Ask) -> Opened:
    """Return how the agent is started, its lane open: the best that its adapter knows and the user's settings allow."""
    crew = world.crew
    if crew.given and not speaks_to_any(crew):
        launch = Launch((*crew.program, *world.settings.agent.args), {}, "stdin")
        by_its_shells = scripted(world, lambda script: by_shell(launch, script)) if is_shelled(crew) else None
        return by_its_shells or Opened(launch)
    return conversed(world, ask) or hooked(world, ask) or shelled(world, ask) or Opened(crew.adapter.launch(ask))


def conversed(world: World, ask: Ask) -> Opened | None:
    """Return the start of an agent that is spoken to over its stdin."""
    adapter = world.crew.adapter
    lane = adapter.conversed(ask) if isinstance(adapter, Conversed) else None
    if lane is None or not isinstance(adapter, Conversed) or not is_free(world, lane):
        return None
    advises = adapter.advises if isinstance(adapter, Advises) else ()
    talk = lane.talk or adapter.talk()
    start = Opened(lane.launch, talk=talk, advises=advises, reader=lane.reader, asks=lane.asks)
    return laid(world, lane, start)


def hooked(world: World, ask: Ask) -> Opened | None:
    """Return the start of an agent that calls our program before and after its tools."""
    adapter = world.crew.adapter
    if not isinstance(adapter, Hooked):
        return None
    lane = adapter.hooked(ask, hook_command(world))
    if not is_free(world, lane):
        return None
    return laid(world, lane, Opened(lane.launch, hooked=adapter, advises=adapter.advises))


def shelled(world: World, ask: Ask) -> Opened | None:
    """Return the start of an agent whose shells read a file of ours."""
    adapter = world.crew.adapter
    return scripted(world, lambda script: adapter.shelled(ask, script)) if isinstance(adapter, Shelled) else None


def is_shelled(crew: Crew) -> bool:
    """Return whether an agent that COMMAND starts has nothing better than its shells, which inherit our variable."""
    adapter = crew.adapter
    return isinstance(adapter, Shelled) and not isinstance(adapter, Hooked | Conversed)


def scripted(world: World, start: Callable[[str], Lane]) -> Opened | None:
    """Write the file for its shells, and return the start that names it."""
    script = world.scratch / "lane.sh"
    lane = start(str(script))
    if not is_free(world, lane):
        return None
    script.write_text(shell.script(world.scratch, before=world.environment.get("BASH_ENV", "")), encoding="utf-8")
    return laid(world, lane, Opened(lane.launch, script=script, files=(script,)))


def is_free(world: World, lane: Lane) -> bool:
    """Return whether the lane can be opened without taking settings away that are there already."""
    taken = [name for name, default in lane.takes.items() if name in world.environment or Path(default).exists()]
    return lane.is_open and not taken


def speaks_to_any(crew: Crew) -> bool:
    """Return whether the adapter is one of a protocol, so that a COMMAND as it was typed is spoken to as well."""
    return isinstance(crew.adapter, SpeaksToAny) and crew.adapter.takes_command


def laid(world: World, lane: Lane, opened: Opened) -> Opened:
    """Write the lane's files where only this iteration sees them."""
    paths = tuple(world.scratch / name for name in lane.files)
    for path, data in zip(paths, lane.files.values(), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_bytes(data)
    return replace(opened, files=(*opened.files, *paths))


def hook_command(world: World) -> tuple[str, ...]:
    """Return the program that agents call, copied out of reach of the work tree, anew for each iteration."""
    copy = world.scratch / "hook.py"
    shutil.copy(Path(hook.__file__), copy)
    return (sys.executable, "-I", "-S", str(copy))


def closed(opened: Opened) -> None:
    """Remove the lane's files: hooks are gone with their iteration."""
    for path in opened.files:
        path.unlink(missing_ok=True)


def removed(paths: Mapping[str, str]) -> None:
    """Remove the files an agent is to write, so that an old one is never read for a new one."""
    for path in paths.values():
        Path(path).unlink(missing_ok=True)


def left(paths: Mapping[str, str]) -> dict[str, bytes]:
    """Return what the agent wrote into them: plain files only; one that is too long counts as none."""
    found: dict[str, bytes] = {}
    for name, path in paths.items():
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            continue
        with open(descriptor, "rb") as file:
            data = file.read(FILE_CAP + 1)
        if len(data) <= FILE_CAP:
            found[name] = data
    return found
