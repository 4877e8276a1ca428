"""The words of the configuration: durations, money, counts, sizes, times, switches, commands.

Every reader takes what a flag, an environment variable or a TOML file can hold and returns a plain JSON value, or
raises `WordError`. None is returned by `or_off` alone, and only for the typed words: a cap never vanishes by accident.
Gates, checks and other names are in `phrases`.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable
from decimal import Decimal

import durationpy

from ralph.facts.usage import MICRO

Json = None | bool | int | float | str | list[str]
Read = Callable[[object], Json]

OFF_WORDS = ("unlimited", "off")
SHELL = ("/bin/sh", "-c")
YEAR_S = 365 * 86400.0
MOST_COUNTED = 10**15
MOST_DOLLARS = 10**9
SHOWN = 60

NUMBER = r"(?:0|[1-9][0-9]*)(?:\.[0-9]+)?"
DURATION_UNITS = ("w", "d", "h", "m", "s", "ms")
DURATION = rf"(?:{NUMBER}(?:ms|w|d|h|m|s))+"
MONEY = rf"\$?{NUMBER}"
COUNT = r"[1-9][0-9]*"
SIZES = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
SIZE = rf"({NUMBER})({'|'.join(SIZES)})"
TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]"


class WordError(ValueError):
    """A value that means nothing here. what: lower-case fragment with the value as typed; fix: a whole sentence."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.what = what
        self.fix = fix


def quoted(raw: object) -> str:
    """Return the value as the user typed it, in quotes if it is text, cut after 60 characters."""
    text = json.dumps(raw, ensure_ascii=False) if isinstance(raw, str) else _plain(raw)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _plain(raw: object) -> str:
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if isinstance(raw, dict):
        return "a table"
    if isinstance(raw, list | tuple):
        return f"[{', '.join(quoted(one) for one in raw[:9])}]"
    return str(raw)


def or_off(read: Read) -> Read:
    """Return a reader that also takes the typed words for "no limit" and gives None for them."""

    def reader(raw: object) -> Json:
        return None if raw in OFF_WORDS and isinstance(raw, str) else read(raw)

    return reader


def text(raw: object) -> str:
    """Read a text that is not blank and holds no NUL (no argument or path could carry one)."""
    if not isinstance(raw, str):
        raise WordError(f"{quoted(raw)} is not text", f'Put it in quotes: "{_plain(raw)}".')
    if not raw.strip():
        raise WordError(f"{quoted(raw)} is empty", "Give a value, or leave the key out.")
    if "\0" in raw:
        raise WordError(f"{quoted(raw)} holds a NUL character", "Take it out.")
    return raw


def duration(raw: object) -> float:
    """Read `90s 30m 8h 1h30m 2d 500ms` into seconds, above 0 and at most a year."""
    if isinstance(raw, int | float | Decimal) and not isinstance(raw, bool):
        raise _no_unit(raw)
    if not isinstance(raw, str):
        raise WordError(f"{quoted(raw)} is not a duration", 'Write it like "90s", "30m", "8h" or "1h30m".')
    if re.fullmatch(r"[+-]?[0-9.]+", raw, re.ASCII):
        raise _no_unit(raw)
    units = [DURATION_UNITS.index(unit) for unit in re.findall(r"[a-z]+", raw)] if _full(DURATION, raw) else []
    if not units or units != sorted(set(units)):
        raise WordError(f"{quoted(raw)} is not a duration", 'Write it like "90s", "30m", "8h", "1h30m" or "2d".')
    return _bounded_seconds(raw)


def _no_unit(raw: object) -> WordError:
    digits = str(raw).lstrip("+-") if re.fullmatch(rf"[+-]?{COUNT}", str(raw), re.ASCII) else "90"
    return WordError(
        f"{quoted(raw)} has no unit", f'Write "{digits}s" for seconds, "{digits}m" for minutes, "{digits}h" for hours.'
    )


def _bounded_seconds(raw: str) -> float:
    try:
        seconds = float(durationpy.from_str(raw).total_seconds())
    except durationpy.DurationError as e:
        raise WordError(f"{quoted(raw)} is too long", "The longest duration is 365d.") from e
    if seconds > YEAR_S:
        raise WordError(f"{quoted(raw)} is too long", "The longest duration is 365d.")
    if seconds <= 0:
        raise WordError(f"{quoted(raw)} is no time at all", _above_zero("a duration"))
    return seconds


def _above_zero(thing: str) -> str:
    return f'Give {thing} above zero; where a limit can be lifted, the word for that is "unlimited".'


