"""Shows the configuration to people: the table of options, the effective values, in the words they are typed in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ralph.config.schema import CHECK, CHECKS, DETECT, FAMILIES, KEYS, LEVELS, Key, value_of
from ralph.facts.settings import Settings


def spelled(key: Key, value: Any) -> str:
    """Return a value in the words of the configuration, "unlimited", "off" or "none" where there is nothing."""
    if value is None:
        return "off" if key in LEVELS else {"limits": "unlimited", "stop": "off"}.get(key.section, "none")
    return key.kind.spell(value) if value not in ((), {}) else "none"


def shown(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield every key with its value in words, checks by their names, of the detectors' levels those that were set."""
    for key in KEYS:
        yield key.path, spelled(key, value_of(settings, key))
    for check in settings.checks:
        yield f"{CHECK}.{check.name}", spelled(CHECKS, check.command)
    for path, key, value in _levels(settings):
        yield path, spelled(key, value)


def _levels(settings: Settings) -> Iterator[tuple[str, Key, int | str | None]]:
    for detector, levels in sorted(settings.detect.levels.items()):
        for key in LEVELS:
            value = getattr(levels, key.name)
            if value != "own":
                yield f"{DETECT}.{detector}.{key.name}", key, value


def plain(settings: Settings) -> Mapping[str, object]:
    """Return every key with its value as JSON: seconds, micro-dollars, lists; gates as typed."""
    values: dict[str, object] = {key.path: _json(key, value_of(settings, key)) for key in KEYS}
    values |= {f"{CHECK}.{check.name}": list(check.command) for check in settings.checks}
    return values | {path: value for path, _, value in _levels(settings)}


def _json(key: Key, value: Any) -> object:
    if key.path == "done":
        return [key.kind.spell((gate,)) for gate in value]
    if isinstance(value, Mapping):
        return {name: list(several) for name, several in value.items()}
    return list(value) if isinstance(value, tuple) else value


def options_table() -> str:
    """Return the Markdown table of all keys for the README: flag, key, default, meaning."""
    rows = ["| flag | key | default | meaning |", "| --- | --- | --- | --- |"]
    for key in (*KEYS, *FAMILIES):
        cells = (_flag_cell(key), f"`{key.path}`", default_text(key), key.help)
        rows.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(rows) + "\n"


def _flag_cell(key: Key) -> str:
    if not key.flags:
        return f"`{key.metavar}`" if key.metavar else ""
    metavar = "" if key.bare else f" {key.metavar or key.kind.metavar}"
    return f"`{'/'.join(key.flags)}{metavar}`"


def default_text(key: Key) -> str:
    """Return the default in words, "none" where there is none."""
    if key in FAMILIES:
        return "none" if key is CHECKS else "own"
    return "none" if key.default is None else spelled(key, key.default)
