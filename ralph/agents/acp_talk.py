"""Our side of the Agent Client Protocol: handshake, prompt, permissions, and advice as a prompt of its own.

A refusal carries no reason there, and nothing can be added to a turn. So whatever is to be said goes as
`session/cancel` and, once the turn has ended, as a new prompt in the same session, whose history is kept.

When to cancel matters: a turn that is cut while the model answers is forgotten by Gemini as a whole, task included; one
that is cut where a call asks or runs is kept. So an agent that asks is cut at its next call, and one that does not at
once (a call may do work that should not be cut), with the task said again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from ralph import __version__
from ralph.agents.acp_call import Call, Standing
from ralph.agents.acp_message import (
    ID_CAP,
    INITIALIZE,
    MODE,
    MODEL,
    NEW,
    PROMPT,
    VERSION,
    Line,
    fault,
    is_answer,
    model_named,
    models_of,
    option_of,
    values_of,
)
from ralph.agents.adapter import Ask
from ralph.agents.fields import digest, items, mapping, shortened, word
from ralph.agents.lines import Lines
from ralph.facts.event import MAIN
from ralph.facts.steer import Asked, Decide

MODES = {"ask-nothing": ("yolo", "bypasspermissions", "fullaccess"), "edits": ("autoedit", "acceptedits"), "own": ()}
"""Modes by which agents ask for less, without what differs in their spelling."""
EDITS = frozenset({"read", "edit", "search", "think"})
"""Kinds of calls that may run where edits are all that is allowed."""
SAID_CAP = 32
"""Prompts of ours in one run; an agent that listens to none of them needs another kind of end."""
METHOD_NOT_FOUND = -32601
TASK = "The task, in case it was lost with the turn that was cut short:"
TASK_CAP = 16 << 10
"""Characters of the prompt that are said again."""


class AcpTalk:
    """One run's conversation. Answers requests whatever they are, so that no agent waits for us."""

    def __init__(self, ask: Ask, standing: Standing) -> None:
        self._ask = ask
        self._standing = standing
        self._lines = Lines(Line)
        self._prompt = ""
        self._session = ""
        self._steps: list[tuple[int, str, dict[str, object]]] = []
        self._awaits = INITIALIZE
        self._asks = False
        self._over = False
        self._said: set[str] = set()

    def first(self, prompt: bytes) -> bytes:
        """Return the first request; the prompt follows when the session is there."""
        self._prompt = prompt.decode("utf-8", "replace")
        serves = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
        who = {"name": "ralph", "title": "ralph", "version": __version__}
        params = {"protocolVersion": VERSION, "clientCapabilities": serves, "clientInfo": who}
        return _request(INITIALIZE, "initialize", params)

    def hear(self, line: bytes, decide: Decide) -> bytes:
        """Take one line of its stdout; return what to write back."""
        return b"".join(out for record in self._lines.take(line) for out in self._react(record, decide))

    def says(self, text: str) -> bytes:
        """Return what makes room for a prompt with this text, which follows when the turn has ended."""
        return b"" if not self._queue(text) or self._asks else self._cancel()

    def unsaid(self) -> tuple[str, ...]:
        """Return the texts that no prompt carried any more, once it is over."""
        return tuple(self._standing.queued)

    def interrupts(self) -> bytes:
        """Return what ends the turn."""
        return self._cancel()

    def is_over(self) -> bool:
        """Return whether the last turn has ended, or there will be none."""
        return self._over

    def _react(self, record: Line, decide: Decide) -> Iterator[bytes]:
        if is_answer(record):
            # Nothing else is an answer to what we asked last: a forged one opens no second session.
            if record.id == self._awaits and not self._over:
                yield self._go_on(record)
        elif record.method == "session/update":
            if self._standing.queued and _begins_a_call(record.params):
                yield self._cancel()
        elif record.method is not None and _is_id(record.id):
            if record.method == "session/request_permission":
                yield _line({"id": record.id, "result": {"outcome": self._outcome(mapping(record.params), decide)}})
                if self._standing.queued:
                    yield self._cancel()
            else:
                error = {"code": METHOD_NOT_FOUND, "message": "ralph does not serve this method"}
                yield _line({"id": record.id, "error": error})

    # one step after the other

    def _go_on(self, record: Line) -> bytes:
        if self._awaits >= PROMPT:
            return self._ended()
        if fault(record, model=self._ask.model) is not None:
            self._over = True
            return b""
        if self._awaits == INITIALIZE:
            return self._send(NEW, "session/new", {"cwd": self._ask.cwd or "/", "mcpServers": []})
        if self._awaits == NEW:
            self._session = word(mapping(record.result).get("sessionId"), ID_CAP)
            self._steps = list(self._settings(mapping(record.result)))
        if self._steps:
            return self._send(*self._steps.pop(0))
        return self._send_prompt(self._prompt)

    def _settings(self, opened: Mapping[str, object]) -> Iterator[tuple[int, str, dict[str, object]]]:
        """Yield the requests that give the session its model and mode, in the way in which it offers them."""
        session: dict[str, object] = {"sessionId": self._session}
        model = model_named(self._ask.model, models_of(opened)) if self._ask.model is not None else None
        if model is not None and mapping(opened.get("models")):
            yield MODEL, "session/set_model", {**session, "modelId": model}
        elif model is not None:
            option = word(option_of(opened, "model").get("id"), ID_CAP)
            yield MODEL, "session/set_config_option", {**session, "configId": option, "value": model}
        modes = mapping(opened.get("modes"))
        offered = [word(mapping(mode).get("id"), ID_CAP) for mode in items(modes.get("availableModes"))]
        mode = _fitting(offered, self._ask.permissions)
        if mode is not None:
            yield MODE, "session/set_mode", {**session, "modeId": mode}
            return
        setting = option_of(opened, "mode")
        mode = _fitting(values_of(setting), self._ask.permissions)
        if mode is not None:
            config = {"configId": word(setting.get("id"), ID_CAP), "value": mode}
            yield MODE, "session/set_config_option", {**session, **config}

    def _send(self, number: int, method: str, params: dict[str, object]) -> bytes:
        self._awaits = number
        return _request(number, method, params)

    def _send_prompt(self, text: str) -> bytes:
        number = max(PROMPT, self._awaits + 1)
        block = {"type": "text", "text": text}
        return self._send(number, "session/prompt", {"sessionId": self._session, "prompt": [block]})

    def _ended(self) -> bytes:
        """Go on with what this prompt was cut for; a turn that ended by itself is the end."""
        goes_on, self._standing.cutting = self._standing.goes_on, False
        if not goes_on:
            self._over = True
            return b""
        texts = [*self._standing.queued]
        self._standing.queued.clear()
        if not self._asks:
            texts.append(f"{TASK}\n\n{shortened(self._prompt, TASK_CAP)[0]}")
        return self._send_prompt("\n\n".join(texts))

    def _queue(self, text: str) -> bool:
        """Put a text on the next prompt, each only once; return whether it was."""
        mark = digest(text)
        if not text or self._over or mark in self._said or len(self._said) >= SAID_CAP:
            return False
        self._said.add(mark)
        self._standing.queued.append(text)
        return True

    def _cancel(self) -> bytes:
        if self._awaits < PROMPT or self._standing.cutting or self._over:
            return b""
        self._standing.cutting = True
        return _line({"method": "session/cancel", "params": {"sessionId": self._session}})

    # permissions

    def _outcome(self, params: Mapping[str, object], decide: Decide) -> dict[str, str]:
        session = word(params.get("sessionId"), ID_CAP)
        stream = MAIN if session == self._session else word(session)
        call = self._standing.call(stream, mapping(params.get("toolCall")))
        options = [mapping(option) for option in items(params.get("options"))]
        self._asks = True
        if self._standing.queued or self._standing.cutting or self._over:
            return {"outcome": "cancelled"}
        if self._allows(call, stream, decide):
            return _chosen(options, "allow_once", "allow_always")
        self._standing.refused.append((stream, call.id))
        return _chosen(options, "reject_once", "reject_always")

    def _allows(self, call: Call, stream: str, decide: Decide) -> bool:
        permissions = self._ask.permissions
        if permissions == "own" or (permissions == "edits" and call.kind not in EDITS):
            return False
        answer = decide(Asked("before", call.name, call.args, call.id, stream))
        if answer.act != "allow":
            self._queue(answer.text)
        return answer.act != "deny"


