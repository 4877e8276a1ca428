"""Lines added and removed between two contents, as `git diff --numstat` counts them, where that is sure without git."""

from __future__ import annotations

from collections import Counter

BINARY_BYTES = 8000
"""git takes a content for binary if there is a zero byte in so many first ones."""
MOST_EDITS = 60
"""Up to so many edits counting here is cheaper than starting git."""


def counted(old: bytes, new: bytes) -> tuple[int, int] | None:
    """Return (added, removed); None where only git can say: binary content, lines repeated, too much changed.

    All shortest edits have the same two numbers, and git finds a shortest one as long as no line of the part that
    differs stands there twice: only such lines does it set aside beforehand. Source: git's xdiff/xprepare.c.
    """
    if b"\0" in old[:BINARY_BYTES] or b"\0" in new[:BINARY_BYTES]:
        return None
    one, two = _differing(_lines(old), _lines(new))
    common = set(one) & set(two)
    if not common:
        return len(two), len(one)
    if any(count > 1 and line in common for side in (one, two) for line, count in Counter(side).items()):
        return None
    edits = _edits(one, two)
    return None if edits is None else ((edits + len(two) - len(one)) // 2, (edits - len(two) + len(one)) // 2)


def _lines(data: bytes) -> list[bytes]:
    """Return the lines; the last one without a newline differs from the same one with it."""
    lines = data.split(b"\n")
    last = lines.pop()
    return [*lines, last + b"\\"] if last else lines


def _differing(one: list[bytes], two: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """Return both without the lines that they begin and end with in common."""
    most = min(len(one), len(two))
    head = next((n for n in range(most) if one[n] != two[n]), most)
    most -= head
    tail = next((n for n in range(most) if one[-1 - n] != two[-1 - n]), most)
    return one[head : len(one) - tail], two[head : len(two) - tail]


def _edits(one: list[bytes], two: list[bytes]) -> int | None:
    """Return the length of the shortest edit, None above `MOST_EDITS`. Source: Myers, An O(ND) Difference Algorithm."""
    furthest = {1: 0}
    for edits in range(MOST_EDITS + 1):
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])
            x = furthest[k + 1] if down else furthest[k - 1] + 1
            while x < len(one) and x - k < len(two) and one[x] == two[x - k]:
                x += 1
            furthest[k] = x
            if x >= len(one) and x - k >= len(two):
                return edits
    return None
