"""The agents ralph can drive: an agent a file, a row in `ADAPTERS`."""

from __future__ import annotations

from ralph.agents.adapter import Adapter
from ralph.agents.claude import Claude
from ralph.agents.codex import Codex
from ralph.agents.plain import Plain
from ralph.errors import UserError

ADAPTERS: dict[str, Adapter] = {a.name: a for a in (Claude(), Codex(), Plain())}
"""By name, in the order in which PATH is searched when the user names none."""


def adapter(name: str) -> Adapter:
    """Return the adapter of this name.

    Raises: UserError for a name nobody has, listing those that exist.
    """
    found = ADAPTERS.get(name)
    if found is None:
        raise UserError(f'unknown agent "{name}"', where="agent.name", fix=f"Known agents: {', '.join(ADAPTERS)}.")
    return found
