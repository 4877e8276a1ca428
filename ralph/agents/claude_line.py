"""One line of Claude Code's stream-json: the fields we read, its words for errors, its way to count tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ralph.agents.fields import canonical, count, items, mapping, plain_text
from ralph.agents.lines import loaded
from ralph.facts.event import Trouble
from ralph.facts.usage import Tokens

SYNTHETIC = "<synthetic>"
KINDS = {
    "billing_error": Trouble.QUOTA,
    "usage_limit_reached": Trouble.QUOTA,
    "authentication_failed": Trouble.AUTH,
    "oauth_org_not_allowed": Trouble.AUTH,
    "prompt_too_long": Trouble.CONTEXT,
    "model_not_found": Trouble.MISCONFIGURED,
    "rate_limit": Trouble.OUTAGE,
    "server_error": Trouble.OUTAGE,
    "overloaded": Trouble.OUTAGE,
}
"""Its own words for an error: `api_error`, `error`, `terminal_reason`. Texts decide only where these are silent."""


class Line(msgspec.Struct):
    """The fields we read of any line; the rest (whole files, tool lists) is skipped unread.

    message: raw where the line was read the fast way: `message_of` reads it, in the lines that need it.
    """

    type: object = None
    subtype: object = None
    uuid: object = None
    parent_tool_use_id: object = None
    session_id: object = None
    model: object = None
    claude_code_version: object = None
    message: object = None
    event: object = None
    api_message_id: object = None
    retry_delay_ms: object = None
    error: object = None
    api_error: object = None
    is_api_error_message: object = None
    rate_limit_info: object = None
    tool_use_id: object = None
    tool_result_meta: object = None
    is_error: object = None
    result: object = None
    errors: object = None
    stop_reason: object = None
    terminal_reason: object = None
    num_turns: object = None
    total_cost_usd: object = None
    usage: object = None
    modelUsage: object = None  # noqa: N815 - its name in the stream
    model_usage_since_last_result: object = None
    permission_denials: object = None


class Swift(Line):
    """A line as it nearly always is: its message stays raw."""

    message: msgspec.Raw = msgspec.Raw(b"null")


class Block(msgspec.Struct):
    """One part of a message. input: raw where the message was, UNSET where it is absent."""

    type: object = None
    id: object = None
    name: object = None
    text: object = None
    tool_use_id: object = None
    content: object = None
    is_error: object = None
    input: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET

    def args(self) -> str | None:
        """Return the tool's arguments as canonical JSON text, None if there are none."""
        if self.input is msgspec.UNSET:
            return None
        given = self.input
        return canonical(_any(given) if isinstance(given, msgspec.Raw) else given)


class Message(msgspec.Struct):
    """What a model or a tool said. content: its parts; a plain text is one part of type "text"."""

    id: object = None
    model: object = None
    usage: object = None
    stop_reason: object = None
    content: list[Block] | str | None = None

    @property
    def blocks(self) -> Sequence[Block]:
        """Return the parts."""
        if isinstance(self.content, str):
            return (Block(type="text", text=self.content),)
        return self.content or ()

    @property
    def words(self) -> str:
        """Return the text of all parts."""
        if isinstance(self.content, str):
            return plain_text([{"type": "text", "text": self.content}])
        return plain_text([{"type": block.type, "text": block.text} for block in self.blocks])


_any = msgspec.json.Decoder().decode
_message = msgspec.json.Decoder(Message).decode


def message_of(value: object) -> Message:
    """Return the message of a line, an empty one where there is none. Never raises for what an agent printed."""
    if not isinstance(value, msgspec.Raw):
        return _built(value)
    try:
        return _message(value)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return _built(loaded(bytes(value)))


def _built(value: object) -> Message:
    """Return the message of a decoded value in which anything may be of any type."""
    told = mapping(value)
    content = told.get("content")
    parts = content if isinstance(content, str) else [_block(mapping(part)) for part in items(content)]
    return Message(told.get("id"), told.get("model"), told.get("usage"), told.get("stop_reason"), parts)


def _block(part: Mapping[str, object]) -> Block:
    return Block(**{name: part[name] for name in Block.__struct_fields__ if name in part})  # type: ignore[arg-type]


def tokens_of(usage: object) -> Tokens | None:
    """Return the normalised tokens of a usage object, None if it holds no figure at all."""
    found = mapping(usage)
    plain, out = count(found.get("input_tokens")), count(found.get("output_tokens"))
    read, write = count(found.get("cache_read_input_tokens")), count(found.get("cache_creation_input_tokens"))
    if plain is None and out is None and read is None and write is None:
        return None
    return Tokens((plain or 0) + (write or 0), out or 0, read or 0, write or 0)


def larger(one: Tokens, other: Tokens) -> Tokens:
    return Tokens(
        max(one.input, other.input),
        max(one.output, other.output),
        max(one.cache_read, other.cache_read),
        max(one.cache_write, other.cache_write),
    )


def was_refused(result: str) -> bool:
    """Return whether a failed result says that the tool never ran (2.1.197 says it in words alone)."""
    start = result[:200]
    return start.startswith("Claude requested permissions") or "is disabled for this session" in start
