"""The recorded runs of real agents, out of their archive, and what an adapter tells of one in comparable form."""

from __future__ import annotations

import functools
import json
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ralph.agents import adapter
from ralph.facts.event import (
    Event,
    Finished,
    Retrying,
    Said,
    Scope,
    Started,
    ToolCalled,
    ToolReturned,
    Troubled,
    UsageSeen,
)

HERE = Path(__file__).resolve().parent
ARCHIVE = HERE / "captures.tar.xz"
TABLE = HERE / "captures.jsonl"
FOLDERS = {"claude-code": "claude", "codex": "codex"}
"""Folder name without its version, and the adapter that reads it."""


@dataclass(frozen=True, slots=True)
class Capture:
    """One run. name: folder/scenario. exit: as Python tells it, negative for a signal."""

    name: str
    agent: str
    out: bytes
    err: bytes
    exit: int


@functools.cache
def captures() -> tuple[Capture, ...]:
    with tarfile.open(ARCHIVE) as archive:
        files = {m.name: stored.read() for m in archive if (stored := archive.extractfile(m)) is not None}
    found = []
    for name in sorted(n.removesuffix(".exit") for n in files if n.endswith(".exit")):
        agent = FOLDERS[name.split("/")[0].rsplit("-", 1)[0]]
        out = files.get(f"{name}.jsonl", files.get(f"{name}.txt", b""))
        found.append(Capture(name, agent, out, files.get(f"{name}.stderr", b""), int(files[f"{name}.exit"])))
    return tuple(found)


def expectations() -> dict[str, dict[str, object]]:
    rows = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]
    return {row.pop("capture"): row for row in rows}


def events_of(agent: str, out: Iterable[bytes], err: Iterable[bytes] = ()) -> list[Event]:
    reader = adapter(agent).reader()
    found = [e for line in err for e in reader.line("err", line)]
    found += [e for line in out for e in reader.line("out", line)]
    return [*found, *reader.end()]


def told(capture: Capture) -> dict[str, object]:
    """Return the row of the table for a capture: everything a judge could decide on."""
    events = events_of(capture.agent, capture.out.split(b"\n"), capture.err.split(b"\n"))
    row: dict[str, object] = {"exit": capture.exit, **summed(events)}
    found = adapter(capture.agent).diagnose(capture.err[-8192:])
    if found is not None:
        row["diagnosis"] = [found[0].value, found[1][:80]]
    return row


def summed(events: Iterable[Event]) -> dict[str, object]:
    """Return the events in short, keys without anything to say left out."""
    seen = list(events)
    names = {e.id: e.name for e in seen if isinstance(e, ToolCalled)}
    returned = [e for e in seen if isinstance(e, ToolReturned)]
    used = [e for e in seen if isinstance(e, UsageSeen)]
    live = {e.key: figures(e) for e in used if e.scope is Scope.CALL}
    row: dict[str, object] = {
        "model": [e.model for e in seen if isinstance(e, Started)],
        "said": [e.text[:20] for e in seen if isinstance(e, Said)],
        "tools": list(names.values()),
        "returned": len(returned),
        "failed": [names.get(e.id, "?") for e in returned if e.failed],
        "denied": [names.get(e.id, "?") for e in returned if e.denied],
        "live": [sum(column) for column in zip(*live.values(), strict=True)],
        "usage": [[e.scope.value, *figures(e), e.micro] for e in used if e.scope is not Scope.CALL],
        "retries": sum(isinstance(e, Retrying) for e in seen),
        "troubles": [trouble(e) for e in seen if isinstance(e, Troubled)],
        "finish": [[e.how.value, e.answer and e.answer[:20], e.turns] for e in seen if isinstance(e, Finished)],
    }
    return {key: value for key, value in row.items() if value}


def figures(usage: UsageSeen) -> tuple[int, ...]:
    t = usage.tokens
    return (t.input, t.output, t.cache_read, t.cache_write) if t else ()


def trouble(event: Troubled) -> list[str | None]:
    until = event.until.isoformat() if event.until else None
    return [event.kind.value, event.text[:60], until, "final" if event.final else "warning"]