def _fitting(offered: Iterable[str], permissions: str) -> str | None:
    """Return the mode to work in, as the agent spells it; None to stay in the one it begins with."""
    wanted = MODES[permissions]
    plain = {re.sub(r"[^a-z]", "", mode.rpartition("#")[2].lower()): mode for mode in offered}
    return next((plain[name] for name in wanted if name in plain), None)


def _chosen(options: list[Mapping[str, object]], *kinds: str) -> dict[str, str]:
    """Return the answer that picks the first option of the first kind there is; without one nobody has answered."""
    for kind in kinds:
        for option in options:
            id_ = option.get("optionId")
            if option.get("kind") == kind and isinstance(id_, str) and len(id_) <= ID_CAP:
                return {"outcome": "selected", "optionId": id_}
    return {"outcome": "cancelled"}


def _begins_a_call(params: object) -> bool:
    """Return whether an update tells that a call is on its way."""
    update = mapping(mapping(params).get("update"))
    return update.get("sessionUpdate") == "tool_call" or update.get("status") == "in_progress"


def _is_id(value: object) -> bool:
    """Return whether this can be sent back as the id of an answer."""
    if isinstance(value, str):
        return len(value) <= ID_CAP
    return type(value) is int and abs(value) < 1 << 63


def _request(number: int, method: str, params: Mapping[str, object]) -> bytes:
    return _line({"id": number, "method": method, "params": params})


def _line(message: Mapping[str, object]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n"
