"""Other thresholds for a run that is on record: `--set KEY=VALUE` over the configuration it obeyed."""

from __future__ import annotations

from ralph.config.aside import in_child
from ralph.config.layers import Gathered, from_line
from ralph.config.model import judge
from ralph.config.schema import find
from ralph.config.sources import assembled
from ralph.config.words import quoted
from ralph.errors import ConfigErrors, UserError
from ralph.facts.settings import Settings

REPLAYABLE = ("stop", "limits", "detect")
"""Tables whose keys decide; the others changed what happened, which no record can tell again."""
READS = ("detect.polling", "detect.identity")
"""They say how a call is read, and of calls the record has hashes only."""


def overlaid(settings: Settings, sets: tuple[str, ...]) -> Settings:
    """Return the settings of a recorded run with other thresholds.

    Raises: ConfigErrors with every mistake; keys that no replay can change are mistakes too.
    """
    found = Gathered([], [], [], [], [])
    from_line(found, flags={}, sets=sets)
    layer = found.layers[0]
    answer = in_child(lambda: judge([layer.document]))[0] if layer.document else {"values": {}, "faults": []}
    for fault in answer["faults"]:
        path = ".".join(str(part) for part in fault["path"] if isinstance(part, str))
        found.errors.append(UserError(fault["what"], where=layer.place(path), fix=fault["fix"]))
    found.errors += [_fixed(path, layer.place(path)) for path in answer["values"] if not _can_change(path)]
    if found.errors:
        raise ConfigErrors(tuple(found.errors))
    return assembled(answer["values"], settings)


def _can_change(path: str) -> bool:
    return path.split(".")[0] in REPLAYABLE and path not in READS and find(path) is not None


def _fixed(path: str, where: str) -> UserError:
    tables = ", ".join(f"{table}.*" for table in REPLAYABLE)
    why = "how a call is read is no longer on record" if path in READS else f"a replay can change {tables} only"
    return UserError(f"{quoted(path)} cannot be decided again", where=where, fix=f"Leave it out: {why}.")
