"""What every command but `run` prints through: no control byte, no secret of this environment, no command to a CI job.

Secrets are those of the environment in which the command runs, see `ralph.encode.redact`.
"""

from __future__ import annotations

import json
import os
from typing import cast

import click

from ralph.encode.redact import Redactor
from ralph.encode.terminal import clean
from ralph.encode.workflow import harmless, harmless_json


def viewer() -> Redactor:
    """Return the redactor of this process's environment."""
    return Redactor.of(os.environ)


def show(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print a text for people. Its lines are ours: foreign ones inside must stand behind words or the gutter."""
    click.echo(fit(text), err=err, nl=nl)


def show_json(data: object, *, indent: int | None = None) -> None:
    """Print a value as JSON, the same value to any reader but for its secrets."""
    click.echo(harmless_json(json.dumps(viewer().value(data), indent=indent)))


def fit(text: str) -> str:
    """Return the text as `show` prints it."""
    return harmless(viewer().text(clean(text)))


def redacted(data: dict[str, object]) -> dict[str, object]:
    """Return a table without secrets, for an account to be made of it."""
    return cast(dict[str, object], viewer().value(data))
