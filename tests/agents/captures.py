"""The recorded runs of real agents, out of their archive, and what an adapter tells of one in comparable form."""

from __future__ import annotations

import functools
import json
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ralph.agents import adapter
from ralph.facts.event import Event, Finished, Said, Started, ToolCalled, ToolReturned, Troubled, UsageSeen

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
    row: dict[str, object] = {}
    names: dict[str, str] = {}
    calls: dict[str, tuple[int, ...]] = {}
    said = 0
    for event in events:
        match event:
            case Started():
                row["model"] = event.model
            case Said():
                said += 1
            case ToolCalled():
                names[event.id] = event.name
                row.setdefault("tools", []).append(event.name)  # type: ignore[attr-defined]
            case ToolReturned():
                for fact, holds in (("failed", event.failed), ("denied", event.denied)):
                    if holds:
                        row.setdefault(fact, []).append(names.get(event.id, "?"))  # type: ignore[attr-defined]
                row["returned"] = int(str(row.get("returned", 0))) + 1
            case UsageSeen():
                t = event.tokens
                figures = (t.input, t.output, t.cache_read, t.cache_write) if t else ()
                if event.scope.value == "call":
                    calls[event.key] = figures
                else:
                    money = [f"{event.micro} {event.scope.value}"] if event.micro is not None else []
                    row["usage"] = [*row.get("usage", []), *figures, *money]  # type: ignore[misc]
            case Troubled():
                until = event.until.isoformat() if event.until else None
                seen = [event.kind.value, event.text[:60], until, "final" if event.final else "warning"]
                row.setdefault("troubles", []).append(seen)  # type: ignore[attr-defined]
            case Finished():
                answer = event.answer[:40] if event.answer else event.answer
                row.setdefault("finish", []).append([event.how.value, answer, event.turns])  # type: ignore[attr-defined]
            case _:
                row["retries"] = int(str(row.get("retries", 0))) + 1
    if calls:
        row["live"] = [sum(column) for column in zip(*calls.values(), strict=True)]
    if said:
        row["said"] = said
    return row
