"""The first code of the `ralph` command: answers what needs no click, then hands over to `cli`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; `--version` is answered before anything else is imported."""
    if sys.platform == "win32":
        sys.exit("ralph needs Linux or macOS: use WSL 2")
    if sys.argv[1:] == ["--version"]:
        from ralph import __version__

        print(f"ralph {__version__}")  # noqa: T201 - stdout is this command's result
        return
    from ralph.cli.app import run

    run()
