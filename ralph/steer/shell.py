"""The shell lane: a file that bash reads before each command of an agent, and the flag files it looks for.

For agents without hooks whose tools run `bash -c`. Other shells and other tools never see it. Without a flag file it
does nothing and prints nothing. Source: bash(1), BASH_ENV and BASH_EXECUTION_STRING.
"""

from __future__ import annotations

import shlex
from pathlib import Path

ADVICE, REFUSAL, ONLY = "lane-advice", "lane-refusal", "lane-only"
"""Advice is read once. A refusal stays until it is lifted, for the commands in the third file, if there is one."""
MARK = "RALPH_LANE"
"""Set below the first command, so that the agent's scripts and test suites are left alone."""


def script(folder: Path, *, before: str = "") -> str:
    """Return the text of the file. folder: where the flags are put. before: the BASH_ENV that it stands in for.

    Only `bash -c` is a command of the agent: a script that starts the agent must not be taken for one. A command may
    stand in lines of its own between others, which the agent puts around it.
    """
    advice, refusal, only = (shlex.quote(str(folder / name)) for name in (ADVICE, REFUSAL, ONLY))
    return f"""if [ -n "${{BASH_EXECUTION_STRING:-}}" ] && [ -z "${{{MARK}:-}}" ]; then
  export {MARK}=1
  if [ -e {refusal} ]; then
    RALPH_HIT=
    if [ -e {only} ]; then
      while IFS= read -r -d '' RALPH_ONE; do
        case $'\\n'"$BASH_EXECUTION_STRING"$'\\n' in *$'\\n'"$RALPH_ONE"$'\\n'*) RALPH_HIT=1 ;; esac
      done < {only}
    else
      RALPH_HIT=1
    fi
    if [ -n "$RALPH_HIT" ] && cat {refusal}; then exit 1; fi
    unset RALPH_HIT RALPH_ONE
  fi
  if [ -e {advice} ] && mv {advice} {advice}.$$; then
    cat {advice}.$$; rm -f {advice}.$$
  fi
fi 2>/dev/null
{_sourced(before)}"""


def _sourced(before: str) -> str:
    return f"if [ -r {shlex.quote(before)} ]; then . {shlex.quote(before)}; fi\n" if before else ""


def put(folder: Path, name: str, text: str, *, only: tuple[str, ...] = ()) -> None:
    """Put a text where the next command finds it, whole or not at all. only: commands that a refusal is for."""
    if name == REFUSAL:
        lifted(folder)
    if only:
        _written(folder / ONLY, "".join(f"{command}\0" for command in only if "\0" not in command))
    _written(folder / name, text + "\n")


def lifted(folder: Path) -> None:
    """Take a refusal back."""
    for name in (REFUSAL, ONLY):  # in this order: a refusal without its commands would be for all
        (folder / name).unlink(missing_ok=True)


def taken_back(folder: Path) -> tuple[str, ...]:
    """Remove what is there, and return the names of it: advice that is still there has not been read."""
    left = tuple(name for name in (ADVICE, REFUSAL) if (folder / name).exists())
    lifted(folder)
    (folder / ADVICE).unlink(missing_ok=True)
    return left


def _written(path: Path, text: str) -> None:
    part = path.with_name(f"{path.name}.part")
    part.write_text(text, encoding="utf-8", errors="replace")
    part.replace(path)
