"""mini-swe-agent, headless: `mini -t PROMPT -y --exit-immediately -o FILE`, prompt as an argument.

Source: its own output, version 2.4.6; text and trajectory are read by `mini_text` and `mini_trajectory`.
"""

from __future__ import annotations

from collections.abc import Mapping

from ralph.agents.adapter import PROMPT_TEXT, Abilities, Ask, Launch
from ralph.agents.limits import diagnosis
from ralph.agents.mini_text import MiniReader
from ralph.agents.mini_trajectory import TRAJECTORY
from ralph.facts.event import Trouble
from ralph.facts.usage import MICRO


class Mini:
    """mini-swe-agent."""

    name = "mini"
    programs: tuple[str, ...] = ("mini",)
    abilities = Abilities(
        reports_cost=True,
        reports_tokens="end",
        reports_tools=True,
        reports_turns=True,
        own_cap="-l",
        note="the prompt is an argument, so 128 KiB is the most; tells whole cents while it works, tokens and exact "
        "dollars in a file once it has ended; has no mode for edits alone, so that is its own permissions",
    )

    def launch(self, ask: Ask) -> Launch:
        """Return argv; its first-run questions are off."""
        argv = [*ask.program, "-t", PROMPT_TEXT, "--exit-immediately"]
        if ask.permissions == "ask-nothing":
            argv.append("-y")
        if ask.model is not None:
            argv += ["-m", ask.model]
        if ask.budget_micro is not None:
            # 0 would mean that there is no limit.
            argv += ["-l", f"{max(1, ask.budget_micro) / MICRO:.6f}"]
        for path in self.files(ask.scratch).values():
            argv += ["-o", path]
        env = {"MSWEA_CONFIGURED": "true", "MSWEA_SILENT_STARTUP": "1", "NO_COLOR": "1"}
        return Launch((*argv, *ask.args), env, "argument")

    def files(self, scratch: str) -> Mapping[str, str]:
        """Return where it writes its trajectory, {} without a scratch folder."""
        return {TRAJECTORY: f"{scratch}/mini-trajectory.json"} if scratch else {}

    def reader(self) -> MiniReader:
        """Return a fresh reader."""
        return MiniReader()

    def diagnose(self, error_tail: bytes) -> tuple[Trouble, str] | None:
        """Return what it says on stderr when it cannot even start; lists of prices it could not fetch say nothing."""
        lines = error_tail.split(b"\n")
        return diagnosis(b"\n".join(line for line in lines if b"cost map" not in line and b"cost_map" not in line))
