"""The prompt from iteration to iteration: taken anew when asked for, announced when it changed, noted upon."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ralph.errors import UserError
from ralph.facts.iteration import Iteration
from ralph.journal import entries
from ralph.loop.run import Run
from ralph.prompt import Frozen, NoteFacts, as_sent, freeze, note


def refresh(run: Run) -> None:
    """Take PROMPT.md as it is now, where that was asked for or is configured."""
    path, settings = run.world.prompt_path, run.world.settings
    asked = run.world.control.take_reload() or settings.prompt.reload == "always"
    if path is None or not asked:
        return
    try:
        fresh = freeze(path, follow_links=False)
    except UserError as e:
        run.world.console.say(f"the prompt stays as it was: {e.where}: {e.what}")
        return
    if fresh.sha256 != run.prompt.sha256:
        take(run, fresh)


def take(run: Run, fresh: Frozen) -> None:
    """Obey another prompt from here on: both hashes on record, the stretches begin anew, limits stay."""
    run.world.keep_prompt(fresh)
    run.record(entries.reloaded(run.prompt.sha256, fresh.sha256))
    run.prompt = fresh
    run.history.restart_stretch()
    run.world.console.say(f"the prompt was taken anew ({fresh.sha256[:12]}); limits stay")


def announce(run: Run, paths: Iterable[Path], *, when: str) -> None:
    """Say that files this run obeys were edited on disk, when, and what takes the edit: this run keeps what it read."""
    for path in paths:
        taken = "the next start asks for --accept-config"
        if path == run.world.prompt_path:
            always = run.world.settings.prompt.reload == "always"
            taken = "it is taken with the next iteration" if always else "`ralph reload` takes it as it is now"
        run.world.console.say(f"{path.name} was changed on disk {when}; this run keeps what it read: {taken}")


def note_text(run: Run, promise: str | None) -> str:
    """Return the note for the next iteration, "" where there is nothing to say or notes are off."""
    if not run.world.settings.prompt.notes:
        return ""
    step = run.history.step
    returned = step.first if step is not None and step.moved and step.known else None
    last: Iteration | None = run.history.newest
    return note(
        NoteFacts(promise=promise, blocked=run.blocked_token, last=last, returned_to=returned, advice=run.unsaid)
    )


def bytes_sent(run: Run, text: str) -> bytes:
    """Return what the agent reads."""
    return as_sent(run.prompt, text)
