"""The agents ralph can drive: an agent a file, a row in `ADAPTERS`."""

from __future__ import annotations

from ralph.agents.acp import Acp
from ralph.agents.adapter import Adapter
from ralph.agents.aider import Aider
from ralph.agents.amp import Amp
from ralph.agents.claude import Claude
from ralph.agents.codex import Codex
from ralph.agents.copilot import Copilot
from ralph.agents.cursor import Cursor
from ralph.agents.gemini import Gemini
from ralph.agents.mini import Mini
from ralph.agents.opencode import Opencode
from ralph.agents.plain import Plain
from ralph.agents.qwen import Qwen
from ralph.errors import UserError

_IN_ORDER: tuple[Adapter, ...] = (
    Claude(),
    Codex(),
    Gemini(),
    Opencode(),
    Copilot(),
    Qwen(),
    Aider(),
    Mini(),
    Amp(),
    Cursor(),
    Acp(),
    Plain(),
)
ADAPTERS: dict[str, Adapter] = {known.name: known for known in _IN_ORDER}
"""By name, in the order in which PATH is searched when the user names none."""


def adapter(name: str) -> Adapter:
    """Return the adapter of this name.

    Raises: UserError for a name nobody has, listing those that exist.
    """
    found = ADAPTERS.get(name)
    if found is None:
        raise UserError(f'unknown agent "{name}"', where="agent.name", fix=f"Known agents: {', '.join(ADAPTERS)}.")
    return found
