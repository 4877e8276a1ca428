"""Claude Code's control channel: prompt, hooks and advice over its own stdin and stdout, a JSON object a line.

Seen with 2.1.197 and 2.1.332. An unanswered hook is a denied call there, so each is answered at once; requests we do
not know are answered with an error, for which it has a way on of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import msgspec

from ralph.agents import hooks
from ralph.agents.fields import clean, mapping, word
from ralph.facts.steer import Decide

TIMEOUT_S = 60
"""A hook that we do not answer in time is a denied call: rather wait than refuse by accident."""


class Line(msgspec.Struct):
    """The fields we read of a line."""

    type: object = None
    request_id: object = None
    request: object = None
    parent_tool_use_id: object = None


class ClaudeTalk:
    """One run's conversation."""

    def __init__(self) -> None:
        self._over = False
        self._decode = msgspec.json.Decoder(Line).decode

    def first(self, prompt: bytes) -> bytes:
        """Return the handshake, which registers our hooks, and the prompt."""
        registered = {
            event: [{"matcher": "*", "hookCallbackIds": [event], "timeout": TIMEOUT_S}] for event in hooks.MOMENTS
        }
        hello = _request("ralph-1", {"subtype": "initialize", "hooks": registered})
        return hello + _message(prompt.decode("utf-8", "replace"))

    def hear(self, line: bytes, decide: Decide) -> bytes:
        """Take one line of stdout; return the answer to a request. With its result the conversation is over."""
        asks = b'"control_request"' in line
        if not asks and b'"result"' not in line:
            return b""
        try:
            told = self._decode(line)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            return b""
        if told.type == "result" and not told.parent_tool_use_id:
            self._over = True
        if told.type != "control_request":
            return b""
        return _answer(word(told.request_id), _reply(mapping(told.request), decide))

    def says(self, text: str) -> bytes:
        """Return a user message for the middle of the turn; the model reads it with its next request."""
        return _message(text) if text and not self._over else b""

    def interrupts(self) -> bytes:
        """Return what ends the turn at once: its result tells of an interruption."""
        return b"" if self._over else _request("ralph-2", {"subtype": "interrupt"})

    def is_over(self) -> bool:
        """Return whether its result has come."""
        return self._over


def _reply(request: Mapping[str, object], decide: Decide) -> Mapping[str, object] | str:
    """Return the answer to a request, or why there is none."""
    if request.get("subtype") != "hook_callback":
        return "not supported"
    event = word(request.get("callback_id"))
    asked = hooks.asked_of(hooks.MOMENTS.get(event, "after"), mapping(request.get("input")))
    return {} if asked is None else hooks.reply_of(event, decide(asked))


def _answer(request: str, reply: Mapping[str, object] | str) -> bytes:
    told: dict[str, object] = {"subtype": "success", "request_id": request, "response": reply}
    if isinstance(reply, str):
        told = {"subtype": "error", "request_id": request, "error": reply}
    return _line({"type": "control_response", "response": told})


def _request(name: str, request: Mapping[str, object]) -> bytes:
    return _line({"type": "control_request", "request_id": name, "request": request})


def _message(text: str) -> bytes:
    content = [{"type": "text", "text": clean(text)}]
    return _line({"type": "user", "message": {"role": "user", "content": content}})


def _line(value: Mapping[str, object]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8") + b"\n"
