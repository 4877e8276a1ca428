"""A shell command as far as it can be told from its text: does it write, does it poll, which program is it.

Text only: nothing is run, nothing is expanded. What is not on a list may have changed something.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LONGEST = 8192
PARTS = 64

READS_WORDS = """
ls cat head tail grep egrep fgrep rg ag ack find fd wc pwd echo printf which whereis type command stat file tree
du df awk gawk sort uniq cut tr diff cmp comm jq yq basename dirname realpath readlink env printenv date true
false test [ [[ : cd pushd popd set export unset exit return ps pgrep top free uname hostname whoami id less
more nl od xxd hexdump strings md5sum sha1sum sha256sum sleep wait time history man help column fold paste rev
tac seq bat exa eza glow get-content get-childitem select-string test-path
"""
READS = frozenset(READS_WORDS.split())
WRITES_WORDS = """
rm mv cp mkdir rmdir touch tee ln chmod chown truncate dd install patch rsync unzip gunzip gzip bunzip2 xz
sponge shred set-content add-content new-item remove-item move-item copy-item out-file
"""
WRITES = frozenset(WRITES_WORDS.split())
GIT_READS_WORDS = """
status log diff show branch rev-parse blame ls-files ls-tree cat-file describe shortlog reflog remote grep
rev-list config merge-base for-each-ref show-ref name-rev check-ignore version help count-objects whatchanged
range-diff
"""
GIT_READS = frozenset(GIT_READS_WORDS.split())
GIT_WRITES_WORDS = """
add commit checkout switch restore reset revert merge rebase cherry-pick stash apply am mv rm clean pull push
fetch clone init tag worktree submodule update-index
"""
GIT_WRITES = frozenset(GIT_WRITES_WORDS.split())
INSTALLS = re.compile(
    r"(?:npm|pnpm|yarn|bun) (?:i|install|ci|add|remove|uninstall|update|upgrade|link)\b"
    r"|(?:pip3?|uv pip|python3? -m pip|poetry|pipx|conda|gem|brew|apt|apt-get|dnf|yum|apk) "
    r"(?:-\S+ )*(?:install|uninstall|add|remove|update|upgrade|sync)\b"
    r"|cargo (?:add|remove|install|update|fmt|fix)\b|go (?:get|install|mod|fmt|generate)\b"
    r"|uv (?:add|remove|sync|lock)\b"
)
POLLS = re.compile(
    r"sleep\b|wait\b|gh run (?:watch|view|list)\b|gh pr (?:checks|status)\b|tail (?:-\S+ )*-[a-z]*[fF]\b|docker ps\b"
    r"|docker (?:compose )?logs\b|kubectl (?:get .* (?:-w|--watch)|rollout status|wait)\b|journalctl .*-f\b"
    r"|watch\b|jobs\b"
)
HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1(.*?)^\s*\2\b", re.DOTALL | re.MULTILINE)
QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")
SPLIT = re.compile(r"\|\||&&|[;|\n]|&(?![>&\d])")
REDIRECT = re.compile(r"(?:^|[^<>=\-])(?:\d|&)?>{1,2}\|?\s*(?!&)([^\s&|;<>]+)")
NOWHERE = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "$null")
LEAD = re.compile(
    r"^(?:\s*(?:[A-Za-z_]\w*=\S*|sudo|env|command|nohup|time|exec|builtin|then|do|else|if|while|!|\(|\{)\s+)+"
)
WRAPPED = re.compile(r"^\s*timeout\s+(?:-\S+\s+)*\S+\s+")


@dataclass(frozen=True, slots=True)
class Shell:
    """changes: True writes, False only reads, None cannot be told. polls: it waits or asks whether something is done.

    program: the first that is not mere ground work such as `cd`, "" where there is none.
    """

    changes: bool | None
    polls: bool
    program: str


def shell(command: str) -> Shell:
    """Return what the command is. Never raises; of a long one only the beginning is read."""
    text = HEREDOC.sub(" ", command[:LONGEST])
    bare = QUOTED.sub(_blanked, text)
    parts = [_plain(part) for part in SPLIT.split(bare)[:PARTS]]
    parts = [part for part in parts if part]
    writes = _redirects(bare)
    kinds = {_changes(part) for part in parts}
    polls = any(POLLS.match(part) for part in parts)
    program = next((_program(part) for part in parts if _program(part) not in ("cd", "set", "export", "source")), "")
    changes = True if writes or True in kinds else None if None in kinds else False
    return Shell(changes, polls, program)


def _blanked(found: re.Match[str]) -> str:
    """Return a quoted text without what would look like syntax."""
    return re.sub(r"[|&;<>\n(){}]", "_", found.group())


def _plain(part: str) -> str:
    return WRAPPED.sub("", LEAD.sub("", part.strip()), 1).strip()


def _program(part: str) -> str:
    words = part.split(None, 1)
    return words[0].rsplit("/", 1)[-1].strip("\"'()").lower() if words else ""


def _redirects(bare: str) -> bool:
    return any(not target.strip("\"'").startswith(NOWHERE) for target in REDIRECT.findall(bare))


def _changes(part: str) -> bool | None:
    """Return what one part of a command line does."""
    program = _program(part)
    if program == "git":
        return _git(part)
    if program in WRITES or INSTALLS.match(part):
        return True
    if program in ("sed", "perl") and re.search(r"\s-[a-zA-Z]*i", part):
        return True
    if program in ("find", "fd") and re.search(r"-(?:delete|exec|execdir|ok)\b", part):
        return None
    if program in READS or program == "sed" or not program:
        return False
    return None


def _git(part: str) -> bool | None:
    words = [word for word in part.split()[1:] if not word.startswith("-")]
    # `-C dir` and `-c key=value` take a word of their own.
    verb = next((word for word in words if word in GIT_READS or word in GIT_WRITES), "")
    if verb in ("stash", "tag", "worktree", "submodule", "remote", "branch", "config"):
        return _listing(words, verb)
    return True if verb in GIT_WRITES else False if verb in GIT_READS else None


def _listing(words: list[str], verb: str) -> bool:
    """Return whether a git command that can list or change does change."""
    rest = words[words.index(verb) + 1 :]
    if verb in ("stash",):
        return not rest or rest[0] not in ("list", "show")
    if verb == "config":
        return len(rest) > 1
    return bool(rest) and rest[0] not in ("list", "status", "show", "get-url")
