"""What kinds of value a key can have: who reads it, its JSON Schema in a file, how it is spelled back."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ralph.config import phrases, words
from ralph.config.words import Json, Read

Spell = Callable[[Any], str]


@dataclass(frozen=True, slots=True)
class Word:
    """A value that one reader judges. json: its JSON Schema; spell: from the value back to the words for it."""

    read: Read
    json: Mapping[str, Any]
    metavar: str
    spell: Spell = str


@dataclass(frozen=True, slots=True)
class Choice:
    """One word of a closed list."""

    options: tuple[str, ...]

    @property
    def metavar(self) -> str:
        """Return the list as the help shows it."""
        return "|".join(self.options)

    def spell(self, value: object) -> str:
        """Return the word."""
        return str(value)


@dataclass(frozen=True, slots=True)
class Many:
    """A list of words; a single word stands for a list of one. commas: `a,b` is two words. least: how many at least."""

    item: Word
    commas: bool = False
    least: int = 0

    @property
    def metavar(self) -> str:
        """Return what one element is called."""
        return f"{self.item.metavar}[,{self.item.metavar}…]" if self.commas else self.item.metavar

    def spell(self, value: tuple[Any, ...]) -> str:
        """Return the elements with commas between."""
        return ", ".join(self.item.spell(one) for one in value)


@dataclass(frozen=True, slots=True)
class Named:
    """A table of lists under names of the user's own; sources add to it name by name."""

    item: Many
    metavar: str = "TABLE"

    def spell(self, value: Any) -> str:
        """Return the table as it can be typed after `--set`."""
        rows = (f"{json.dumps(name)} = {json.dumps(list(several))}" for name, several in value.items())
        return f"{{{', '.join(rows)}}}"


Kind = Word | Choice | Many | Named


def shape(pattern: str) -> dict[str, Any]:
    """Return the JSON Schema of a text that fits the whole pattern."""
    return {"type": "string", "pattern": f"^(?:{pattern})$"}


def limit(word: Word, *kept: str) -> Word:
    """Return the word with "unlimited" and "off" beside it, which give None, and `kept` words, which stay."""
    either = {"anyOf": [{"enum": [*words.OFF_WORDS, *kept]}, word.json]}
    return Word(partial(_limited, words.or_off(word.read), kept), either, word.metavar, partial(_spelled, word.spell))


def _limited(read: Read, kept: tuple[str, ...], raw: object) -> Json:
    return raw if isinstance(raw, str) and raw in kept else read(raw)


def _spelled(spell: Spell, value: object) -> str:
    return value if isinstance(value, str) else spell(value)


def counted(least: int = 1) -> Word:
    """Return the kind of a whole number from `least` up."""
    number = {"type": "integer", "minimum": least, "maximum": words.MOST_COUNTED}
    return Word(partial(words.count, least=least), {"anyOf": [number, shape(words.COUNT)]}, "N")


def spell_command(argv: tuple[str, ...]) -> str:
    """Return a command as it may be typed again: a shell line bare, argv quoted."""
    return argv[2] if argv[:2] == words.SHELL and len(argv) == 3 else shlex.join(argv)


def _dollars() -> dict[str, Any]:
    number = {"type": "number", "exclusiveMinimum": 0, "maximum": words.MOST_DOLLARS}
    return {"anyOf": [number, shape(words.MONEY)]}


def _agent(raw: object) -> str:
    # Only the child that judges values needs the adapters; help and completion must not wait for their imports.
    from ralph.agents import ADAPTERS

    typed = phrases.word(raw)
    if typed not in ADAPTERS:
        raise phrases.choice_error(typed, ADAPTERS)
    return typed


def _detector(raw: object) -> str:
    from ralph.judge.signals.table import DETECTORS

    typed = phrases.word(raw)
    if typed not in (*DETECTORS, ALL):
        raise phrases.choice_error(typed, (*DETECTORS, ALL))
    return typed


ALL = "all"
"""In place of a detector's name: every one of them."""
VISIBLE = r"[^\x00]*[^\s\x00][^\x00]*"
ARGV = {"type": "array", "items": {"type": "string"}, "minItems": 1}
ON_OFF = {"anyOf": [{"type": "boolean"}, {"enum": ["on", "off", "true", "false"]}]}

TEXT = Word(words.text, shape(VISIBLE), "TEXT")
NAME = Word(phrases.word, shape(r"[^\s\x00]+"), "NAME")
AGENT = Word(_agent, shape(r"[^\s\x00]+"), "NAME")
DETECTOR = Word(_detector, shape(r"[a-z]+(?:-[a-z]+)*"), "DETECTOR")
PATH = Word(words.text, shape(VISIBLE), "FILE")
PATTERN = Word(phrases.pattern, shape(r"[^\x00\r\n]*[^\s\x00][^\x00\r\n]*"), "GLOB")
DURATION = Word(words.duration, shape(words.DURATION), "DURATION", phrases.spell_duration)
MONEY = Word(words.money, _dollars(), "DOLLARS", phrases.spell_money)
SIZE = Word(words.size, shape(words.SIZE), "SIZE", phrases.spell_size)
TIME = Word(words.clock_time, shape(words.TIME), "HH:MM")
COUNT = counted()
SWITCH = Word(words.switch, ON_OFF, "on|off", lambda on: "on" if on else "off")
COMMAND = Word(words.command, {"anyOf": [shape(VISIBLE), ARGV]}, "CMD", spell_command)
GATE = Word(phrases.gate, shape(rf"promise|(?:promise|checklist|command)={VISIBLE}"), "GATE", phrases.gate_text)
REASON = Word(phrases.reason, {"enum": list(phrases.ACCEPTABLE)}, "REASON")
