"""How a CI runner reads a step's output: the rules of its command parsers, for tests that nothing of ours is one.

Source: GitHub's runner, ActionCommand.TryParseV2 (trimmed line begins with "::", a second "::" follows) and TryParse
("##[" anywhere, "]" behind it); Azure Pipelines' agent ("##vso[" anywhere).
"""

from __future__ import annotations

import re

_LINE = re.compile(r"\s*::.*::.*|\s*::.*", re.DOTALL)
_ANYWHERE = re.compile(r"##(?:vso)?\[")


def commands(printed: str) -> list[str]:
    """Return the lines that a runner would, strictly read, take for a command."""
    lines = re.split(r"\r\n|\r|\n", printed)
    return [line for line in lines if _LINE.fullmatch(line) or _ANYWHERE.search(line)]
