"""What an agent in a loop is told: one template a signal, filled with what was repeated, how often and what it gave.

Foreign text in it is the agent's own: calls it made and results it was given, quoted short and cleaned.
"""

from __future__ import annotations

from collections.abc import Iterator

from ralph.encode.terminal import one_line
from ralph.judge.signals.sighting import Answer, Sighting
from ralph.prompt import filled, own_command

RESULT_SHOWN = 500
CALL_SHOWN = 160
STEPS_SHOWN = 8

HINTS = {
    "empty": "It found nothing: ask a broader question, or look elsewhere.",
    "bare-error": "The error says little; read what it is about before you try again: {quote}",
    "too-large": "The result was too large to use: ask for a narrower part of it.",
    "truncated": "The result was cut off: ask for a narrower part of it.",
    "other": "",
}


def advice(sighting: Sighting) -> str:
    """Return the advice for one sighting, ready to be read behind any stock prefix."""
    values = {
        "count": str(sighting.count),
        "steps": ", ".join(str(step) for step in sighting.steps[-STEPS_SHOWN:]) or "the last ones",
        "detail": one_line(sighting.detail),
        "calls": "\n".join(_calls(sighting)),
        "hint": _hint(sighting.origin),
        "command": own_command(),
    }
    text = filled(f"signal/{sighting.detector}", values)
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())


def _calls(sighting: Sighting) -> Iterator[str]:
    for answer in sighting.answers:
        result = one_line(answer.result, RESULT_SHOWN) or "(empty)"
        yield f"- {one_line(answer.tool, 60)} {one_line(answer.call, CALL_SHOWN)} gave: {result}"


def _hint(origin: Answer | None) -> str:
    return "" if origin is None else HINTS[origin.kind].format(quote=one_line(origin.result, RESULT_SHOWN))
