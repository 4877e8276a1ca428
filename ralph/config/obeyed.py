"""Tomorrow's run: whether what a run is about to obey was changed by an agent or a test step of an earlier one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ralph.config.files import ConfigFile
from ralph.errors import UserError
from ralph.facts.reason import Reason


@dataclass(frozen=True, slots=True)
class ChangedDuring:
    """The journal's word that a file differed after a step from before it. sha256: after it, None if it was gone."""

    path: Path
    run: str
    iteration: int
    step: Literal["agent", "test"]
    sha256: str | None


def refusal(
    now: Sequence[ConfigFile], obeyed: Mapping[Path, str | None], *, changes: Sequence[ChangedDuring], accepted: bool
) -> UserError | None:
    """Return why a run must not start on these files, None if it may.

    now: configuration and prompt files as they are, absent ones with None. obeyed: the hashes that the newest run of
    this tree kept. changes: of all its iterations, oldest first. accepted: `--accept-config` was typed.
    A file that a person changed between the runs is none of our business; nor is one that was put back.
    """
    if accepted:
        return None
    guilty = [found for file in now if (found := _changed_by_a_step(file, obeyed=obeyed, changes=changes))]
    if not guilty:
        return None
    listed = "; ".join(f"{one.path.name} in iteration {one.iteration} ({one.step} step) of {one.run}" for one in guilty)
    return UserError(
        f"what this run would obey was changed while ralph was at work: {listed}",
        where=", ".join(str(one.path) for one in guilty),
        fix="Read the change, then run again with --accept-config, or put the file back.",
        reason=Reason.REFUSED,
    )


def _changed_by_a_step(
    file: ConfigFile, *, obeyed: Mapping[Path, str | None], changes: Sequence[ChangedDuring]
) -> ChangedDuring | None:
    """Return the last step that changed a file which is not as it was obeyed."""
    if file.path in obeyed and obeyed[file.path] == file.sha256:
        return None
    return next((one for one in reversed(changes) if one.path == file.path), None)
