"""What our git may be asked to do and in which environment: the tables behind `git.Git`, as data.

Source: 60 command forms tried on a repository full of planted programs; these are forms that ran none of them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

ANYWHERE = {
    "cat-file": (),
    "check-ignore": (),
    "commit-tree": (),
    "config": ("--list",),
    "diff-index": ("--cached",),
    "diff-tree": ("--no-ext-diff", "--no-textconv"),
    "for-each-ref": (),
    "hash-object": ("--no-filters",),
    "index-pack": (),
    "ls-files": (),
    "ls-tree": (),
    "merge-base": (),
    "mktree": (),
    "name-rev": (),
    "pack-objects": (),
    "read-tree": (),
    "rev-list": (),
    "rev-parse": (),
    "show-ref": (),
    "symbolic-ref": (),
    "update-ref": (),
    "version": (),
    "worktree": (),
    "write-tree": (),
}
"""Sub-commands that never compare or convert content, with the options they are safe only with."""

OURS_ONLY = {"status": ("--ignore-submodules=all",), "update-index": ()}
"""Sub-commands that look at work-tree content: only with a git directory that we made."""

NEVER = {"-m", "-p", "-u", "--modified", "--patch", "--textconv", "--ext-diff", "--filters", "--upload-pack"}
"""Options that no command may be given, but for those of `UNLESS`."""

UNLESS = {
    "cat-file": {"-p"},
    "commit-tree": {"-m", "-p"},
    "diff-tree": {"-m", "-p", "--patch"},
    "pack-objects": {"-u"},
    "read-tree": {"-m"},
    "symbolic-ref": {"-m"},
    "update-ref": {"-m"},
}

WORKTREE = {"add": ("--no-checkout",), "list": (), "prune": ()}
"""Forms of `git worktree` that write no work-tree file: a checkout would run smudge filters."""

SETTINGS = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "core.alternateRefsCommand": "false",
    "core.pager": "cat",
    "core.editor": "false",
    "core.askPass": "false",
    "core.sshCommand": "false",
    "credential.helper": "",
    "diff.ignoreSubmodules": "all",
    "gc.auto": "0",
    "gpg.program": "false",
    "gpg.ssh.program": "false",
    "gpg.x509.program": "false",
    "log.showSignature": "false",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "submodule.recurse": "false",
    "uploadpack.packObjectsHook": "false",
}

ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_ADVICE": "0",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_ASKPASS": "false",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_EDITOR": "false",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_SSH_COMMAND": "false",
    "GIT_TERMINAL_PROMPT": "0",
    "SSH_ASKPASS": "false",
}


def check(args: Sequence[str], *, ours: bool, placed: bool) -> None:
    """Stop a command that the tables do not allow: a bug of ours, so an AssertionError.

    ours: the git directory was made by us. placed: a git directory is given at all.
    """
    command = args[0]
    table = ANYWHERE | OURS_ONLY if ours else ANYWHERE
    assert command in table, f"git {command} may not be run here"
    assert placed or command == "version", f"git {command} without a git directory"
    needed = WORKTREE[args[1]] if command == "worktree" else table[command]
    missing = [option for option in needed if option not in args]
    assert not missing, f"git {command} without {missing}"
    options = args[1 : args.index("--")] if "--" in args else args[1:]
    banned = (NEVER - UNLESS.get(command, set())).intersection(options)
    assert not banned, f"git {command} with {banned}"
