"""Arguments of tools: the canonical form by which two calls are equal, and a simhash by which they are near.

Nothing is lower-cased and no paging key is dropped: paging is progress.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from zlib import crc32

VOLATILE_WORDS = """
description title reason explanation justification timeout timeout_ms timeout_s timeout_seconds yield_time_ms
yield_time max_output_tokens max_output_length output_limit max_chars run_in_background is_background
task_progress security_risk tool_call_description
"""
VOLATILE = frozenset(VOLATILE_WORDS.split())
BLANKS = re.compile(r"[ \t]+")
TOKEN = re.compile(r"\w+")
TOKENS = 128
CHARACTERS = 4096
"""Words, and characters they are looked for in, that a simhash is made of; what comes after hardly moves it."""
MASK = (1 << 64) - 1
DEEPEST = 16

Arguments = Mapping[str, object]


def parsed(args: str | None) -> Arguments | None:
    """Return the arguments as an object; a text that is none stands under "input". None where they are not told."""
    if args is None:
        return None
    try:
        value = json.loads(args)
    except (ValueError, RecursionError):
        return {"input": args}
    return value if isinstance(value, dict) else {"input": value}


def canonical(arguments: Arguments, *, keys: Sequence[str] = (), root: str = "") -> str:
    """Return a text that is equal for calls that are the same.

    keys: what alone counts, () for all that is not volatile. root: the work tree, whose paths become relative.
    """
    kept = {k: v for k, v in arguments.items() if (k in keys if keys else k not in VOLATILE)}
    try:
        text = json.dumps(_clean(kept or arguments), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError):
        text = str(kept)
    return text.replace(root.rstrip("/") + "/", "") if root.strip("/") else text


def simhash(text: str) -> int:
    """Return 64 bits of which near texts share most: by words and pairs of words. 0 for a text without words."""
    words = TOKEN.findall(text, 0, CHARACTERS)[:TOKENS]
    if not words:
        return 0
    single = [_mixed(crc32(word.encode("utf-8", "replace"))) for word in words]
    pairs = [_mixed(3 * one + other) for one, other in pairwise(single)]
    return _majority(_counted([*single, *pairs]), (2 * len(words) - 1) // 2)


def _mixed(number: int) -> int:
    """Return 64 well stirred bits. Source: the finaliser of splitmix64, its first half."""
    number = number * 0x9E3779B97F4A7C15 & MASK
    return (number ^ number >> 29) * 0xBF58476D1CE4E5B9 & MASK


def _clean(value: object, depth: int = 0) -> object:
    if isinstance(value, str):
        return BLANKS.sub(" ", value.replace("\r\n", "\n")).strip()
    if depth > DEEPEST:
        return str(value)
    if isinstance(value, dict):
        return {str(k): _clean(v, depth + 1) for k, v in value.items()}
    if isinstance(value, list):
        return [_clean(v, depth + 1) for v in value]
    return value


def _counted(hashes: Iterable[int]) -> list[int]:
    """Count each of the 64 bits in parallel: plane i holds bit i of all 64 counters."""
    planes: list[int] = []
    for carry in hashes:
        for i, plane in enumerate(planes):
            planes[i], carry = plane ^ carry, plane & carry
            if not carry:
                break
        else:
            planes.append(carry)
    return planes


def _majority(planes: list[int], half: int) -> int:
    """Return the bits whose counter is greater than half."""
    greater, equal = 0, MASK
    for i in reversed(range(max(len(planes), half.bit_length()))):
        plane = planes[i] if i < len(planes) else 0
        if half >> i & 1:
            equal &= plane
        else:
            greater |= equal & plane
            equal &= ~plane
    return greater
