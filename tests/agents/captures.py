"""The recorded runs of real agents, out of their archive, and what an adapter tells of one in comparable form."""

from __future__ import annotations

import functools
import json
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ralph.agents import adapter
from ralph.agents.adapter import afterword
from ralph.agents.mini_trajectory import TRAJECTORY
from ralph.facts.ending import Ended, Exited, Signalled
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
from ralph.judge.outcome import classify
from ralph.judge.stream import StreamFold

HERE = Path(__file__).resolve().parent
ARCHIVE = HERE / "captures.tar.xz"
TABLE = HERE / "captures.jsonl"
FOLDERS = {
    "aider": "aider",
    "claude-code": "claude",
    "codex": "codex",
    "copilot-cli": "copilot",
    "gemini-cli": "gemini",
    "mini-swe-agent": "mini",
    "opencode": "opencode",
    "qwen-code": "qwen",
}
"""Folder name without its version, and the adapter that reads it."""


@dataclass(frozen=True, slots=True)
class Capture:
    """One run. name: folder/scenario. exit: as Python tells it, negative for a signal. files: what it left behind."""

    name: str
    agent: str
    out: bytes
    err: bytes
    exit: int
    files: Mapping[str, bytes]

    @property
    def code(self) -> int | None:
        """Return its exit code, None if a signal ended it."""
        return self.exit if self.exit >= 0 else None


@functools.cache
def archived() -> Mapping[str, bytes]:
    with tarfile.open(ARCHIVE) as archive:
        return {m.name: stored.read() for m in archive if (stored := archive.extractfile(m)) is not None}


@functools.cache
def captures() -> tuple[Capture, ...]:
    files = archived()
    found = []
    for name in sorted(n.removesuffix(".exit") for n in files if n.endswith(".exit")):
        agent = FOLDERS[name.split("/")[0].rsplit("-", 1)[0]]
        out = files.get(f"{name}.jsonl", files.get(f"{name}.txt", b""))
        left = {TRAJECTORY: files[f"{name}.traj.json"]} if f"{name}.traj.json" in files else {}
        found.append(Capture(name, agent, out, files.get(f"{name}.stderr", b""), int(files[f"{name}.exit"]), left))
    return tuple(found)


def expectations() -> dict[str, dict[str, object]]:
    rows = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]
    return {row.pop("capture"): row for row in rows}


def events_of(
    agent: str,
    out: Iterable[bytes],
    err: Iterable[bytes] = (),
    *,
    files: Mapping[str, bytes] | None = None,
    code: int | None = None,
) -> list[Event]:
    """Return all that a reader tells of these lines, files and exit code, in the order in which the loop asks."""
    reader = adapter(agent).reader()
    found = [e for line in err for e in reader.line("err", line)]
    found += [e for line in out for e in reader.line("out", line)]
    found += reader.end()
    return [*found, *afterword(reader, files or {}, code=code)]


def heard(capture: Capture) -> list[Event]:
    out, err = capture.out.split(b"\n"), capture.err.split(b"\n")
    return events_of(capture.agent, out, err, files=capture.files, code=capture.code)


def told(capture: Capture) -> dict[str, object]:
    """Return the row of the table for a capture: everything a judge could decide on, and what it decides."""
    events = heard(capture)
    found = adapter(capture.agent).diagnose(capture.err[-8192:])
    row: dict[str, object] = {"exit": capture.exit, "outcome": outcome(capture, events), **summed(events)}
    if found is not None:
        row["diagnosis"] = [found[0].value, found[1][:80]]
    return row


def outcome(capture: Capture, events: Iterable[Event]) -> str:
    """Return how an iteration with these events ends, if nothing of ours ended it and it lived for a while."""
    fold = StreamFold()
    for event in events:
        fold.see(event)
    how = Exited(capture.exit) if capture.exit >= 0 else Signalled(-capture.exit)
    printed, complained = len(capture.out), len(capture.err)
    tail = capture.err[-8192:]
    ended = Ended(how, elapsed_s=60.0, bytes_out=printed, bytes_err=complained, error_tail=tail)
    diagnosis = adapter(capture.agent).diagnose(ended.error_tail)
    return classify(ended, fold.facts(), diagnosis=diagnosis, new_state=False).outcome.value


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
        "micro": sum(e.micro or 0 for e in used if e.scope is Scope.CALL),
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
