"""Claude Code's stream-json into common events.

Usage is the agent's: input without cached tokens. Numbers of `assistant` events are those of the start of the
call; what a call really used comes with `message_delta` (partial messages), and the whole run's with `result`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Literal

from ralph.agents.claude_line import (
    KINDS,
    SYNTHETIC,
    Block,
    Line,
    Message,
    Swift,
    larger,
    message_of,
    tokens_of,
    was_refused,
)
from ralph.agents.fields import count, items, mapping, micro, plain_text, seconds, shortened, text, word
from ralph.agents.limits import epoch, epoch_in, is_notice, trouble_of
from ralph.agents.lines import Lines, Seen
from ralph.facts import event as ev
from ralph.facts.event import Event, Finish, Known, Scope, Trouble
from ralph.facts.usage import Tokens

STREAMS_CAP = 256
"""Sub-agents whose running call is remembered."""


class ClaudeReader:
    """Reads one run. Every result is told, also a second that contradicts the first: judges weigh them (R016)."""

    def __init__(self) -> None:
        self._lines = Lines(Line, swift=Swift)
        self._uuids, self._calls, self._returns, self._denied = Seen(), Seen(), Seen(), Seen()
        self._open: dict[str, tuple[str, Tokens, str | None]] = {}
        self._counted = Seen()
        self._until: datetime | None = None
        self._truncated = False
        self._troubled = False
        self._charged, self._used = 0, Tokens()
        self._handlers: dict[str, Callable[[Line], Iterator[Event]]] = {
            "system": self._system,
            "assistant": self._assistant,
            "user": self._user,
            "stream_event": self._partial,
            "rate_limit_event": self._rate_limit,
            "result": self._result,
        }

    def line(self, stream: Literal["out", "err"], line: bytes) -> tuple[Event, ...]:
        """Return the events of one line of stdout."""
        return self._events(self._lines.take(line)) if stream == "out" else ()

    def end(self) -> tuple[Event, ...]:
        """Return the events of a document that was spread over lines."""
        return self._events(self._lines.rest())

    def _events(self, records: tuple[Line, ...]) -> tuple[Event, ...]:
        found: list[Event] = []
        for record in records:
            reading = self._handlers.get(word(record.type))
            uuid = word(record.uuid)
            if reading is not None and not (uuid and not self._uuids.add(uuid)):
                found += reading(record)
        return tuple(found)

    def _system(self, record: Line) -> Iterator[Event]:
        match record.subtype:
            case "init":
                model, version = word(record.model) or None, word(record.claude_code_version) or None
                yield ev.Started(word(record.session_id) or None, model, version)
            case "api_retry":
                yield ev.Retrying(word(record.error), seconds(record.retry_delay_ms, per_second=1000))
            case "compact_boundary":
                yield ev.Compacted(word(record.parent_tool_use_id))
            case "permission_denied":
                self._denied.add(word(record.tool_use_id))
            case _:
                pass

    def _partial(self, record: Line) -> Iterator[Event]:
        """Yield what one model call has used so far: at its start the input, at its end the output too."""
        part = mapping(record.event)
        stream = word(record.parent_tool_use_id)
        if part.get("type") == "message_start":
            message = mapping(part.get("message"))
            call, model = word(message.get("id")), word(message.get("model")) or None
            yield from self._call(stream, call, usage=message.get("usage"), model=model)
        elif part.get("type") == "message_delta":
            known, _, model = self._open.get(stream, ("", Tokens(), None))
            call = word(record.api_message_id) or known
            yield from self._call(stream, call, usage=part.get("usage"), model=model)

    def _call(self, stream: str, call: str, *, usage: object, model: str | None) -> Iterator[Event]:
        tokens = tokens_of(usage)
        if tokens is None or not call:
            return
        before = self._open.get(stream)
        if before is not None and before[0] == call:
            tokens = larger(tokens, before[1])
        self._open[stream] = (call, tokens, model)
        if len(self._open) > STREAMS_CAP:
            del self._open[next(iter(self._open))]
        self._counted.add(call)
        yield ev.UsageSeen(Scope.CALL, call, tokens, None, model)

    def _assistant(self, record: Line) -> Iterator[Event]:
        message = message_of(record.message)
        stream, turn, model = word(record.parent_tool_use_id), word(message.id), word(message.model)
        if model == SYNTHETIC or record.is_api_error_message is True or word(record.error):
            yield from self._refusal(record, message)
            return
        if turn not in self._counted:
            yield from self._call(stream, turn, usage=message.usage, model=model or None)
        for block in message.blocks:
            kind = word(block.type)
            said = text(block.text) if kind == "text" else None
            if said:
                yield ev.Said(said, turn, stream)
            elif kind.endswith("tool_use"):
                yield from self._called(block, turn=turn, stream=stream)
            elif kind.endswith("tool_result"):
                yield from self._returned(block, stream=stream, meta={})

    def _called(self, block: Block, *, turn: str, stream: str) -> Iterator[Event]:
        call = word(block.id)
        if self._calls.add(call):
            yield ev.ToolCalled(call, word(block.name), block.args(), turn, stream)

    def _user(self, record: Line) -> Iterator[Event]:
        metas = {word(m.get("id")): m for m in map(mapping, items(record.tool_result_meta))}
        stream = word(record.parent_tool_use_id)
        for block in message_of(record.message).blocks:
            if block.type == "tool_result":
                meta = metas.get(word(block.tool_use_id), {})
                yield from self._returned(block, stream=stream, meta=meta)

    def _returned(self, block: Block, *, stream: str, meta: Mapping[str, object]) -> Iterator[Event]:
        call = word(block.tool_use_id)
        if not self._returns.add(call):
            return
        result, cut = shortened(plain_text(block.content))
        failed = block.is_error is True
        if failed and (was_refused(result) or word(meta.get("non_execution_kind"))):
            self._denied.add(call)
        known = Known.TRUNCATED if cut else Known.KNOWN
        yield ev.ToolReturned(call, result, known, failed, call in self._denied, stream)

    def _rate_limit(self, record: Line) -> Iterator[Event]:
        info = mapping(record.rate_limit_info)
        status, until = word(info.get("status")), epoch(info.get("resetsAt"))
        if status == "rejected" and info.get("isUsingOverage") is not True:
            self._until = until
        if status in ("rejected", "allowed_warning"):
            words = f"{word(info.get('rateLimitType'))} {status}".strip()
            yield ev.Troubled(Trouble.QUOTA, words, until, final=False)

    def _refusal(self, record: Line, message: Message) -> Iterator[Event]:
        """Yield the trouble an error in the place of an answer tells of; a sub-agent's is not the end of the run."""
        if "max_output_tokens" in (record.error, record.api_error):
            self._truncated = True
            return
        if message.stop_reason == "refusal":
            return
        yield from self._trouble(record, message.words, final=not record.parent_tool_use_id)

    def _trouble(self, record: Line, words: str, *, final: bool) -> Iterator[Event]:
        named = (record.terminal_reason, record.api_error, record.error)
        kind = next((KINDS[w] for w in map(word, named) if w in KINDS), None)
        read = trouble_of(words)
        # Older versions call a used-up subscription "rate_limit" too; only its text, or the event before it, tells.
        if kind in (None, Trouble.OUTAGE) and read is not None:
            kind = read
        if kind is Trouble.OUTAGE and self._until is not None and word(record.error) == "rate_limit":
            kind = Trouble.QUOTA
        if kind is not None:
            self._troubled = self._troubled or final
            until = self._until or epoch_in(words) if kind is Trouble.QUOTA else None
            yield ev.Troubled(kind, shortened(words, 2048)[0], until, final)

    def _result(self, record: Line) -> Iterator[Event]:
        yield from self._denials(record)
        yield from self._totals(record)
        how = self._finish(record)
        said = text(record.result)
        words = said or "; ".join(filter(None, (text(e, 2048) for e in items(record.errors)[:8])))
        if how is Finish.OK and is_notice(words):
            yield ev.Troubled(Trouble.QUOTA, words, self._until or epoch_in(words))
        elif how is Finish.FAILED and not self._troubled:
            yield from self._trouble(record, words, final=True)
        answer, told = (said, "") if how is Finish.OK else (None, shortened(words, 2048)[0])
        yield ev.Finished(how, answer, told, count(record.num_turns))

    def _denials(self, record: Line) -> Iterator[Event]:
        for denial in map(mapping, items(record.permission_denials)):
            call = word(denial.get("tool_use_id"))
            if call and self._denied.add(call):
                yield ev.ToolReturned(call, "", Known.UNKNOWN, failed=True, denied=True)

    def _totals(self, record: Line) -> Iterator[Event]:
        """Yield the figures of a result.

        2.1.332 may print several results, each with what came since the last: they add up to this run.
        Before, dollars were the session's, and a second result repeated the run: the larger counts (R016).
        """
        session, tokens = word(record.session_id), tokens_of(record.usage)
        since = mapping(record.model_usage_since_last_result)
        costs = [c for c in (micro(mapping(m).get("costUSD")) for m in since.values()) if c is not None]
        if since and len(costs) == len(since):
            self._charged += sum(costs)
            self._used += tokens or Tokens()
            yield ev.UsageSeen(Scope.RUN, session, self._used, self._charged)
            return
        if tokens is not None:
            yield ev.UsageSeen(Scope.RUN, session, tokens)
        models = [micro(mapping(m).get("costUSD")) for m in mapping(record.modelUsage).values()]
        # Sub-agents have been missing in the total while each model's sum had them (R073).
        totals = [micro(record.total_cost_usd), sum(c for c in models if c is not None) if models else None]
        known = [t for t in totals if t is not None]
        if known:
            yield ev.UsageSeen(Scope.SESSION, session, None, max(known))

    def _finish(self, record: Line) -> Finish:
        subtype, reason = word(record.subtype), word(record.terminal_reason)
        # `subtype` says "success" on API errors, `terminal_reason` "completed" (2.1.197): only `is_error` is safe.
        failed = record.is_error is True or (record.is_error is not False and subtype != "success")
        if record.stop_reason == "refusal":
            return Finish.REFUSED
        if not failed:
            return Finish.OK
        if subtype.startswith("error_max_"):
            return Finish.OWN_LIMIT
        if record.api_error == "max_output_tokens" or self._truncated:
            return Finish.TRUNCATED
        return Finish.INTERRUPTED if reason.startswith("aborted") else Finish.FAILED