def _full(pattern: str, raw: str) -> bool:
    return re.fullmatch(pattern, raw, re.ASCII) is not None


def money(raw: object) -> int:
    """Read `5`, `5.00` or `$5` into micro-dollars, exactly; above 0."""
    typed = str(raw) if isinstance(raw, int | Decimal) and not isinstance(raw, bool) else raw
    if not isinstance(typed, str) or not _full(MONEY, typed) or len(typed) > SHOWN:
        raise WordError(f"{quoted(raw)} is not an amount of dollars", 'Write it like 5, 5.00 or "$5".')
    dollars = Decimal(typed.removeprefix("$"))
    micro = dollars * MICRO
    if micro != int(micro):
        raise WordError(f"{quoted(raw)} is finer than a millionth of a dollar", "Give at most six decimals.")
    if not micro:
        raise WordError(f"{quoted(raw)} is no money at all", _above_zero("an amount"))
    if dollars > MOST_DOLLARS:
        raise WordError(f"{quoted(raw)} is too much", f"The highest amount is {MOST_DOLLARS} dollars.")
    return int(micro)


def count(raw: object, *, least: int = 1) -> int:
    """Read a whole number from `least` up; digits without leading zeros, no sign."""
    typed = str(raw) if isinstance(raw, int) and not isinstance(raw, bool) else raw
    if not isinstance(typed, str) or not _full(COUNT, typed) or len(typed) > SHOWN:
        raise WordError(f"{quoted(raw)} is not a whole number above zero", _above_zero("a number like 50"))
    number = int(typed)
    if number > MOST_COUNTED:
        raise WordError(f"{quoted(raw)} is too much", f"The highest number is {MOST_COUNTED}.")
    if number < least:
        raise WordError(f"{quoted(raw)} is too few", f'Give at least {least}, or the word "off".')
    return number


def size(raw: object) -> int:
    """Read `512MB` (powers of ten) or `512MiB` (powers of two) into bytes, above 0."""
    match = re.fullmatch(SIZE, raw, re.ASCII) if isinstance(raw, str) and len(raw) <= SHOWN else None
    if match is None:
        raise WordError(f"{quoted(raw)} is not a size", 'Write it with its unit, like "512MB", "1GiB" or "4096B".')
    found = int(Decimal(match[1]) * SIZES[match[2]])
    if not found:
        raise WordError(f"{quoted(raw)} is no size at all", "Give a size above zero.")
    if found > MOST_COUNTED:
        raise WordError(f"{quoted(raw)} is too much", f"The largest size is {MOST_COUNTED}B.")
    return found


def clock_time(raw: object) -> str:
    """Read `07:00`, a time of day, as text or as a TOML local time; returned as "HH:MM"."""
    if isinstance(raw, datetime.time) and raw.tzinfo is None and not raw.second and not raw.microsecond:
        return raw.strftime("%H:%M")
    if not isinstance(raw, str) or not _full(TIME, raw):
        raise WordError(f"{quoted(raw)} is not a time of day", 'Write it with four digits, like "07:00" or "23:30".')
    return raw


def switch(raw: object) -> bool:
    """Read `true`/`false` as TOML has them, or the words on, off, true, false."""
    words = {"on": True, "true": True, "off": False, "false": False}
    if isinstance(raw, bool):
        return raw
    if not isinstance(raw, str) or raw not in words:
        raise WordError(f"{quoted(raw)} is neither on nor off", "Write on or off (true or false in a file).")
    return words[raw]


def command(raw: object) -> list[str]:
    """Read a command: one string is a shell line (`/bin/sh -c`), a list is argv as it stands."""
    if isinstance(raw, list | tuple):
        return _argv(raw)
    if not isinstance(raw, str):
        raise WordError(f"{quoted(raw)} is not a command", 'Write it like "pytest -q" or ["pytest", "-q"].')
    return [*SHELL, text(raw)]


def _argv(raw: list[object] | tuple[object, ...]) -> list[str]:
    argv = [one for one in raw if isinstance(one, str)]
    if len(argv) != len(raw):
        raise WordError(
            f"{quoted(raw)} holds something that is not text", 'Put each argument in quotes: ["make", "4"].'
        )
    if not argv or not argv[0].strip():
        raise WordError(f"{quoted(raw)} is an empty command", "Name a program, or leave the key out.")
    if any("\0" in one for one in argv):
        raise WordError(f"{quoted(raw)} holds a NUL character", "Take it out.")
    return argv
