"""Qwen Code, headless: `qwen --output-format stream-json`, prompt on stdin.

Source: its own output, version 0.24.4. Its stream is like Claude Code's, with a counting of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

from ralph.agents import hooks
from ralph.agents.adapter import Abilities, Ask, Launch
from ralph.agents.fields import clean, count, mapping
from ralph.agents.lanes import Lane, by_shell
from ralph.agents.limits import diagnosis
from ralph.agents.message_stream import Line, MessageReader
from ralph.facts import event as ev
from ralph.facts.event import Event, Finish, Trouble
from ralph.facts.steer import Answer, Asked, Moment
from ralph.facts.usage import Tokens

PERMISSIONS = {"ask-nothing": ("--yolo",), "edits": ("--approval-mode", "auto-edit"), "own": ()}
EMPTY_ANSWER = "ended with empty response text"
"""Where a model refuses, it asks ten times and then says this."""
LIMITS = {53: "turn limit", 55: "budget of tool calls or time"}
EXITS = {41: Trouble.AUTH, 42: Trouble.MISCONFIGURED, 44: Trouble.MISCONFIGURED, 52: Trouble.MISCONFIGURED}
"""Its exit codes where there is no result: limits of its own, and what it shares with the program it came from."""
PGID = re.compile(r"\nProcess Group PGID: \d{1,9}$")
HOOKS_FILE = "qwen-hooks.json"
HOOKS_VARIABLE, HOOKS_DEFAULT = "QWEN_CODE_SYSTEM_DEFAULTS_PATH", "/etc/qwen-code/system-defaults.json"
"""Its lowest layer of settings: our hooks add to the user's own. A machine that has such a file keeps it."""
OWN_HOOKS = ("--bare", "--safe-mode")
ABORTED = re.compile(rb"^Run aborted: |max(?:imum)? session turns|trusted (?:folder|directory)", re.IGNORECASE)


def tokens_of(usage: object) -> Tokens | None:
    """Return the normalised tokens: input includes cached ones; zeros stand for "not told"."""
    found = mapping(usage)
    whole, out = count(found.get("input_tokens")) or 0, count(found.get("output_tokens")) or 0
    read = min(count(found.get("cache_read_input_tokens")) or 0, whole)
    return Tokens(whole - read, out, read) if whole or out else None


class QwenReader(MessageReader):
    """Reads one run; its own limits leave no result behind, only an exit code and a line on stderr."""

    def __init__(self) -> None:
        super().__init__(tokens_of, own_words="[API Error: ")
        self._words = ""

    def line(self, stream: Literal["out", "err"], line: bytes) -> tuple[Event, ...]:
        """Return the events of one line; of stderr the reason why it ended itself is kept."""
        if stream == "err" and ABORTED.search(line[:1024]):
            self._words = clean(line[:500].decode("utf-8", "replace")).strip()
        return super().line(stream, line)

    def exited(self, code: int) -> tuple[Event, ...]:
        """Return what the exit code tells where there was no result."""
        return () if self.finished else tuple(self._exit(code))

    def _exit(self, code: int) -> Iterator[Event]:
        if code in LIMITS and "trusted" not in self._words:
            yield ev.Finished(Finish.OWN_LIMIT, None, self._words or LIMITS[code])
        elif code in EXITS:
            yield ev.Troubled(EXITS[code], self._words or f"exit code {code}")
        elif code in LIMITS:
            yield ev.Troubled(Trouble.MISCONFIGURED, self._words)

    def shown(self, result: str) -> str:
        """Return a tool's result without the number of the process group, which is new each time."""
        return PGID.sub("", result)

    def ended(self, record: Line) -> tuple[Finish, str]:
        """Return how it ended; an empty answer is a refusal."""
        how, words = super().ended(record)
        return (Finish.REFUSED if how is Finish.FAILED and EMPTY_ANSWER in words else how), words


class Qwen:
    """Qwen Code."""

    name = "qwen"
    programs: tuple[str, ...] = ("qwen",)
    # Before a call it takes a refusal alone.
    advises: tuple[Moment, ...] = ("after",)
    abilities = Abilities(
        reports_tokens="live",
        reports_tools=True,
        reports_turns=True,
        deny="--exclude-tools",
        steered="hooks",
        note="reports no dollars; waits one minute and more, up to ten times, when the provider is busy; "
        "an answer cut off at its length looks like a whole one",
    )

    def launch(self, ask: Ask) -> Launch:
        """Return argv."""
        argv = [*ask.program, "--output-format", "stream-json", *PERMISSIONS[ask.permissions]]
        if ask.model is not None:
            argv += ["-m", ask.model]
        if ask.max_turns is not None:
            argv += ["--max-session-turns", str(ask.max_turns)]
        return Launch((*argv, *ask.args), {"QWEN_CODE_SUPPRESS_YOLO_WARNING": "1", "NO_COLOR": "1"})

    def hooked(self, ask: Ask, hook: tuple[str, ...]) -> Lane:
        """Return the start with our hooks in a settings file of ours."""
        launch = self.launch(ask)
        named = replace(launch, env={**launch.env, HOOKS_VARIABLE: f"{ask.scratch}/{HOOKS_FILE}"})
        files = {HOOKS_FILE: json.dumps({"hooks": hooks.settings(hook)}).encode()}
        is_open = not hooks.clashes(ask.args, OWN_HOOKS)
        return Lane(named, files, is_open=is_open, takes={HOOKS_VARIABLE: HOOKS_DEFAULT})

    def asked(self, moment: Moment, payload: Mapping[str, object]) -> Asked | None:
        """Return the call that a hook is told of."""
        return hooks.asked_of(moment, payload)

    def answered(self, asked: Asked, answer: Answer) -> str:
        """Return what the hook prints."""
        return hooks.printed(asked, answer)

    def shelled(self, ask: Ask, script: str) -> Lane:
        """Return the start with the shell lane: the second choice."""
        return by_shell(self.launch(ask), script)

    def reader(self) -> QwenReader:
        """Return a fresh reader."""
        return QwenReader()

    def diagnose(self, error_tail: bytes) -> tuple[Trouble, str] | None:
        """Return what it says on stderr when it cannot even start: no key, no input, unknown flag."""
        return diagnosis(error_tail)
