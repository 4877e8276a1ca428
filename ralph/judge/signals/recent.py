"""Memory of bounded size: what was seen lately. The oldest half is forgotten at once, so each look costs O(1)."""

from __future__ import annotations

from typing import Generic, TypeVar

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """A map that keeps between `size` and `2 * size` of the newest entries; looking one up keeps it."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._young: dict[str, Value] = {}
        self._old: dict[str, Value] = {}

    def __len__(self) -> int:
        return len(self._young.keys() | self._old.keys())

    def __contains__(self, key: str) -> bool:
        return key in self._young or key in self._old

    def get(self, key: str) -> Value | None:
        """Return what is kept under the key, None where nothing is or it was forgotten."""
        found = self._young.get(key)
        if found is None and key in self._old:
            found = self._old[key]
            self.put(key, found)
        return found

    def put(self, key: str, value: Value) -> None:
        """Keep this under the key."""
        self._young[key] = value
        if len(self._young) >= self._size:
            self._old, self._young = self._young, {}

    def drop(self, key: str) -> None:
        """Forget one entry."""
        self._young.pop(key, None)
        self._old.pop(key, None)

    def clear(self) -> None:
        """Forget all."""
        self._young.clear()
        self._old.clear()


class Met:
    """A set of the same kind: says whether a key was met lately."""

    def __init__(self, size: int) -> None:
        self._seen: Recent[bool] = Recent(size)

    def add(self, key: str) -> bool:
        """Take note of a key; return whether it is new."""
        fresh = key not in self._seen
        self._seen.put(key, True)
        return fresh

    def __contains__(self, key: str) -> bool:
        return key in self._seen

    def clear(self) -> None:
        """Forget all."""
        self._seen.clear()
