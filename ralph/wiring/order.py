"""What a command line asks of a run, before anything was looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ralph.config.sources import Loaded
from ralph.console.lines import Lines
from ralph.repo.find import Place
from ralph.repo.git import Git


@dataclass(frozen=True, slots=True)
class Order:
    """git, place: found already, since the configuration lies there. prompt_text: from stdin, None for a file.

    home: the user's own tree, where the run works in a linked one made for it; None where it works in place.
    """

    loaded: Loaded
    git: Git
    place: Place
    environ: Mapping[str, str]
    console: Lines
    prompt_text: bytes | None = None
    accept_config: bool = False
    dry_run: bool = False
    raised: Mapping[str, object] = field(default_factory=dict)
    reload: bool = False
    home: Path | None = None

    @property
    def top(self) -> Path:
        """Return the top of the work tree."""
        return self.place.top
