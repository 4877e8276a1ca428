"""Limits raised on the line of `resume`: `-n 80` is the new total, `-n +20` so much more than the run had."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ralph.config.kinds import Word
from ralph.config.schema import BY_PATH, Key, value_of
from ralph.config.words import OFF_WORDS, WordError, quoted
from ralph.errors import ConfigErrors, UserError
from ralph.facts.settings import Settings

RAISABLE = ("limits.iterations", "limits.time", "limits.cost", "limits.tokens", "limits.until")
"""What `resume` may change; everything else stays as the run began."""
NO_SUM = ("limits.until",)


def raised(settings: Settings, flags: Mapping[str, object]) -> Settings:
    """Return the settings of a run with the limits that were typed.

    flags: key path to text, as `cli.options.chosen` gives them; other keys are refused.
    Raises: ConfigErrors with every mistake of the line.
    """
    errors: list[UserError] = []
    changed: dict[str, object] = {}
    for path, typed in flags.items():
        key = BY_PATH.get(path)
        try:
            if key is None or path not in RAISABLE:
                raise WordError(f"{path} cannot change in the middle of a run", f"Only {', '.join(RAISABLE)} can.")
            changed[key.name] = _total(key, str(typed), had=value_of(settings, key))
        except WordError as e:
            errors.append(UserError(e.what, where=key.flag or path if key else path, fix=e.fix))
    if errors:
        raise ConfigErrors(tuple(errors))
    return replace(settings, limits=replace(settings.limits, **changed))  # type: ignore[arg-type]  # names of the table


def _total(key: Key, typed: str, *, had: float | None) -> object:
    assert isinstance(key.kind, Word)
    if not typed.startswith("+") or key.path in NO_SUM:
        return key.kind.read(typed)
    if typed[1:] in OFF_WORDS:
        raise WordError(f"{quoted(typed)} is no sum", f'Write "{typed[1:]}" without the plus sign.')
    if had is None:
        raise WordError(f"{quoted(typed)} adds to a limit that this run does not have", "Give the new total.")
    more = key.kind.read(typed[1:])
    assert isinstance(more, int | float)
    return had + more
