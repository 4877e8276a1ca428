"""`ralph restore STATE [--git]`: brings saved files back by our own hand; the present is saved first."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ralph.cli.pick import RUN_OPTIONS
from ralph.cli.saved import saved_of
from ralph.cli.sink import show
from ralph.encode.terminal import one_line
from ralph.facts.reason import FOUND_SOMETHING
from ralph.repo.restore import Restored
from ralph.repo.restore import restore as bring_back
from ralph.report.phrases import plural, some


@click.command()
@click.argument("state")
@RUN_OPTIONS
@click.option("--git", is_flag=True, help="Bring branches, index, reflogs, stash and objects back as well.")
def restore(state: str, run: str | None, directory: str, state_dir: str | None, git: bool) -> int:
    """Make the work tree hold what it held in STATE: start, N, N.tests, best, before-restore-…

    What is there now is saved first; ignored files stay as they are. Exits 3 where something could not be brought back.
    """
    saved = saved_of(run, directory, state_dir)
    label = saved.label(state)
    kept = saved.story.repo.get("kept")
    done = bring_back(
        saved.top,
        saved.store,
        saved.paper.id,
        label,
        present=saved.present,
        git=git,
        alive=saved.alive(),
        digest=kept if isinstance(kept, str) and kept else None,
    )
    show("\n".join(_told(done)))
    return 0 if done.is_whole else FOUND_SOMETHING


def _told(done: Restored) -> list[str]:
    files = done.files
    lines = [
        (
            f"restored {done.state}: {plural(len(files.written), 'file')} written, {len(files.removed)} removed, "
            f"{files.unchanged} unchanged"
        )
    ]
    if done.git is not None:
        lines.append(f"git directory: {plural(len(done.git.written), 'file')} put back")
    if done.saved_as:
        lines.append(f"the present before it is saved: ralph restore {done.saved_as}")
    parts: tuple[tuple[str, Sequence[str]], ...] = (
        ("could not be changed", files.blocked),
        ("was never saved", files.unsaved),
        ("was saved and is damaged", files.damaged),
        ("kept apart before it was overwritten", files.aside),
        ("in the git directory is damaged", done.git.damaged if done.git else ()),
    )
    lines += [f"{words}: {some(paths)}" for words, paths in parts if paths]
    return lines + [one_line(note, 300) for note in done.notes]
