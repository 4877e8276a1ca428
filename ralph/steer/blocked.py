"""The agent's honest way to give up, however it reaches us: by the command or by two lines of text.

A claim like any other: it ends the run as `blocked`, it never counts as done.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ralph.facts.finding import Blocked

TEXT_CAP = 2000
TRIED_CAP = 20


def blocked_from_fields(fields: Mapping[str, object]) -> Blocked | str:
    """Return the claim in a socket message, or one sentence saying what is missing."""
    tried, needed = fields.get("tried"), fields.get("needed")
    names = [t for t in tried if isinstance(t, str)] if isinstance(tried, list) else []
    return _checked(names, needed if isinstance(needed, str) else "")


def blocked_from_answer(answer: str | None, token: str) -> Blocked | None:
    """Return the claim in the last lines of an agent's final message, None without a complete one.

    token: this iteration's own, so that a quoted example or an old answer never counts. Lines may carry
    blanks, CR, backticks and asterisks around them.
    """
    tried: list[str] = []
    needed = ""
    for line in (answer or "").splitlines()[-40:]:
        said = re.match(rf"{re.escape(token)} (tried|needed): (.+)", line.strip(" \t\r`*"))
        if said and said.group(1) == "tried":
            tried.append(said.group(2))
        elif said:
            needed = said.group(2)
    claim = _checked(tried, needed)
    return claim if isinstance(claim, Blocked) else None


def _checked(tried: list[str], needed: str) -> Blocked | str:
    kept = tuple(t.strip()[:TEXT_CAP] for t in tried if t.strip())[:TRIED_CAP]
    if not kept:
        return "say at least one thing you tried: --tried TEXT"
    if not needed.strip():
        return "say what you need to go on: --needed TEXT"
    return Blocked(kept, needed.strip()[:TEXT_CAP])
