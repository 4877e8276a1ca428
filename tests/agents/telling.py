"""Short ways to let an adapter read and to ask what it told."""

from __future__ import annotations

import json

from ralph.facts.event import Event, Finish, Finished, ToolReturned, Trouble, Troubled
from tests.agents.captures import events_of


def told(agent: str, *records: object, code: int | None = None) -> list[Event]:
    return events_of(agent, [json.dumps(r).encode() for r in records], code=code)


def text(agent: str, out: str, err: str = "", *, code: int | None = None) -> list[Event]:
    return events_of(agent, out.encode().split(b"\n"), err.encode().split(b"\n"), code=code)


def returned(events: list[Event]) -> list[ToolReturned]:
    return [e for e in events if isinstance(e, ToolReturned)]


def finishes(events: list[Event]) -> list[Finish]:
    return [e.how for e in events if isinstance(e, Finished)]


def troubles(events: list[Event]) -> list[Trouble]:
    return [e.kind for e in events if isinstance(e, Troubled)]
