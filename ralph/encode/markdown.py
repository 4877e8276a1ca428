"""Foreign text made fit for Markdown that a browser or a job summary renders (E10).

No markup of ours can be left, no link, image, mention or HTML made: every character that starts one is
escaped or broken. Source: CommonMark 0.31, section 2.4 (backslash escapes).
"""

from __future__ import annotations

import re

from ralph.encode.terminal import clean, one_line

_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~&:$=^\"'])")


def inline(text: str, limit: int = 200) -> str:
    """Return one line that renders as exactly its text. A zero-width break keeps @mentions from mentioning."""
    return _SPECIAL.sub(r"\\\1", one_line(text, limit)).replace("@", "@<!-- -->")


def cell(text: str, limit: int = 120) -> str:
    """Return text for one cell of a table."""
    return inline(text, limit)


def fenced(text: str, limit: int = 20_000) -> str:
    """Return a code block whose fence is longer than any run of backticks inside."""
    shown = clean(text[:limit])
    longest = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{shown}\n{fence}"
