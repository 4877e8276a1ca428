"""Any agent that speaks the Agent Client Protocol over stdio: `ralph run -a acp -- COMMAND …`.

Source: agentclientprotocol.com, protocol version 1; run with Gemini CLI 0.61.0, Qwen Code 0.24.4, opencode 1.18.33 and
Copilot CLI 1.0.102. `acp_stream` reads it, `acp_talk` speaks it.
"""

from __future__ import annotations

from ralph.agents.acp_call import Standing
from ralph.agents.acp_stream import AcpReader
from ralph.agents.acp_talk import AcpTalk
from ralph.agents.adapter import Abilities, Ask, Launch
from ralph.agents.lanes import Lane
from ralph.agents.limits import diagnosis
from ralph.facts.event import Trouble


class Acp:
    """The dialect of `-a acp -- COMMAND`."""

    name = "acp"
    programs: tuple[str, ...] = ()
    takes_command = True
    abilities = Abilities(
        reports_tokens="end",
        reports_tools=True,
        reports_turns=True,
        steered="new prompt",
        note="any program that speaks the Agent Client Protocol (`gemini --acp`, `qwen --acp`, `opencode acp`, "
        "`copilot --acp`); cost and tokens as far as it tells them; advice ends the turn and begins the next one",
    )

    def launch(self, ask: Ask) -> Launch:
        """Return COMMAND as it was typed; model and permissions are asked for in the conversation."""
        return Launch((*ask.program, *ask.args), {"NO_COLOR": "1"}, "conversed")

    def reader(self) -> AcpReader:
        """Return a fresh reader that knows nothing of the conversation."""
        return AcpReader()

    def diagnose(self, error_tail: bytes) -> tuple[Trouble, str] | None:
        """Return what it says on stderr when it cannot even start."""
        return diagnosis(error_tail)

    def conversed(self, ask: Ask) -> Lane:
        """Return the start with a conversation and a reader that know each other."""
        standing = Standing()
        reader = AcpReader(standing, model=ask.model)
        return Lane(self.launch(ask), talk=AcpTalk(ask, standing), reader=reader, asks=False)

    def talk(self) -> AcpTalk:
        """Return a conversation for an agent that works anywhere and asks for nothing."""
        return AcpTalk(Ask(()), Standing())
