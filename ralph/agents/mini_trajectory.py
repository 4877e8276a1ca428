"""mini-swe-agent's trajectory file into common events: exact dollars, tokens, and how it ended.

It is written as the run goes, so that of a killed one it holds what was so far, without an exit status.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from ralph.agents.fields import canonical, count, items, mapping, micro, shortened, text, word
from ralph.agents.statuses import LITELLM, weighed
from ralph.facts import event as ev
from ralph.facts.event import Event, Finish, Known, Scope
from ralph.facts.usage import Tokens

TRAJECTORY = "trajectory"
SUBMIT = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
STATUSES = {"Submitted": Finish.OK, "LimitsExceeded": Finish.OWN_LIMIT, "TimeExceeded": Finish.OWN_LIMIT}
"""Its exit statuses that are no exception by name."""


def decoded(data: bytes) -> Mapping[str, object]:
    """Return the document, {} for anything that is none."""
    try:
        return mapping(json.loads(data.decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return {}


def used(document: Mapping[str, object]) -> Iterator[Event]:
    """Yield what the run used; dollars of 0 with model calls are those of a model without a price: unknown."""
    responses = [_response(m) for m in map(mapping, items(document.get("messages")))]
    tokens = sum((_tokens(mapping(r.get("usage"))) for r in responses), Tokens())
    cost = micro(mapping(mapping(document.get("info")).get("model_stats")).get("instance_cost"))
    if tokens != Tokens() or cost:
        models = [word(r.get("model")) for r in responses if r.get("model")]
        yield ev.UsageSeen(
            Scope.RUN, "", tokens if tokens != Tokens() else None, cost or None, next(iter(models), None)
        )


def ended(document: Mapping[str, object], answer: str | None) -> Iterator[Event]:
    """Yield how the run ended, nothing if it was not over. answer: what the model said last."""
    info = mapping(document.get("info"))
    status = word(info.get("exit_status"))
    turns = count(mapping(info.get("model_stats")).get("api_calls"))
    if not status:
        return
    yield from finished(status, _last_words(document), answer=text(info.get("submission")) or answer, turns=turns)


def finished(status: str, words: str, *, answer: str | None, turns: int | None) -> Iterator[Event]:
    """Yield the end of a run with this exit status."""
    how = STATUSES.get(status, Finish.FAILED)
    kind = weighed(LITELLM.get(status), words) if how is Finish.FAILED else None
    if kind is not None:
        yield ev.Troubled(kind, words)
    yield ev.Finished(how, answer if how is Finish.OK else None, "" if how is Finish.OK else words or status, turns)


def steps(document: Mapping[str, object]) -> Iterator[Event]:
    """Yield what was said and done, for a run whose text told nothing of it."""
    called = set()
    for number, message in enumerate(map(mapping, items(document.get("messages")))):
        extra, turn = mapping(message.get("extra")), f"message_{number}"
        if message.get("role") == "assistant":
            said = text(message.get("content"))
            if said:
                yield ev.Said(said, turn)
            for action in map(mapping, items(extra.get("actions"))):
                command, call = text(action.get("command")) or "", word(action.get("tool_call_id"))
                if SUBMIT not in command and call not in called:
                    called.add(call)
                    yield ev.ToolCalled(call, "bash", canonical({"command": command}), turn)
        elif message.get("role") == "tool" and word(message.get("tool_call_id")) in called:
            call = word(message.get("tool_call_id"))
            called.discard(call)
            result, cut = shortened(text(extra.get("raw_output"), 1 << 24) or "")
            failed = extra.get("returncode") != 0
            yield ev.ToolReturned(call, result, Known.TRUNCATED if cut else Known.KNOWN, failed)


def _response(message: Mapping[str, object]) -> Mapping[str, object]:
    return mapping(mapping(message.get("extra")).get("response"))


def _tokens(usage: Mapping[str, object]) -> Tokens:
    whole, out = count(usage.get("prompt_tokens")) or 0, count(usage.get("completion_tokens")) or 0
    read = min(count(mapping(usage.get("prompt_tokens_details")).get("cached_tokens")) or 0, whole)
    return Tokens(whole - read, out, read)


def _last_words(document: Mapping[str, object]) -> str:
    last = mapping((items(document.get("messages")) or (None,))[-1])
    return (text(last.get("content"), 2048) or "") if last.get("role") == "exit" else ""
