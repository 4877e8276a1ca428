"""A project, a home and a line to load a configuration from; the tests write the parts they speak of."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pydantic  # noqa: F401 - the forked judges of these tests find it loaded: a tenth of the time
import pytest

from ralph.config.sources import Loaded, load
from ralph.errors import ConfigErrors, UserError


class Place:
    """A project at `top`, a user's home, and a line; each part is written before `load`."""

    def __init__(self, base: Path) -> None:
        self.top = base / "project"
        self.home = base / "home"
        self.top.mkdir()
        (self.home / ".config" / "ralph").mkdir(parents=True)
        self.environ: dict[str, str] = {"HOME": str(self.home)}

    def project(self, text: str) -> None:
        (self.top / "ralph.toml").write_text(text)

    def pyproject(self, text: str) -> None:
        (self.top / "pyproject.toml").write_text(text)

    def user(self, text: str) -> None:
        (self.home / ".config" / "ralph" / "config.toml").write_text(text)

    def load(
        self,
        flags: Mapping[str, object] | None = None,
        *,
        sets: tuple[str, ...] = (),
        profile: str | None = None,
        cwd: Path | None = None,
    ) -> Loaded:
        top = self.top
        return load(flags=flags or {}, environ=self.environ, top=top, cwd=cwd or top, profile=profile, sets=sets)

    def errors(
        self, flags: Mapping[str, object] | None = None, *, sets: tuple[str, ...] = (), profile: str | None = None
    ) -> tuple[UserError, ...]:
        with pytest.raises(ConfigErrors) as caught:
            self.load(flags, sets=sets, profile=profile)
        return caught.value.errors
