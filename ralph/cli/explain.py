"""`ralph explain CODE|REASON`: what an ending means and what to do about it."""

from __future__ import annotations

import difflib

import click

from ralph.errors import UserError
from ralph.facts.reason import Reason
from ralph.report.explain import page, reason_of


@click.command()
@click.argument("word")
def explain(word: str) -> None:
    """Say what an exit code or a reason word means and what to do."""
    reason = reason_of(word)
    if reason is None:
        words = [r.value for r in Reason]
        near = difflib.get_close_matches(word, words, 1)
        hint = f"Did you mean {near[0]}? " if near else ""
        raise UserError(f"no ending is called '{word}'", fix=f"{hint}Known: {', '.join(words)}.")
    click.echo(page(reason), nl=False)
