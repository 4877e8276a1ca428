"""aider's plain text into common events.

A model call that went well ends with a line of its tokens. An error starts with the name of an exception, and was the
last word unless a line says that it retries. How the run ended is told with its exit code, which is 0 nearly always.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from ralph.agents.fields import TEXT_CAP, canonical, clean, micro, shortened
from ralph.agents.statuses import LITELLM, weighed
from ralph.facts import event as ev
from ralph.facts.event import Event, Finish, Known, Scope
from ralph.facts.usage import Tokens

LINE_CAP = 16 << 10
VERSION = re.compile(r"Aider v(\d[\w.+-]{0,40})$")
MODEL = re.compile(r"(?:Main model|Model): (\S{1,200}) with .{1,60} edit format")
BEGINS = re.compile(r"Repo-map: ")
NUMBER = r"(\d{1,9}(?:\.\d{1,4})?[kM]?)"
TOKENS = re.compile(
    rf"Tokens: {NUMBER} sent(?:, {NUMBER} cache write)?(?:, {NUMBER} cache hit)?, {NUMBER} received\."
    r"(?: Cost: \$(\d{1,9}(?:\.\d{1,12})?) message, \$\d{1,9}(?:\.\d{1,12})? session\.)?$"
)
ERROR = re.compile(r"litellm\.(\w{1,60}): ")
RETRY = re.compile(r"Retrying in (\d{1,6}(?:\.\d{1,3})?) seconds\.\.\.$")
EDITED = re.compile(r"Applied edit to (.{1,1024})$")
COMMIT = re.compile(r"Commit [0-9a-f]{7,40} ")
CUT_OFF = re.compile(r"Model \S{1,200} has hit a token limit!$")


def number(shown: str | None) -> int:
    """Return a count as it is shown, rounded: "734", "2.5k", "1.2M"."""
    if shown is None:
        return 0
    scale = {"k": 1000, "M": 1_000_000}.get(shown[-1], 1)
    return round(float(shown.rstrip("kM")) * scale)


class AiderReader:
    """Reads one run."""

    def __init__(self) -> None:
        self._version: str | None = None
        self._up = self._begun = False
        self._said: list[str] = []
        self._held = 0
        self._calls = self._edits = 0
        self._after = False
        self._answer: str | None = None
        self._how: Finish | None = None
        self._error: list[str] = []

    def line(self, stream: Literal["out", "err"], line: bytes) -> tuple[Event, ...]:
        """Return the events of one line of stdout."""
        if stream == "err":
            return ()
        return tuple(self._line(clean(line[:LINE_CAP].decode("utf-8", "replace")).rstrip("\r\n ")))

    def end(self) -> tuple[Event, ...]:
        """Return the words that no line of tokens followed."""
        return () if self._after else tuple(self._spoken())

    def exited(self, code: int) -> tuple[Event, ...]:
        """Return how it ended: an error that no retry followed, else what the last model call left."""
        if self._error:
            words = " ".join(self._error)[:2048]
            named = ERROR.match(words)
            kind = weighed(LITELLM.get(named[1]) if named else None, words)
            troubles = () if kind is None else (ev.Troubled(kind, words),)
            return (*troubles, ev.Finished(Finish.FAILED, None, words, self._calls or None))
        if self._how is None or code != 0:
            return ()
        return (ev.Finished(self._how, self._answer, "", self._calls or None),)

    def _line(self, line: str) -> Iterator[Event]:
        if used := TOKENS.match(line):
            self._begun = True
            yield from self._used(used)
        elif not self._begun:
            yield from self._preamble(line)
        elif self._after and (edited := EDITED.match(line)):
            yield from self._edited(edited[1])
        elif self._after and COMMIT.match(line):
            self._drop()
        elif waits := RETRY.match(line):
            yield ev.Retrying(" ".join(self._error)[:500], float(waits[1]))
            self._error = []
        elif CUT_OFF.match(line):
            yield from self._spoken()
            self._how, self._after = Finish.TRUNCATED, True
        else:
            yield from self._words(line)

    def _preamble(self, line: str) -> Iterator[Event]:
        """Read what it says of itself before anybody else's words can come."""
        if found := VERSION.match(line):
            self._version = found[1]
        elif (found := MODEL.match(line)) and not self._up:
            self._up = True
            yield ev.Started(None, found[1], self._version)
        elif BEGINS.match(line):
            self._begun = True
        elif ERROR.match(line):
            self._begun = True
            self._error = [line]

    def _words(self, line: str) -> Iterator[Event]:
        if ERROR.match(line):
            yield from self._spoken()
            self._error = [line[:1024]]
        elif self._error and line:
            self._error = [*self._error[:8], line[:512]]
        else:
            self._said.append(line)
            self._held += len(line) + 1
            if self._held > TEXT_CAP:
                yield from self._spoken()

    def _drop(self) -> None:
        """Forget its own words about what it did with the answer."""
        self._said, self._held = [], 0

    def _spoken(self) -> Iterator[Event]:
        whole = "\n".join(self._said).strip()
        self._drop()
        if whole:
            self._answer = shortened(whole)[0]
            yield ev.Said(self._answer, f"call_{self._calls + 1}")

    def _used(self, used: re.Match[str]) -> Iterator[Event]:
        yield from self._spoken()
        sent, write, read, out = (number(used[n]) for n in (1, 2, 3, 4))
        cost = micro(float(used[5])) if used[5] is not None else None
        self._calls += 1
        # An error before it was overcome; a model that received nothing back refused.
        self._error, self._after = [], True
        self._how = Finish.OK if out else Finish.REFUSED
        plain = max(0, sent - read)
        yield ev.UsageSeen(Scope.CALL, f"call_{self._calls}", Tokens(plain, out, read, min(write, plain)), cost or None)

    def _edited(self, path: str) -> Iterator[Event]:
        self._drop()
        self._edits += 1
        call = f"edit_{self._edits}"
        yield ev.ToolCalled(call, "edit", canonical({"path": path}), f"call_{max(1, self._calls)}")
        yield ev.ToolReturned(call, "", Known.UNKNOWN, failed=False)
