"""aider, headless: `aider --message-file FILE --yes-always`, prompt in a file.

Source: its own output, version 0.86.2; the text is read by `aider_text`.
"""

from __future__ import annotations

from ralph.agents.adapter import PROMPT_FILE, Abilities, Ask, Launch
from ralph.agents.aider_text import AiderReader
from ralph.agents.limits import diagnosis
from ralph.facts.event import Trouble

QUIET = (
    "--no-check-update",
    # For this run; --analytics-disable would change the user's own settings for good.
    "--no-analytics",
    "--no-show-release-notes",
    "--no-show-model-warnings",
    "--no-pretty",
    # Told to say yes to all, it would fetch every address in the prompt, and install a browser for that.
    "--no-detect-urls",
)
KEEPS_OFF = ("--no-gitignore", "--no-auto-commits", "--no-dirty-commits")
"""Against its habits of writing `.gitignore` and of committing by itself."""


class Aider:
    """aider."""

    name = "aider"
    programs: tuple[str, ...] = ("aider",)
    abilities = Abilities(
        reports_cost=True,
        reports_tokens="live",
        reports_tools=True,
        writes=(".aider*",),
        note="plain text: tells which files it edited, not how; has no shell tool; exits 0 on every API error; "
        "rounds its tokens and dollars, and tells no dollars of a model without a price",
    )

    def launch(self, ask: Ask) -> Launch:
        """Return argv; its histories go to the scratch folder, its tag cache stays in the tree and is left out."""
        argv = [*ask.program, "--message-file", PROMPT_FILE, *QUIET, *KEEPS_OFF]
        # It never runs a shell command unasked, so all it can do unattended is edit.
        if ask.permissions != "own":
            argv.append("--yes-always")
        if ask.scratch:
            argv += ["--chat-history-file", f"{ask.scratch}/aider.chat.md"]
            argv += ["--input-history-file", f"{ask.scratch}/aider.input"]
        if ask.model is not None:
            argv += ["--model", ask.model]
        return Launch((*argv, *ask.args), {"NO_COLOR": "1"}, "file")

    def reader(self) -> AiderReader:
        """Return a fresh reader."""
        return AiderReader()

    def diagnose(self, error_tail: bytes) -> tuple[Trouble, str] | None:
        """Return what it says on stderr when it cannot even start: unknown flag."""
        return diagnosis(error_tail)
