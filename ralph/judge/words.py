"""How numbers, money and names are said in the one line of a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ralph.facts.usage import MICRO

NAMED = 3
QUOTE = 200


def dollars(micro: int) -> str:
    """Return micro-dollars as "$1.25"; parts of a cent are shown only where there is nothing else."""
    value = micro / MICRO
    return f"${value:.2f}" if micro == 0 or value >= 0.01 else f"${value:.6f}"


def span(numbers: Sequence[int]) -> str:
    """Return "iteration 4", "iterations 5-7" for a row without gaps, or "iterations 3, 5, 9"."""
    if len(numbers) == 1:
        return f"iteration {numbers[0]}"
    if numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"iterations {numbers[0]}-{numbers[-1]}"
    return "iterations " + ", ".join(map(str, numbers))


def some(names: Iterable[str], *, of: int = NAMED) -> str:
    """Return the first names, and how many more there are."""
    every = list(names)
    rest = len(every) - of
    return ", ".join(every[:of]) + (f" and {rest} more" if rest > 0 else "")


def quote(text: str) -> str:
    """Return foreign text on one line, blanks squeezed and capped; sinks sanitise what is left."""
    line = " ".join(text[: 10 * QUOTE].split())
    return line if len(line) <= QUOTE else line[: QUOTE - 1] + "…"


def lasting(seconds: float) -> str:
    """Return a duration as people say it: "45 s", "5 min", "2 h 5 min"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    hours, rest = divmod(minutes, 60)
    if not hours:
        return f"{minutes} min"
    return f"{hours} h {rest} min" if rest else f"{hours} h"
