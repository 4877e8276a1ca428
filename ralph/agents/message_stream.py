"""Streams of whole messages, after the pattern of Claude Code's, as other agents write them.

Each `assistant` event is a message or a part of one, `user` events carry tool results, `result` closes the run.
What differs is told by the constructor: how tokens are counted, and what a text of the agent's own looks like.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal

import msgspec

from ralph.agents.fields import canonical, count, items, mapping, plain_text, seconds, shortened, text, word
from ralph.agents.lines import Lines, Seen
from ralph.agents.statuses import weighed
from ralph.agents.turns import Turns
from ralph.facts import event as ev
from ralph.facts.event import MAIN, Event, Finish, Known, Scope
from ralph.facts.usage import Tokens

STREAMS_CAP = 256
"""Sub-agents whose turns are told apart."""


class Line(msgspec.Struct):
    """The fields we read of any line."""

    type: object = None
    subtype: object = None
    uuid: object = None
    parent_tool_use_id: object = None
    session_id: object = None
    model: object = None
    qwen_code_version: object = None
    message: object = None
    data: object = None
    is_error: object = None
    result: object = None
    error: object = None
    num_turns: object = None
    usage: object = None
    permission_denials: object = None
    call_id: object = None
    tool_call: object = None


Count = Callable[[object], Tokens | None]


class MessageReader:
    """Reads one run. count_tokens: how this agent counts. own_words: how a text begins that no model wrote."""

    def __init__(self, count_tokens: Count, *, own_words: str | None = None) -> None:
        self._lines = Lines(Line)
        self._count = count_tokens
        self._own_words = own_words
        self._uuids, self._called, self._returned, self._denied = Seen(), Seen(), Seen(), Seen()
        self._turns: dict[str, Turns] = {}
        self._messages = 0
        self.finished = False
        self.handlers: dict[str, Callable[[Line, str], Iterator[Event]]] = {
            "system": self._system,
            "assistant": self._assistant,
            "user": self._user,
            "result": self._result,
        }

    def line(self, stream: Literal["out", "err"], line: bytes) -> tuple[Event, ...]:
        """Return the events of one line of stdout."""
        return self._events(self._lines.take(line)) if stream == "out" else ()

    def end(self) -> tuple[Event, ...]:
        """Return the events of a document that was spread over lines."""
        return self._events(self._lines.rest())

    def turns(self, stream: str) -> Turns:
        """Return the turns of a stream."""
        if stream not in self._turns and len(self._turns) >= STREAMS_CAP:
            del self._turns[next(name for name in self._turns if name != MAIN)]
        return self._turns.setdefault(stream, Turns())

    def shown(self, result: str) -> str:
        """Return a tool's result without what differs from call to call though nothing changed."""
        return result

    def ended(self, record: Line) -> tuple[Finish, str]:
        """Return how the result says it ended, and the words of a failure."""
        error = record.error if isinstance(record.error, str) else mapping(record.error).get("message")
        words = text(error, 2048) or (text(record.result, 2048) if record.is_error is True else "") or ""
        subtype = word(record.subtype)
        if record.is_error is True or (record.is_error is not False and subtype != "success"):
            return (Finish.OWN_LIMIT if subtype.startswith("error_max_") else Finish.FAILED), words
        return Finish.OK, ""

    def _events(self, records: tuple[Line, ...]) -> tuple[Event, ...]:
        found: list[Event] = []
        for record in records:
            reading, uuid = self.handlers.get(word(record.type)), word(record.uuid)
            if reading is not None and not (uuid and not self._uuids.add(uuid)):
                found += reading(record, word(record.parent_tool_use_id))
        return tuple(found)

    def _system(self, record: Line, stream: str) -> Iterator[Event]:
        if record.subtype == "init":
            model, version = word(record.model) or None, word(record.qwen_code_version) or None
            yield ev.Started(word(record.session_id) or None, model, version)
        elif record.subtype == "retry":
            data = mapping(record.data)
            yield ev.Retrying(word(data.get("reason")), seconds(data.get("delayMs"), per_second=1000))

    def _assistant(self, record: Line, stream: str) -> Iterator[Event]:
        message = mapping(record.message)
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else items(content)
        self.turns(stream).said()
        for block in map(mapping, blocks):
            if block.get("type") == "tool_use":
                yield from self._call(block, stream)
            elif block.get("type") == "text":
                yield from self._say(text(block.get("text")), stream)
        yield from self._used(message, stream)

    def _say(self, said: str | None, stream: str) -> Iterator[Event]:
        ours = said is not None and self._own_words is not None and said.startswith(self._own_words)
        if said and not ours:
            yield ev.Said(said, self.turns(stream).name, stream)

    def _call(self, block: Mapping[str, object], stream: str) -> Iterator[Event]:
        call = word(block.get("id"))
        if self._called.add(call):
            args = canonical(block["input"]) if "input" in block else None
            yield ev.ToolCalled(call, word(block.get("name")), args, self.turns(stream).called(), stream)

    def _used(self, message: Mapping[str, object], stream: str) -> Iterator[Event]:
        tokens = self._count(message.get("usage"))
        if tokens is None:
            return
        # Figures come with the last part of a response.
        self.turns(stream).closed()
        self._messages += 1
        key = word(message.get("id")) or f"message_{self._messages}"
        yield ev.UsageSeen(Scope.CALL, key, tokens, None, word(message.get("model")) or None)

    def _user(self, record: Line, stream: str) -> Iterator[Event]:
        for block in map(mapping, items(mapping(record.message).get("content"))):
            call = word(block.get("tool_use_id"))
            if block.get("type") == "tool_result" and self._returned.add(call):
                self.turns(stream).returned()
                result, cut = shortened(self.shown(plain_text(block.get("content"))))
                known = Known.TRUNCATED if cut else Known.KNOWN
                yield ev.ToolReturned(call, result, known, block.get("is_error") is True, call in self._denied, stream)

    def _denials(self, record: Line) -> Iterator[Event]:
        for denial in map(mapping, items(record.permission_denials)):
            call = word(denial.get("tool_use_id"))
            if call and self._denied.add(call):
                yield ev.ToolReturned(call, "", Known.UNKNOWN, failed=True, denied=True)

    def _result(self, record: Line, stream: str) -> Iterator[Event]:
        self.finished = True
        yield from self._denials(record)
        tokens = self._count(record.usage)
        if tokens is not None:
            yield ev.UsageSeen(Scope.RUN, "", tokens)
        how, words = self.ended(record)
        kind = weighed(None, words) if how is Finish.FAILED else None
        if kind is not None:
            yield ev.Troubled(kind, words)
        answer = text(record.result) if how is Finish.OK else None
        turns = count(record.num_turns)
        yield ev.Finished(how, answer, words, turns if turns is not None else self.turns(MAIN).count)
