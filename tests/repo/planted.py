"""A repository in which everything that can name a program names one that leaves a mark when it runs."""

from __future__ import annotations

from pathlib import Path

from tests.repo.saving import git

HOOKS = ("post-checkout", "post-index-change", "reference-transaction", "pre-commit", "post-commit", "pre-auto-gc")
KEYS = (
    "core.fsmonitor",
    "core.sshCommand",
    "core.pager",
    "core.editor",
    "core.askPass",
    "diff.external",
    "diff.planted.textconv",
    "diff.planted.command",
    "filter.planted.clean",
    "filter.planted.smudge",
    "filter.planted.process",
    "merge.planted.driver",
    "gpg.program",
    "gpg.openpgp.program",
    "credential.helper",
    "uploadpack.packObjectsHook",
    "core.alternateRefsCommand",
    "remote.origin.uploadpack",
)


def plant(top: Path, marks: Path) -> None:
    """Plant hooks, filters, monitors, text converters and signers; each writes its name into `marks`."""
    marks.mkdir(exist_ok=True)
    program = marks.parent / f"{marks.name}.sh"
    program.write_text(f'#!/bin/sh\necho ran >> "{marks}/ran-$(basename "$0")"\nexit 1\n')
    program.chmod(0o755)
    for key in KEYS:
        git(top, "config", key, f"{program} {key}")
    git(top, "config", "log.showSignature", "true")
    git(top, "config", "commit.gpgSign", "true")
    hooks = top / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in HOOKS:
        (hooks / name).write_text(program.read_text())
        (hooks / name).chmod(0o755)
    attributes = "* filter=planted diff=planted merge=planted\n"
    (top / ".git" / "info").mkdir(exist_ok=True)
    (top / ".git" / "info" / "attributes").write_text(attributes)
    (top / ".gitattributes").write_text(attributes)


def executed(marks: Path) -> list[str]:
    """Return what ran."""
    return sorted(path.name for path in marks.iterdir())
