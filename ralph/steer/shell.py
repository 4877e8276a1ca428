"""The shell lane: a file that bash reads before each command of an agent, and the flag files it looks for.

For agents without hooks whose tools run `bash -c`. It answers the next command, not a certain one; other shells and
other tools never see it. Without a flag file it does nothing and prints nothing. Source: bash(1), BASH_ENV.
"""

from __future__ import annotations

import shlex
from pathlib import Path

ADVICE, REFUSAL = "lane-advice", "lane-refusal"
MARK = "RALPH_LANE"
"""Set below the first shell, so that the agent's scripts and test suites are left alone."""


def script(folder: Path) -> str:
    """Return the text of the file. folder: where the flags are put."""
    advice, refusal = (shlex.quote(str(folder / name)) for name in (ADVICE, REFUSAL))
    return f"""if [ -z "${{{MARK}:-}}" ]; then
  export {MARK}=1
  if mv {refusal} {refusal}.$$ 2>/dev/null; then
    cat {refusal}.$$; rm -f {refusal}.$$; exit 1
  fi
  if mv {advice} {advice}.$$ 2>/dev/null; then
    cat {advice}.$$; rm -f {advice}.$$
  fi
fi 2>/dev/null
"""


def put(folder: Path, name: str, text: str) -> None:
    """Put a text where the next command finds it, whole or not at all."""
    part = folder / f"{name}.part"
    part.write_text(text + "\n", encoding="utf-8", errors="replace")
    part.replace(folder / name)


def taken_back(folder: Path) -> None:
    """Remove what no command has read."""
    for name in (ADVICE, REFUSAL):
        (folder / name).unlink(missing_ok=True)
