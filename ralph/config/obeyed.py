"""Tomorrow's run: whether what a run is about to obey was changed by an agent or a test step of an earlier one.

`files_now` looks, after every step and at the start; `refusal` judges what the journal kept of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ralph.config.files import ConfigFile, Source, read_bytes, read_pyproject, read_toml
from ralph.config.layers import user_file
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


def files_now(top: Path, environ: Mapping[str, str]) -> tuple[ConfigFile, ...]:
    """Return every file a run in this tree could obey, as it is now; never raises on what an agent left there.

    A file that is not TOML, no regular file or too large has a hash too: of its bytes, or of what is wrong with it.
    """
    own, shared, user = top / "ralph.toml", top / "pyproject.toml", user_file(environ)
    found = [_now(own, lambda: read_toml(own, own.name)), _now(shared, lambda: read_pyproject(shared))]
    if user is not None:
        found.append(_now(user, lambda: read_toml(user, user.name, linked=True), linked=True))
    return tuple(found)


def _now(path: Path, read: Callable[[], Source | None], *, linked: bool = False) -> ConfigFile:
    try:
        source = read()
    except UserError as e:
        return ConfigFile(path, _of_broken(path, e, linked=linked))
    return source.file if source else ConfigFile(path, None)


def _of_broken(path: Path, error: UserError, *, linked: bool) -> str:
    try:
        content = read_bytes(path, path.name, linked=linked) or b""
    except UserError:
        content = error.what.encode(errors="replace")
    return hashlib.sha256(b"broken\0" + content).hexdigest()
