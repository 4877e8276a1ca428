"""Things worth a person's eye that ralph saw, and loops noticed inside an iteration."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One observation. kind: a word of the closed table in `judge/tampering.py` or `repo`; blocks: keeps `done` off.

    detail: one line for people, raw (sinks sanitise). subjects: paths, test ids or config keys, sorted.
    """

    kind: str
    detail: str
    subjects: tuple[str, ...] = ()
    blocks: bool = False


@dataclass(frozen=True, slots=True)
class Signal:
    """A loop noticed inside an iteration: the detector's name, its level and the steps it rests on."""

    detector: str
    level: str
    steps: tuple[int, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Blocked:
    """The agent's honest way to give up: what it tried (at least one) and what it needs."""

    tried: tuple[str, ...]
    needed: str
