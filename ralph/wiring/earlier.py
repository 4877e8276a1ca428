"""What earlier runs of this tree mean for a new one: leftovers of a dead one, files an agent changed meanwhile."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from ralph.config.files import ConfigFile
from ralph.config.obeyed import ChangedDuring, files_now, refusal
from ralph.console.lines import Lines
from ralph.errors import UserError
from ralph.journal.effects import replace_file
from ralph.journal.places import Places, RunDir
from ralph.journal.read import read
from ralph.journal.story import Story, fold


def told(run: RunDir) -> Story | None:
    """Return what a run's journal says, None where it cannot be read."""
    try:
        return fold(read(run.journal).records)
    except UserError:
        return None


def tidy_up(places: Places, *, console: Lines, but: str = "") -> None:
    """Name an unfinished earlier run and end the processes that are left of it; the tree is locked by us."""
    for run in places.runs()[:1]:
        story = told(run)
        if run.id == but or story is None or story.conclusion is not None or not story.run:
            continue
        # Imported only where a run was cut off: psutil is dear, and most starts have nothing to end.
        from ralph.process.leftovers import end_leftovers, leftovers

        ended = end_leftovers(leftovers(run.id))
        left = f"; ended {len(ended)} left-over processes" if ended else ""
        console.say(f"run {run.id} was cut off in iteration {story.next_iteration - 1}{left}; `ralph resume` goes on")


def obeyed_now(top: Path, environ: Mapping[str, str], *, prompt: ConfigFile | None) -> tuple[ConfigFile, ...]:
    """Return every file that this run obeys, with its hash."""
    return (*files_now(top, environ), *([prompt] if prompt else []))


def check_obeyed(places: Places, now: tuple[ConfigFile, ...], *, accepted: bool) -> None:
    """Refuse to obey what an agent or test step of an earlier run changed. Raises: UserError (refused)."""
    error = refusal(now, obeyed(places), changes=tuple(changes(places)), accepted=accepted)
    if error is not None:
        raise error


def obeyed(places: Places) -> Mapping[Path, str | None]:
    """Return the hashes kept by the newest run; none where there is none."""
    try:
        data = json.loads(places.accepted.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {Path(path): sha for path, sha in data.items()} if isinstance(data, dict) else {}


def keep_obeyed(places: Places, now: tuple[ConfigFile, ...]) -> None:
    """Keep the hashes of what this run obeys, for tomorrow's."""
    data = json.dumps({str(file.path): file.sha256 for file in now})
    replace_file(places.accepted, data.encode("utf-8", "surrogateescape"))


def keep_also(places: Places, file: ConfigFile) -> None:
    """Keep the hash of one file that this run obeys from now on."""
    kept = {**obeyed(places), file.path: file.sha256}
    keep_obeyed(places, tuple(ConfigFile(path, sha) for path, sha in kept.items()))


def changes(places: Places) -> Iterator[ChangedDuring]:
    """Yield what the journals of the newest runs say was changed during a step, oldest first."""
    for run in reversed(places.runs()[:20]):
        story = told(run)
        for finding, number in (story.findings if story else {}).items():
            step, _, rest = finding.kind.partition("-changed-")
            if rest in ("prompt", "config") and step in ("agent", "test") and finding.subjects:
                yield ChangedDuring(
                    Path(finding.subjects[0]), run.id, number, "agent" if step == "agent" else "test", None
                )
