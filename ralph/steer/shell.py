"""The shell lane: a file that bash reads before each command of an agent, and the flag files it looks for.

For agents without hooks whose tools run `bash -c`. It answers the next command, not a certain one; other shells and
other tools never see it. Without a flag file it does nothing and prints nothing. Source: bash(1), BASH_ENV.
"""

from __future__ import annotations

import shlex
from pathlib import Path

ADVICE, REFUSAL = "lane-advice", "lane-refusal"
MARK = "RALPH_LANE"
"""Set below the first command, so that the agent's scripts and test suites are left alone."""


def script(folder: Path, *, before: str = "") -> str:
    """Return the text of the file. folder: where the flags are put. before: the BASH_ENV that it stands in for.

    Only `bash -c` is a command of the agent: a script that starts the agent must not be taken for one.
    """
    advice, refusal = (shlex.quote(str(folder / name)) for name in (ADVICE, REFUSAL))
    return f"""if [ -n "${{BASH_EXECUTION_STRING:-}}" ] && [ -z "${{{MARK}:-}}" ]; then
  export {MARK}=1
  if [ -e {refusal} ] && mv {refusal} {refusal}.$$; then
    cat {refusal}.$$; rm -f {refusal}.$$; exit 1
  fi
  if [ -e {advice} ] && mv {advice} {advice}.$$; then
    cat {advice}.$$; rm -f {advice}.$$
  fi
fi 2>/dev/null
{_sourced(before)}"""


def _sourced(before: str) -> str:
    return f"if [ -r {shlex.quote(before)} ]; then . {shlex.quote(before)}; fi\n" if before else ""


def put(folder: Path, name: str, text: str) -> None:
    """Put a text where the next command finds it, whole or not at all."""
    part = folder / f"{name}.part"
    part.write_text(text + "\n", encoding="utf-8", errors="replace")
    part.replace(folder / name)


def taken_back(folder: Path) -> tuple[str, ...]:
    """Remove what no command has read, and return the names of it."""
    left = tuple(name for name in (ADVICE, REFUSAL) if (folder / name).exists())
    for name in left:
        (folder / name).unlink(missing_ok=True)
    return left
