"""A conversation over the Agent Client Protocol as ralph holds one, and the messages an agent sends in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ralph.agents.acp_call import Standing
from ralph.agents.acp_stream import AcpReader
from ralph.agents.acp_talk import AcpTalk
from ralph.agents.adapter import Ask
from ralph.facts.event import (
    Event,
)
from ralph.facts.steer import ALLOW, Answer, Asked

Table = dict[str, Any]
ASK = Ask(("/opt/agent", "--acp"), args=("--own",), cwd="/repo")
HELLO: Table = {"id": 1, "result": {"protocolVersion": 1, "agentInfo": {"name": "x", "version": "1.2"}}}
OPENED: Table = {"id": 2, "result": {"sessionId": "s"}}


def update(**fields: object) -> Table:
    return {"method": "session/update", "params": {"sessionId": "s", "update": fields}}


def said(text: str) -> Table:
    return update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})


def call(number: int, status: str = "in_progress", **fields: object) -> Table:
    first = {"sessionUpdate": "tool_call", "kind": "execute", "rawInput": {"command": f"run {number}"}}
    return update(**(first | {"toolCallId": f"c{number}", "status": status} | fields))


def done(number: int, text: str | None = "out", status: str = "completed", **fields: object) -> Table:
    content = [] if text is None else [{"type": "content", "content": {"type": "text", "text": text}}]
    return update(sessionUpdate="tool_call_update", toolCallId=f"c{number}", status=status, content=content, **fields)


def permission(number: int, *kinds: str, id_: object = 77, **call_fields: object) -> Table:
    options = [{"optionId": f"{kind}!", "kind": kind} for kind in kinds or ("allow_once", "reject_once")]
    shown = {"toolCallId": f"c{number}", "kind": "execute", "title": f"run {number}", "status": "pending"}
    params = {"sessionId": "s", "toolCall": shown | call_fields, "options": options}
    return {"id": id_, "method": "session/request_permission", "params": params}


def result(number: int = 5, stop: str = "end_turn", **fields: object) -> Table:
    return {"id": number, "result": {"stopReason": stop, **fields}}


@dataclass
class Line:
    """A conversation with its reader, as ralph holds one: the reader hears first."""

    ask: Ask = ASK
    answer: Callable[[Asked], Answer] = lambda _: ALLOW
    asked: list[Asked] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    sent: list[Table] = field(default_factory=list)

    def __post_init__(self) -> None:
        standing = Standing()
        self.reader = AcpReader(standing, model=self.ask.model)
        self.talk = AcpTalk(self.ask, standing)
        self.write(self.talk.first(b"Do it."))

    def write(self, data: bytes) -> None:
        self.sent += [json.loads(line) for line in data.splitlines()]

    def decide(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        return self.answer(asked)

    def hear(self, *messages: object) -> Line:
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.events += self.reader.line("out", line)
            self.write(self.talk.hear(line, self.decide))
        return self

    def says(self, text: str) -> None:
        self.write(self.talk.says(text))

    @property
    def methods(self) -> list[str]:
        return [m.get("method", "answer") for m in self.sent]

    @property
    def prompts(self) -> list[str]:
        return [m["params"]["prompt"][0]["text"] for m in self.sent if m.get("method") == "session/prompt"]

    def told(self, kind: type) -> list[Any]:
        return [e for e in self.events if isinstance(e, kind)]


def opened(**options: Any) -> Line:
    """Return a conversation whose first prompt is on."""
    return Line(**options).hear(HELLO, OPENED)
