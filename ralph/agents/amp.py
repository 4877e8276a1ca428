"""Amp, headless: `amp -x --stream-json`, prompt on stdin. Never run here: it needs its own service.

Source: the "Streaming JSON" appendix of its manual, https://ampcode.com/manual/appendix, and its `--help`.
"""

from __future__ import annotations

from ralph.agents.adapter import Abilities, Ask, Launch
from ralph.agents.fields import count, mapping
from ralph.agents.limits import diagnosis
from ralph.agents.message_stream import MessageReader
from ralph.facts.event import Trouble
from ralph.facts.usage import Tokens


def tokens_of(usage: object) -> Tokens | None:
    """Return the normalised tokens: its documented examples count cached tokens as input."""
    found = mapping(usage)
    whole, out = count(found.get("input_tokens")) or 0, count(found.get("output_tokens")) or 0
    read = count(found.get("cache_read_input_tokens")) or 0
    write = count(found.get("cache_creation_input_tokens")) or 0
    # Where the parts are more than the whole, they stand beside it.
    plain = whole - read if whole >= read + write else whole + write
    tokens = Tokens(plain, out, read, write)
    return tokens if tokens != Tokens() else None


class Amp:
    """Amp."""

    name = "amp"
    programs: tuple[str, ...] = ("amp",)
    abilities = Abilities(
        reports_tokens="live",
        reports_tools=True,
        reports_turns=True,
        note="from its documentation, not run; reports no dollars; -m is one of its modes; "
        "it has no mode for edits alone, so that is its own permissions",
        documented=True,
    )

    def launch(self, ask: Ask) -> Launch:
        """Return argv."""
        argv = [*ask.program, "-x", "--stream-json"]
        if ask.permissions == "ask-nothing":
            argv.append("--dangerously-allow-all")
        if ask.model is not None:
            argv += ["-m", ask.model]
        return Launch((*argv, *ask.args), {"NO_COLOR": "1"})

    def reader(self) -> MessageReader:
        """Return a fresh reader."""
        return MessageReader(tokens_of)

    def diagnose(self, error_tail: bytes) -> tuple[Trouble, str] | None:
        """Return what it says on stderr when it cannot even start: no login, out of credits, unknown flag."""
        return diagnosis(error_tail)
