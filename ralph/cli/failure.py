"""How errors look: what, where, how to mend it, and the code; and the report file of a fault of ours."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback
from pathlib import Path

from ralph import __version__
from ralph.encode.terminal import clean
from ralph.encode.workflow import continued
from ralph.errors import ConfigErrors, UserError


def shown(error: UserError) -> str:
    """Return the error for stderr: one block for each mistake, the code and reason word at the end."""
    several = error.errors if isinstance(error, ConfigErrors) else (error,)
    blocks = [_block(e) for e in several]
    return "\n".join(blocks) + f"  [{error.reason.exit_code} {error.reason.value}]"


def _block(error: UserError) -> str:
    where = f"{error.where}: " if error.where else ""
    lines = [f"error: {continued(clean(where + error.what))}"]
    lines += [f"  mend it: {clean(line)}" for line in error.fix.splitlines() if line]
    return "\n".join(lines)


def report_bug(error: Exception, arguments: list[str]) -> str:
    """Write a report of a fault of ours to a private file and return what to tell the user."""
    text = "".join(traceback.format_exception(error))
    from ralph.encode.redact import Redactor  # not paid for by every start

    redactor = Redactor.of(os.environ)  # the report is to be sent
    head = f"ralph {__version__}, Python {sys.version}, {platform.platform()}\narguments: {arguments}\n\n"
    try:
        with tempfile.NamedTemporaryFile("w", prefix="ralph-bug-", suffix=".txt", delete=False, encoding="utf-8") as f:
            f.write(redactor.text(head + text))
            place = str(Path(f.name))
    except OSError:
        return f"this is a fault in ralph, not in your work:\n{clean(text)}  [1 bug]"
    last = clean(f"{type(error).__name__}: {error}")
    return f"this is a fault in ralph, not in your work: {last}\n  the report to send is {place}  [1 bug]"
