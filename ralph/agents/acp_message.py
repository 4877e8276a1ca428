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


def model_of(result: object) -> str:
    """Return the model a new session works with, "" if it does not tell."""
    models = mapping(mapping(result).get("models"))
    return word(models.get("currentModelId") or option_of(result, "model").get("currentValue"))


def models_of(result: object) -> Mapping[str, str]:
    """Return the models that a new session offers: ids with the names people know them by."""
    models = mapping(mapping(result).get("models"))
    if models:
        told = [mapping(m) for m in items(models.get("availableModels"))]
        return {word(m.get("modelId"), ID_CAP): word(m.get("name")) for m in told}
    return values_of(option_of(result, "model"))


def model_named(wanted: str, offered: Mapping[str, str]) -> str | None:
    """Return the id of the model the user named by its id or its name, None if there is none or more than one."""
    if wanted in offered:
        return wanted
    named = [id_ for id_, name in offered.items() if name == wanted]
    return named[0] if len(named) == 1 else None


def option_of(result: object, category: str) -> Mapping[str, object]:
    """Return the session's option of this category, {} if it has none."""
    options = [mapping(option) for option in items(mapping(result).get("configOptions"))]
    return next((o for o in options if category in (o.get("category"), o.get("id"))), {})


def values_of(option: Mapping[str, object]) -> Mapping[str, str]:
    """Return the values of a select option with their names, those in groups as well."""
    found: dict[str, str] = {}
    for entry in map(mapping, items(option.get("options"))):
        for value in map(mapping, items(entry.get("options")) or [entry]):
            found[word(value.get("value"), ID_CAP)] = word(value.get("name"))
    return found


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
        offered = models_of(record.result)
        if model is not None and model_named(model, offered) is None:
            told = f"it offers {', '.join(list(offered)[:20])}" if offered else "it lets nobody choose one"
            return Trouble.MISCONFIGURED, f'model "{model}" cannot be had: {told}'
    return None
