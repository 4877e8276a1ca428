"""The errors a person can mend; every other exception is a bug of ours and is caught in `cli` alone."""

from __future__ import annotations

from ralph.facts.reason import Reason


class UserError(Exception):
    """Something outside ralph is wrong and the reader can mend it.

    what: lower-case fragment, values quoted as typed. where: file, line, key or flag, "" if none.
    fix: whole sentences, complete commands, "" if none. reason: picks the exit code.
    """

    def __init__(self, what: str, *, where: str = "", fix: str = "", reason: Reason = Reason.USAGE) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.fix = fix
        self.reason = reason


class ConfigErrors(UserError):  # noqa: N818 - it is several
    """All mistakes of a configuration at once, in the order of their places."""

    def __init__(self, errors: tuple[UserError, ...]) -> None:
        super().__init__(f"{len(errors)} configuration errors")
        self.errors = errors
