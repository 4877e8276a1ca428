"""How fast an agent's events are decoded: a generated Claude stream, line by line, against `json.loads` of each line.

python -m benchmarks.stream [--quick]
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator

from benchmarks.measure import Figure, cpus, in_turns, ms, ratio
from ralph.agents.claude import Claude
from ralph.agents.claude_line import Line, Swift
from ralph.agents.lines import Lines
from ralph.judge.stream import RunMemory, StreamFold

MEGABYTES = 40
SHORTEST, LONGEST = 500, 10_000
CODE = (
    'def handler(event, ctx):\n    """Return the "payload" for événement."""\n    if not event["items"]:\n'
    '        raise ValueError(f"empty: {event!r}")\n    return [x * 2 for x in event["items"]]\n\n'
)
SESSION = "3f0d1c9e-aaaa-4bbb-8ccc-0123456789ab"


def figures(*, quick: bool = False) -> Iterator[Figure]:
    """Yield decoding of a line into its record, and what follows from it, which is Python's and told only."""
    lines = stream(MEGABYTES // 8 if quick else MEGABYTES)
    size = sum(map(len, lines)) / 1e6
    deeds = {
        "json": lambda: each_by_json(lines),
        "decode": lambda: decoded(lines),
        "events": lambda: told(lines),
        "fold": lambda: folded(lines),
    }
    taken = in_turns(deeds, rounds=5)
    base = cpus(taken["json"])
    head = f"{size:.0f} MB, {len(lines)} lines: json.loads {ms(base)}, ours "
    rows = (("decode", "event decode", 4.0), ("events", "line to common events", None), ("fold", "and fold", None))
    for key, what, target in rows:
        ours = cpus(taken[key])
        yield Figure(what, ratio(base, ours), "x", target, "json.loads, faster by", True, head + ms(ours))


def each_by_json(lines: list[bytes]) -> None:
    """Decode every line as anybody would."""
    for line in lines:
        json.loads(line)


def decoded(lines: list[bytes]) -> None:
    """Decode every line as the adapter does first."""
    take = Lines(Line, swift=Swift).take
    for line in lines:
        take(line)


def told(lines: list[bytes]) -> int:
    """Return the number of events that the adapter's reader makes of the lines."""
    reader, events = Claude().reader(), 0
    for line in lines:
        events += len(reader.line("out", line))
    return events


def folded(lines: list[bytes]) -> None:
    """Do all that is done with a line while an agent runs, but for the limits."""
    reader, fold = Claude().reader(), StreamFold(RunMemory())
    for line in lines:
        for event in reader.line("out", line):
            fold.see(event)


def stream(megabytes: int) -> list[bytes]:
    """Return lines shaped like `claude -p --output-format stream-json --verbose`, 0.5 to 10 kB each."""
    chance = random.Random(3)
    lines, size = [line(type="system", subtype="init", cwd="/repo", session_id=SESSION, model="m", tools=["Bash"])], 0
    while size < megabytes * 1e6:
        length = int(10 ** chance.uniform(0, 1) / 10 * (LONGEST - SHORTEST)) + SHORTEST
        lines.append(event(len(lines), max(length - 400, 10), chance))
        size += len(lines[-1])
    usage = {"input_tokens": 9, "output_tokens": 9}
    lines.append(line(type="result", subtype="success", is_error=False, result="done", num_turns=7, usage=usage))
    return lines


def event(number: int, length: int, chance: random.Random) -> bytes:
    """Return a text, a tool call or (four of ten) a tool result with the copy of it that this agent adds."""
    call, kind = f"toolu_{number:024d}", number % 10
    frame = {"session_id": SESSION, "parent_tool_use_id": None, "uuid": f"{number:032x}"}
    if kind >= 6:
        call = f"toolu_{number - 3:024d}"
        content = [{"tool_use_id": call, "type": "tool_result", "content": text(length // 2), "is_error": False}]
        copy = {"type": "text", "file": {"filePath": "/repo/x.py", "content": text(length // 2), "numLines": 12}}
        return line(type="user", message={"role": "user", "content": content}, tool_use_result=copy, **frame)
    edit = {"file_path": f"m{number % 97}.py", "old_string": text(length // 2), "new_string": text(length // 2)}
    told = {"type": "text", "text": text(length)}
    used = {"type": "tool_use", "id": call, "name": chance.choice(["Bash", "Edit", "Read"]), "input": edit}
    usage = {"input_tokens": 3, "cache_read_input_tokens": chance.randrange(99_999), "output_tokens": 9}
    message = {"model": "m", "id": f"msg_{number:024d}", "role": "assistant", "usage": usage}
    return line(type="assistant", message={**message, "content": [told if kind < 3 else used]}, **frame)


def text(length: int) -> str:
    """Return so many characters of source code."""
    return (CODE * (length // len(CODE) + 1))[:length]


def line(**fields: object) -> bytes:
    """Return one event as its line."""
    return json.dumps(fields).encode()


if __name__ == "__main__":
    for figure in figures(quick="--quick" in sys.argv):
        print(figure)
