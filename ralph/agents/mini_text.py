"""mini-swe-agent's text into common events, while it works; how it ended is told by its trajectory file.

A step begins with its number and the dollars so far, then come the model's words, each command between two fences,
and each result below "Tool:". Lines are wrapped at 80 columns.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Literal

from ralph.agents.fields import TEXT_CAP, canonical, clean, shortened
from ralph.agents.mini_trajectory import SUBMIT, TRAJECTORY, decoded, ended, finished, steps, used
from ralph.agents.statuses import LITELLM
from ralph.facts import event as ev
from ralph.facts.event import Event, Known, Scope

LINE_CAP = 16 << 10
CALLS_CAP = 256
STEP = re.compile(r"mini-swe-agent \(step (\d{1,9}), \$(\d{1,9})\.(\d\d)\):$")
RULE = re.compile(r"─{20,}$")
RETRY = re.compile(r"Retrying \S{1,80} in (\d{1,6}(?:\.\d{1,6})?) seconds as it raised (.{1,500})")
HEADINGS = {"User:": "user", "System:": "user", "Tool:": "tool", "Exit:": "exit"}
SAVED = "Saved trajectory to "
FENCE = "```"


class MiniReader:
    """Reads one run. part: which section of the text the next line belongs to."""

    def __init__(self) -> None:
        self._part = ""
        self._step = 0
        self._calls = 0
        self._block: list[str] = []
        self._held = 0
        self._open: deque[str] = deque(maxlen=CALLS_CAP)
        self._answer: str | None = None
        self._exit: list[str] | None = None
        self._ended = False

    def line(self, stream: Literal["out", "err"], line: bytes) -> tuple[Event, ...]:
        """Return the events of one line; of stderr only announced retries count."""
        words = clean(line[:LINE_CAP].decode("utf-8", "replace")).rstrip("\r\n ")
        return tuple(self._line(words) if stream == "out" else _stderr(words))

    def end(self) -> tuple[Event, ...]:
        """Return the section that was open."""
        return tuple(self._close(""))

    def file(self, name: str, data: bytes) -> tuple[Event, ...]:
        """Return what the trajectory tells beyond the text."""
        if name != TRAJECTORY:
            return ()
        document = decoded(data)
        found = [] if self._step else list(steps(document))
        last = next((e.text for e in reversed(found) if isinstance(e, ev.Said)), None)
        how = tuple(ended(document, self._answer or last))
        self._ended = bool(how)
        return (*found, *used(document), *how)

    def exited(self, code: int) -> tuple[Event, ...]:
        """Return how it ended by its text, where there was no trajectory."""
        if self._ended or self._exit is None:
            return ()
        words = " ".join(self._exit)[:2048]
        name = words.split(":")[0].removeprefix("litellm.")
        status = name if name in LITELLM or " " not in name else "Error"
        if not words and code != 0:
            return ()
        return tuple(finished(status or "Submitted", words, answer=self._answer, turns=self._step or None))

    def _line(self, line: str) -> Iterator[Event]:
        if step := STEP.match(line):
            yield from self._close("said")
            yield from self._stepped(step)
        elif line in HEADINGS:
            yield from self._close(HEADINGS[line])
        elif RULE.match(line):
            yield from self._close("")
        elif line == FENCE and self._part in ("said", "command"):
            yield from self._close("command" if self._part == "said" else "said")
        elif self._part == "exit":
            if line and not line.startswith(SAVED) and self._exit is not None:
                self._exit = [*self._exit[:8], line[:512]]
        elif self._part in ("said", "command", "tool"):
            self._block.append(line)
            self._held += len(line) + 1
            if self._held > 4 * TEXT_CAP:
                self._trim()

    def _trim(self) -> None:
        whole = shortened("\n".join(self._block))[0]
        self._block, self._held = [whole], len(whole)

    def _stepped(self, step: re.Match[str]) -> Iterator[Event]:
        self._step = int(step[1])
        # Rounded to cents: at least half a cent less is sure, and 0 may be a model without a price.
        sure = (int(step[2]) * 100 + int(step[3])) * 10_000 - 5000
        if sure > 0:
            yield ev.UsageSeen(Scope.RUN, "", None, sure)

    def _close(self, part: str) -> Iterator[Event]:
        """Yield what the section that ends told, and open the next."""
        whole = "\n".join(self._block)
        ending, self._part = self._part, part
        self._block, self._held = [], 0
        if part == "exit":
            self._exit = []
        if ending == "said" and whole.strip():
            self._answer = shortened(whole.strip())[0]
            yield ev.Said(self._answer, self._turn)
        elif ending == "command" and SUBMIT not in whole:
            self._calls += 1
            self._open.append(f"call_{self._calls}")
            yield ev.ToolCalled(self._open[-1], "bash", canonical({"command": whole}), self._turn)
        elif ending == "tool" and self._open:
            yield _returned(self._open.popleft(), whole)

    @property
    def _turn(self) -> str:
        return f"step_{self._step}"


def _stderr(line: str) -> Iterator[Event]:
    if found := RETRY.match(line):
        yield ev.Retrying(found[2], float(found[1]))


def _returned(call: str, shown: str) -> ev.ToolReturned:
    """Return what stands below "Tool:": names of fields in angle brackets, each above its value."""
    head, _, output = shown.partition("\n<output")
    code = head.removeprefix("<returncode>").strip()
    elided = output.startswith("_head>")
    result, cut = shortened(output.partition("\n")[2].strip() if output else shown.strip())
    failed = code != "0" if code.lstrip("-").isdecimal() else None
    return ev.ToolReturned(call, result, Known.TRUNCATED if cut or elided else Known.KNOWN, failed)
