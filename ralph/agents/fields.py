"""Reading fields of decoded JSON of any type: what fits is taken, what does not is absent, nothing raises."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence

import msgspec

from ralph.facts.usage import MICRO

TEXT_CAP = 64 << 10
"""Longest text of one event, in characters; head and tail are kept of a longer one."""
COUNT_CAP = 10**12
"""More tokens, turns or dollars than this is a forged or broken figure, and counts as absent."""


def mapping(value: object) -> Mapping[str, object]:
    """Return the object, {} for anything else."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> Sequence[object]:
    """Return the array, () for anything else."""
    return value if isinstance(value, list) else ()


def word(value: object, cap: int = 256) -> str:
    """Return a short text (an id, a name, a kind), "" for anything else; cut at `cap` characters."""
    if not isinstance(value, str):
        return ""
    if len(value) <= cap and value.isascii():
        return value
    return clean(value[:cap])


def text(value: object, cap: int = TEXT_CAP) -> str | None:
    """Return the text, capped, None for anything else."""
    return shortened(clean(value), cap)[0] if isinstance(value, str) else None


def clean(value: str) -> str:
    """Return the text without lone surrogates: JSON can spell them, but no file or hash takes them."""
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


def shortened(value: str, cap: int = TEXT_CAP) -> tuple[str, bool]:
    """Return the text and whether it was cut.

    A cut one keeps head and tail around a mark with its length and digest, so that two texts that differ
    only in the middle stay different.
    """
    if len(value) <= cap:
        return value, False
    mark = f"\n… {len(value)} characters, {digest(value)} …\n"
    half = max(0, cap - len(mark)) // 2
    return value[:half] + mark + value[len(value) - half :], True


def digest(value: str) -> str:
    """Return 16 hex digits that stand for the text."""
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def count(value: object) -> int | None:
    """Return a whole number from 0 to COUNT_CAP, None for anything else."""
    if type(value) is int:  # nearly always; a bool is another type
        return value if 0 <= value <= COUNT_CAP else None
    if not isinstance(value, float) or not 0 <= value <= COUNT_CAP or value != int(value):
        return None
    return int(value)


def seconds(value: object, *, per_second: float = 1.0) -> float | None:
    """Return a duration of 0 to 10 years given in units of 1/per_second, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value <= 315_360_000 * per_second:
        return None
    return value / per_second


def micro(value: object) -> int | None:
    """Return dollars as micro-dollars, rounded up, None for anything that is no amount of money."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value <= COUNT_CAP / MICRO:
        return None
    # Binary fractions: 0.022000000000000002 is 22,000 micro-dollars, not 22,001.
    return math.ceil(round(value * MICRO, 3))


def plain_text(content: object) -> str:
    """Return the text of a content field: a string, or blocks, of which those without text leave a digest."""
    if not isinstance(content, list):
        return text(content, 1 << 24) or ""
    return "\n".join(_block_text(mapping(b)) for b in content)


def _block_text(block: Mapping[str, object]) -> str:
    said = text(block.get("text"), 1 << 24)
    return said if said is not None else f"[{word(block.get('type'))} {canonical(dict(block), 64)}]"


def canonical(value: object, cap: int = TEXT_CAP) -> str | None:
    """Return JSON text that is equal for equal values: keys sorted, no blanks; None if it cannot be written.

    Too long: its long strings are shortened; still too long: an object with the digest of the whole.
    """
    whole = _dumped(value)
    if whole is None or len(whole) <= cap:
        return whole
    if isinstance(value, dict):
        short = {k: shortened(v, 2048)[0] if isinstance(v, str) else v for k, v in value.items()}
        less = _dumped(short)
        if less is not None and len(less) <= cap:
            return less
    return _dumped({"oversized": digest(whole)})


def _dumped(value: object) -> str | None:
    try:
        return msgspec.json.encode(value, order="sorted").decode()
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError):
        return _slowly_dumped(value)


def _slowly_dumped(value: object) -> str | None:
    """Return what Python's own writer makes of lone surrogates and the like."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError):
        return None
