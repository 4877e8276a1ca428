"""Opens the lane by which advice reaches this agent: the best its adapter knows, none for a COMMAND as it was typed."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ralph.agents.adapter import Ask, Launch
from ralph.agents.lanes import Conversed, Hooked, Lane, Shelled, Talk
from ralph.facts.steer import Moment
from ralph.loop.world import World
from ralph.steer import hook, shell

MOMENTS: tuple[Moment, ...] = ("before", "after")


@dataclass(frozen=True, slots=True)
class Opened:
    """A start with its lane. talk: with a conversed agent. hooked: the adapter that reads its hooks' payloads.

    script: the file a shell lane speaks through. advises: the moments at which advice can be put.
    """

    launch: Launch
    talk: Talk | None = None
    hooked: Hooked | None = None
    script: Path | None = None
    advises: tuple[Moment, ...] = ()

    @property
    def is_laned(self) -> bool:
        """Return whether the agent can be spoken to."""
        return self.talk is not None or self.hooked is not None or self.script is not None


def opened(world: World, ask: Ask) -> Opened:
    """Return how the agent is started, its lane open."""
    crew = world.crew
    if crew.given:
        return Opened(Launch((*crew.program, *world.settings.agent.args), {}, "stdin"))
    adapter = crew.adapter
    if isinstance(adapter, Conversed):
        return Opened(laid(world, adapter.conversed(ask)), talk=adapter.talk(), advises=MOMENTS)
    if isinstance(adapter, Hooked):
        return Opened(laid(world, adapter.hooked(ask, hook_command(world))), hooked=adapter, advises=adapter.advises)
    if isinstance(adapter, Shelled):
        script = world.scratch / "lane.sh"
        script.write_text(shell.script(world.scratch), encoding="utf-8")
        return Opened(laid(world, adapter.shelled(ask, str(script))), script=script)
    return Opened(adapter.launch(ask))


def laid(world: World, lane: Lane) -> Launch:
    """Write the lane's files where only this iteration sees them, and return the start."""
    for name, data in lane.files.items():
        path = world.scratch / name
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_bytes(data)
    return lane.launch


def hook_command(world: World) -> tuple[str, ...]:
    """Return the program that agents call, copied out of reach of the work tree."""
    copy = world.scratch / "hook.py"
    if not copy.exists():
        shutil.copy(Path(hook.__file__), copy)
    return (sys.executable, "-I", "-S", str(copy))


def removed(paths: Mapping[str, str]) -> None:
    """Remove the files an agent is to write, so that an old one is never read for a new one."""
    for path in paths.values():
        Path(path).unlink(missing_ok=True)


def left(paths: Mapping[str, str], *, cap_bytes: int = 8 << 20) -> dict[str, bytes]:
    """Return what the agent wrote into them: plain files only, capped."""
    found: dict[str, bytes] = {}
    for name, path in paths.items():
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            continue
        with open(descriptor, "rb") as file:
            found[name] = file.read(cap_bytes)
    return found
