"""Text of ours made unfit to command a CI job: a runner reads commands from what a step prints (E11).

A runner takes `::name …::` at the start of a line, blanks before it allowed, and `##[name]` (`##vso[name]`) wherever
it stands in one. Neither survives here. Foreign text of several lines gets a gutter, so that none of its lines can
pose as one of ours (B9). The outputs of a job are given by files, never by printed commands, so nothing is lost.

Source: GitHub's "Workflow commands" and its runner's ActionCommand parser; Azure Pipelines' "Logging commands".
"""

from __future__ import annotations

import re

GUTTER = "│ "
"""Before every foreign line."""
_COMMAND = re.compile(r"^(\s*)(?=::)", re.MULTILINE)
_ANYWHERE = re.compile(r"##(?=(?:vso)?\[)")


def harmless(text: str) -> str:
    """Return the text with every command defused: a gutter before `::`, a blank inside `##[`. Idempotent."""
    return _ANYWHERE.sub("# #", _COMMAND.sub(rf"\1{GUTTER}", text))


def harmless_json(document: str) -> str:
    """Return the same JSON value, written so that no command stands in it. Foreign text is in its strings only."""
    return document.replace("##[", "##\\u005b").replace("##vso[", "##vso\\u005b")


def behind_gutter(text: str) -> str:
    """Return each line of a foreign text behind the gutter, and free of commands."""
    return harmless("\n".join(GUTTER + line for line in text.split("\n")))


def continued(text: str) -> str:
    """Return a text whose first line follows words of ours: the others stand behind the gutter."""
    return harmless(text.replace("\n", f"\n{GUTTER}"))
