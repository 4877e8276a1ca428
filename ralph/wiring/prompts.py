"""Where the prompt of a run comes from, and where its bytes are kept for a resume."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from ralph.config.files import ConfigFile
from ralph.errors import UserError
from ralph.facts.reason import Reason
from ralph.journal.effects import replace_file
from ralph.journal.places import RunDir
from ralph.prompt import Frozen, checked, freeze
from ralph.wiring.order import Order


def prompt_path(order: Order) -> Path | None:
    """Return the prompt's path, None where it came from stdin."""
    if order.prompt_text is not None:
        return None
    return Path(os.path.normpath(order.top / order.loaded.settings.prompt.file))


def read_prompt(order: Order) -> Frozen:
    """Return the prompt, frozen. Raises: UserError (usage) naming the file and the way out."""
    path = prompt_path(order)
    return checked(order.prompt_text or b"", "-") if path is None else freeze(path)


def prompt_file(order: Order) -> ConfigFile | None:
    """Return the prompt file with the hash of what it holds now, None where it came from stdin."""
    path = prompt_path(order)
    if path is None:
        return None
    try:
        return ConfigFile(path, freeze(path).sha256)
    except UserError as e:
        return ConfigFile(path, None if not path.exists() else hashlib.sha256(e.what.encode()).hexdigest())


def keep_prompt(paper: RunDir, prompt: Frozen) -> None:
    """Keep the bytes under their hash, so that a resume sends the same. Raises: UserError (storage)."""
    replace_file(paper.made(paper.path / "prompts") / f"{prompt.sha256}.md", prompt.data)


def kept_prompt(paper: RunDir, sha256: str) -> Frozen:
    """Return the prompt of a run by the hash in its record. Raises: UserError (storage) if it is not what it was."""
    path = paper.path / "prompts" / f"{sha256}.md"
    try:
        data = path.read_bytes() if sha256.isalnum() else b""
    except OSError:
        data = b""
    if hashlib.sha256(data).hexdigest() != sha256:
        raise UserError(
            "the prompt of this run is no longer what it was",
            where=str(path),
            fix="`ralph resume --reload` takes the prompt file as it is now.",
            reason=Reason.STORAGE,
        )
    return Frozen(data, str(path))
