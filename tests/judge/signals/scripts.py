"""Scripts of agents at work, as calls with their results: thirteen ways to be stuck, thirteen that look like it.

A script is a list of turns, a turn a list of calls made together. It is played through `StepMaker` as the events a
live stream brings, so that normalisation, classes and detectors are all in it. The start of the loop is known exactly.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from ralph.facts.event import Compacted, Event, Known, ToolCalled, ToolReturned
from ralph.facts.settings import Detect
from ralph.judge.signals.sighting import Level, Sighting
from ralph.judge.signals.step import Step
from ralph.judge.signals.steps import StepMaker
from ralph.judge.signals.watch import Look, Watch


@dataclass(frozen=True)
class Call:
    """One call and what it gives.

    agent: who made it, stream: what the adapter says who did. compacted: the agent's memory was, before it.
    seconds: time until its result.
    """

    tool: str
    args: dict[str, object] | None
    result: str = ""
    failed: bool | None = False
    known: Known = Known.KNOWN
    denied: bool = False
    agent: str = ""
    stream: str = ""
    compacted: bool = False
    seconds: float = 5.0


Turns = list[list[Call]]
Script = Callable[[Random, int], Turns]


@dataclass
class Played:
    """What came of a script: its steps, and all sightings."""

    steps: list[Step] = field(default_factory=list)
    seen: list[Sighting] = field(default_factory=list)

    def reached(self, level: Level) -> bool:
        """Return whether any loop reached this level."""
        return any(one.level >= level for one in self.seen)

    def by(self, detector: str) -> list[str]:
        """Return the levels one detector reported, in order."""
        return [one.level.word for one in self.seen if one.detector == detector]


def events(turns: Turns) -> Iterator[tuple[float, Event]]:
    """Yield the events of a script with their times: all calls of a turn, then all returns."""
    now, number = 0.0, 0
    for name, turn in enumerate(turns):
        ids = range(number, number + len(turn))
        number += len(turn)
        for i, call in zip(ids, turn, strict=True):
            if call.compacted:
                yield now, Compacted(call.stream)
            args = None if call.args is None else json.dumps(call.args)
            yield now, ToolCalled(f"call{i}", call.tool, args, f"turn{name}{call.agent}", call.stream)
        for i, call in zip(ids, turn, strict=True):
            now += call.seconds
            yield now, ToolReturned(f"call{i}", call.result, call.known, call.failed, call.denied, call.stream)


def steps_of(turns: Turns, detect: Detect | None = None) -> list[Step]:
    """Return the steps of a script."""
    maker, found = StepMaker(detect, root="/w/repo"), []
    for at, event in events(turns):
        if (step := maker.see(event, at=at)) is not None:
            found.append(step)
    return found


def play(
    turns: Turns, detect: Detect | None = None, *, look: Look | None = None, before: Sequence[Step] = ()
) -> Played:
    """Watch a script, after steps that came before it."""
    watch, played = Watch(detect, look=look), Played()
    last = before[-1] if before else None
    for step in [*before, *steps_of(turns, detect)]:
        here = step
        if last is not None and step not in before:
            turn, prompt = step.turn + last.turn + 1, step.prompt + last.prompt
            here = replace(step, index=step.index + len(before), turn=turn, prompt=prompt)
        played.steps.append(here)
        played.seen += watch.see(here)
    return played


# What calls are made of ------------------------------------------------------------------------------------------


def prose(rng: Random, words: int = 40) -> str:
    """Return a text nobody has seen before."""
    return " ".join("".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(3, 9))) for _ in range(words))


def name(rng: Random) -> str:
    """Return a name nobody has used before."""
    return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=10))


def read(path: str, text: str, **more: object) -> Call:
    """Return a read of a file."""
    return Call("Read", {"file_path": f"/w/repo/src/{path}.py", **more}, text)


def bash(command: str, result: str = "", *, failed: bool = False, seconds: float = 5.0) -> Call:
    """Return a shell command."""
    return Call("Bash", {"command": command, "description": "does it"}, result, failed, seconds=seconds)


def edit(path: str, text: str, *, failed: bool = False, result: str = "The file was updated.") -> Call:
    """Return an edit of a file."""
    return Call("Edit", {"file_path": f"/w/repo/src/{path}.py", "old_string": "x", "new_string": text}, result, failed)


def news(rng: Random) -> Call:
    """Return a call that brings something new."""
    return read(name(rng), prose(rng))


# Thirteen ways to be stuck ---------------------------------------------------------------------------------------


def identical_read(rng: Random, turns: int) -> Turns:
    call = read(name(rng), prose(rng))
    return [[call] for _ in range(turns)]


def identical_failure(rng: Random, turns: int) -> Turns:
    call = bash(f"make {name(rng)}", f"make: *** {prose(rng, 8)}", failed=True)
    return [[call] for _ in range(turns)]


def ping_pong(rng: Random, turns: int) -> Turns:
    return _in_turn([read(name(rng), prose(rng)), bash("git status", prose(rng, 12))], turns)


def cycle_of_three(rng: Random, turns: int) -> Turns:
    return _in_turn([news(rng) for _ in range(3)], turns)


def cycle_of_five(rng: Random, turns: int) -> Turns:
    return _in_turn([news(rng) for _ in range(5)], turns)


def same_error(rng: Random, turns: int) -> Turns:
    error = f"String to replace not found in file. {prose(rng, 6)}"
    return [[edit(name(rng), prose(rng, 5), failed=True, result=error)] for _ in range(turns)]


def other_errors(rng: Random, turns: int) -> Turns:
    return [[bash(f"./{name(rng)} --{name(rng)}", prose(rng, 9), failed=True)] for _ in range(turns)]


def drift(rng: Random, turns: int) -> Turns:
    base, answer = prose(rng, 60), prose(rng, 30)
    return [[Call("Grep", {"pattern": f"{base} {name(rng)}", "path": "src"}, answer)] for _ in range(turns)]


def no_op(rng: Random, turns: int) -> Turns:
    answer = f"Usage: {prose(rng, 20)}"
    return [[Call("Fetch", {"url": f"http://h/{name(rng)}", "what": prose(rng, 9)}, answer)] for _ in range(turns)]


def interleaved(rng: Random, turns: int) -> Turns:
    call, others = read(name(rng), prose(rng)), [news(rng) for _ in range(3)]
    return [[call] if n % 2 == 0 else [rng.choice(others)] for n in range(turns)]


def reading_again(rng: Random, turns: int) -> Turns:
    files = [news(rng) for _ in range(7)]
    rows = [rng.sample(files, len(files)) for _ in range(turns // len(files) + 1)]
    return [[call] for row in rows for call in row][:turns]


def fan_out(rng: Random, turns: int) -> Turns:
    calls = [news(rng) for _ in range(3)]
    return [rng.sample(calls, len(calls)) for _ in range(turns)]


def malformed(rng: Random, turns: int) -> Turns:
    return [
        [Call(name(rng), {"a": name(rng)}, f"Error: No such tool available: {name(rng)}", failed=True)]
        for _ in range(turns)
    ]


STUCK: dict[str, Script] = {
    script.__name__: script
    for script in (
        identical_read,
        identical_failure,
        ping_pong,
        cycle_of_three,
        cycle_of_five,
        same_error,
        other_errors,
        drift,
        no_op,
        interleaved,
        reading_again,
        fan_out,
        malformed,
    )
}


# Thirteen that look like it --------------------------------------------------------------------------------------


def polling_that_changes(rng: Random, turns: int) -> Turns:
    return [[Call("write_stdin", {"session_id": 7, "chars": ""}, prose(rng, 5))] for _ in range(3 * turns)]


def polling_that_rests(_rng: Random, turns: int) -> Turns:
    return [[Call("TaskOutput", {"task_id": "b7"}, "still running")] for _ in range(3 * turns)]


def sleeping(_rng: Random, turns: int) -> Turns:
    return [[bash("sleep 30 && cat build.log", "compiling")] for _ in range(turns)]


def paging(rng: Random, turns: int) -> Turns:
    return [[read("big", prose(rng, 80), offset=200 * n, limit=200)] for n in range(turns)]


def batch_edits(rng: Random, turns: int) -> Turns:
    return [[edit(f"part{n}", name(rng), result="ok")] for n in range(turns)]


def edit_and_green(rng: Random, turns: int) -> Turns:
    test = bash("pytest -q", "4 passed in 0.31s")
    return [[edit("core", prose(rng, 8))] if n % 2 == 0 else [test] for n in range(turns)]


def edit_and_red(rng: Random, turns: int) -> Turns:
    test = bash("pytest -q", f"1 failed, 3 passed in 0.{rng.randint(10, 99)}s", failed=True)
    return [[edit("core", prose(rng, 8))] if n % 2 == 0 else [test] for n in range(turns)]


def fan_out_of_errors(rng: Random, turns: int) -> Turns:
    error = "Error: the file is too large to be read at once; give offset and limit"
    burst = [[Call("Read", {"file_path": f"/w/repo/{name(rng)}.csv"}, error, failed=True) for _ in range(8)]]
    return [*burst, *research(rng, turns), *burst, *research(rng, turns)]


def research(rng: Random, turns: int) -> Turns:
    return [[news(rng)] for _ in range(turns)]


def empty_searches(rng: Random, turns: int) -> Turns:
    """Six in a row find nothing, then one does; all over several rounds."""
    found: Turns = []
    while len(found) < turns:
        row = [Call("Grep", {"pattern": prose(rng, 2), "path": "src"}, "No matches found") for _ in range(6)]
        found += [[call] for call in row]
        found.append([news(rng)])
    return found


def reading_after_compaction(rng: Random, turns: int) -> Turns:
    files = [news(rng) for _ in range(turns)]
    return [[call] for call in files] + [[replace(files[0], compacted=True)]] + [[call] for call in files[1:]]


def parallel_helpers(rng: Random, turns: int) -> Turns:
    files = [news(rng) for _ in range(turns)]
    return [[replace(call, agent=f"helper{n}", stream=f"helper{n}") for n in range(6)] for call in files]


def waiting_an_hour(rng: Random, turns: int) -> Turns:
    wait = Call("wait_agent", {"ids": ["a", "b"]}, "timed out", seconds=110.0)
    return [[news(rng)] if n % 12 == 0 else [replace(wait, result=f"{n} of 99 done")] for n in range(2 * turns)]


ALIKE: dict[str, Script] = {
    script.__name__: script
    for script in (
        polling_that_changes,
        polling_that_rests,
        sleeping,
        paging,
        batch_edits,
        edit_and_green,
        edit_and_red,
        fan_out_of_errors,
        research,
        empty_searches,
        reading_after_compaction,
        parallel_helpers,
        waiting_an_hour,
    )
}


# Four kinds of noise, and what adapters lose ---------------------------------------------------------------------


def volatile(turns: Turns, rng: Random) -> Turns:
    """Each result carries a time, a duration, a process id and a temporary name of its own."""

    def noisy(call: Call) -> Call:
        stamp = f"2026-03-{rng.randint(1, 28):02}T{rng.randint(0, 23):02}:11:{rng.randint(0, 59):02}Z"
        tail = f"pid {rng.randint(2, 99999)}, log in /tmp/{name(rng)}"
        long = f"[{stamp}] {call.result}\n{tail}" if len(call.result) > 60 else call.result
        return replace(call, result=f"{long} ({rng.random():.3f}s)") if call.result else call

    return [[noisy(call) for call in turn] for turn in turns]


def foreign(turns: Turns, rng: Random) -> Turns:
    """Every fifth turn or so, something unrelated is looked at."""
    found: Turns = []
    for n, turn in enumerate(turns):
        found.append(turn)
        if n % 5 == 4:
            found.append([news(rng)])
    return found


def parallel(turns: Turns, rng: Random) -> Turns:
    """Each turn keeps its books beside, and every fifth looks at something unrelated at the same time."""
    found: Turns = []
    for n, turn in enumerate(turns):
        todo = Call("TodoWrite", {"todos": [name(rng)]}, "ok")
        beside = [todo, news(rng)] if n % 5 == 4 else [todo]
        found.append([*turn, *(replace(call, agent=turn[0].agent, stream=turn[0].stream) for call in beside)])
    return found


def recovering(turns: Turns, rng: Random) -> Turns:
    """After four turns one try of something else, an edit that goes through; then the old way again."""
    return [*turns[:4], [edit(name(rng), prose(rng, 4))], [news(rng)], *turns[4:]]


NOISE: dict[str, Callable[[Turns, Random], Turns]] = {
    noise.__name__: noise for noise in (volatile, foreign, parallel, recovering)
}


def no_results(call: Call) -> Call:
    return replace(call, result="", known=Known.UNKNOWN)


def cut_results(call: Call) -> Call:
    return replace(call, result=call.result[:20], known=Known.TRUNCATED) if len(call.result) > 60 else call


def no_arguments(call: Call) -> Call:
    return replace(call, args=None)


def one_stream(call: Call) -> Call:
    return replace(call, stream="")


VIEWS: dict[str, Callable[[Call], Call]] = {
    view.__name__: view for view in (no_results, cut_results, no_arguments, one_stream)
}


def seen_through(view: Callable[[Call], Call], turns: Turns) -> Turns:
    """Return a script as an adapter tells it that loses something."""
    return [[view(call) for call in turn] for turn in turns]


def _in_turn(calls: list[Call], turns: int) -> Turns:
    return [[calls[n % len(calls)]] for n in range(turns)]
