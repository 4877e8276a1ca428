"""Which git settings can run a program or change what a repository is, and how their change is told to people."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from ralph.repo.git import Git

Settings = Mapping[str, tuple[str, ...]]
"""Key as git prints it (section and name in lower case) → its values in order."""

SHAPING = re.compile(
    r"""core\.(?:bare|hookspath|fsmonitor|worktree|sshcommand|pager|editor|askpass|gitproxy|alternaterefscommand
            |attributesfile|excludesfile|autocrlf|eol|symlinks|filemode|ignorecase|sparsecheckout.*|repositoryformatversion)
    |filter\..+ |diff\.external |diff\..+\.(?:command|textconv) |merge\..+\.driver |(?:diff|merge)tool\..+\.(?:cmd|path)
    |alias\..+ |include\.path |includeif\..+ |credential(?:\..+)?\.helper |gpg\..+ |(?:commit|tag|push)\.gpgsign
    |log\.showsignature |user\.signingkey |remote\..+\.(?:url|pushurl|uploadpack|receivepack|promisor|vcs|proxy|mirror)
    |url\..+ |protocol\..+ |extensions\..+ |submodule\..+\.(?:update|url) |uploadpack\.packobjectshook |pager\..+
    |sequence\.editor |interactive\.difffilter |trailer\..+\.(?:command|cmd) |http\..+ |safe\..+ |init\.templatedir
    |gc\..*command |maintenance\..+ |sendemail\..*cmd |browser\..+ |man\..+\.cmd |ssh\..+ |instaweb\..+""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
SECRET = re.compile(
    r"(?:http\..*extraheader|credential\.|http\..*cookie|.*password|.*token)", re.IGNORECASE | re.DOTALL
)
LOGIN = re.compile(r"//[^/@\s]+@")
SHOWN = 160


def read_settings(git: Git, file: Path, *, git_dir: Path) -> Settings | None:
    """Return what one configuration file says, includes not followed; None where git cannot read it."""
    listed = git.run(["config", "--list", "-z", "--file", str(file)], git_dir=git_dir)
    if not listed.ok:
        return None
    found: dict[str, tuple[str, ...]] = {}
    for entry in listed.out.decode("utf-8", "surrogateescape").split("\0"):
        key, _, value = entry.partition("\n")
        if key:
            found[key] = (*found.get(key, ()), value)
    return found


def is_shaping(key: str, values: tuple[str, ...]) -> bool:
    """Tell whether a key can run a program or change what the repository is; of aliases only those that run one."""
    if key.lower().startswith("alias."):
        return any(value.startswith("!") for value in values)
    return SHAPING.fullmatch(key) is not None


def changed(old: Settings, new: Settings) -> dict[str, str]:
    """Return key → one line with old and new value, for shaping keys that appeared, went or changed."""
    moved = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
    told = {}
    for key in moved:
        before, after = old.get(key, ()), new.get(key, ())
        if is_shaping(key, before) or is_shaping(key, after):
            told[key] = f"{key}: {_shown(key, before)} -> {_shown(key, after)}"
    return told


def _shown(key: str, values: tuple[str, ...]) -> str:
    """Return values for a report: capped, and without what is likely a secret."""
    if not values:
        return "(unset)"
    if SECRET.match(key) and any(not value.startswith("!") for value in values):
        return "(a value that may be secret)"
    text = LOGIN.sub("//***@", ", ".join(values))
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "…")
