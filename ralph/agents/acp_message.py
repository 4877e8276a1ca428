"""Messages of the Agent Client Protocol: JSON-RPC 2.0, one object a line, and what stands in those around a session.

Source: agentclientprotocol.com, version 1.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ralph.agents.fields import canonical, items, mapping, text, word
from ralph.agents.statuses import of_status, weighed
from ralph.facts.event import Trouble

INITIALIZE, NEW, MODEL, MODE, PROMPT = 1, 2, 3, 4, 5
"""Ids of our requests, in the order in which they are sent; each further prompt has the next number."""
VERSION = 1
AUTH_REQUIRED = -32000
ID_CAP = 4096


class Line(msgspec.Struct):
    """The fields we read of any message."""

    id: object = None
    method: object = None
    params: object = None
    result: object = None
    error: object = None


def is_answer(record: Line) -> bool:
    """Return whether the message answers a request of ours; a result of null is none the less one."""
    return record.method is None and type(record.id) is int


def words_of(error: object) -> str:
    """Return what a JSON-RPC error says, in one line."""
    found = mapping(error)
    data = found.get("data")
    told = data if isinstance(data, str) else mapping(data).get("details") or mapping(data).get("message")
    parts = (text(found.get("message"), 2048) or "", text(told, 2048) or "")
    return ": ".join(dict.fromkeys(part for part in parts if part)) or canonical(error, 2048) or ""


def trouble_in(error: object) -> Trouble | None:
    """Return what kind of trouble an error tells of; codes of the protocol, HTTP statuses, then words."""
    code, words = mapping(error).get("code"), words_of(error)
    read = weighed(of_status(code), words)
    return read or (Trouble.AUTH if code == AUTH_REQUIRED else None)


def models_of(result: object) -> tuple[str, tuple[str, ...]]:
    """Return the model a new session works with and those that it offers, both empty if it does not tell."""
    models = mapping(mapping(result).get("models"))
    if models:
        offered = [word(mapping(m).get("modelId")) for m in items(models.get("availableModels"))]
        return word(models.get("currentModelId")), tuple(filter(None, offered))
    option = option_of(result, "model")
    return word(option.get("currentValue")), values_of(option)


def option_of(result: object, category: str) -> Mapping[str, object]:
    """Return the session's option of this category, {} if it has none."""
    options = [mapping(option) for option in items(mapping(result).get("configOptions"))]
    return next((o for o in options if category in (o.get("category"), o.get("id"))), {})


def values_of(option: Mapping[str, object]) -> tuple[str, ...]:
    """Return the values of a select option, those in groups as well."""
    found: list[str] = []
    for entry in map(mapping, items(option.get("options"))):
        grouped = items(entry.get("options"))
        found += [word(mapping(value).get("value"), ID_CAP) for value in (grouped or [entry])]
    return tuple(filter(None, found))


def fault(record: Line, *, model: str | None) -> tuple[Trouble, str] | None:
    """Return why the session cannot be had, from an answer to a request before the first prompt; None if it can."""
    if record.id == MODE:
        return None
    if record.error is not None:
        return trouble_in(record.error) or Trouble.MISCONFIGURED, words_of(record.error)
    if record.id == INITIALIZE:
        spoken = mapping(record.result).get("protocolVersion")
        if spoken != VERSION:
            return Trouble.MISCONFIGURED, f"it speaks version {canonical(spoken, 64)} of the protocol, ralph {VERSION}"
    if record.id == NEW:
        if not word(mapping(record.result).get("sessionId"), ID_CAP):
            return Trouble.MISCONFIGURED, "it opened a session without an id"
        offered = models_of(record.result)[1]
        if model is not None and model not in offered:
            told = f"it offers {', '.join(offered[:20])}" if offered else "it lets nobody choose one"
            return Trouble.MISCONFIGURED, f'model "{model}" cannot be had: {told}'
    return None
