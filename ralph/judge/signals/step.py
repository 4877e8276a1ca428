"""One call of a tool with its result, reduced to hashes and counts: what every detector works on.

The eleven values of a row are the format in which real agent runs are published and which `steps.jsonl.gz` holds:
`[tool, args, result, is_error, changed, turn, prompt, poll, target, simhash, rlen]`. What a live stream tells beyond
them stands in a twelfth, an object, and only where there is something to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Row = list[object]

Kind = Literal["empty", "bare-error", "too-large", "truncated", "other"]
"""What a result was like, as far as loops begin there."""

SHORT = 60
"""Characters; a result up to here is an acknowledgement, or says that nothing was found."""
LARGE = 20_000
"""Characters; a result from here on drowns what the agent looked for."""


@dataclass(frozen=True, slots=True)
class Step:
    """One call with its result.

    args, result: 12 hex that stand for tool and canonical arguments, and for the normalised result; None where they
    are not known in full: then they equal nothing. is_error: None where the agent does not say. changed: the step
    very probably changed files (True), only read (False), cannot tell (None). turn: number of the model response;
    calls of one turn were chosen together. prompt: grows with each user prompt and each compaction. target: 6 hex of
    the file, or of a shell command's program. simhash: 64 bits; a distance <= 12 is a rewording. rlen: characters
    of the normalised result, None where it is not known.

    Live streams only: index: number of the step in its iteration, from 0. stream: "" for the main agent. at: seconds
    on any one clock. void: infrastructure, a person's or our own refusal, an echo of another call's error: no
    evidence of anything. closes: no other call of this turn is open. denied: refused by the agent's permissions.
    malformed: the call was no valid call. grows: the command contains the previous one. span: part of a file read
    (first, last). quote: head of the result, call: head of the arguments, both raw.
    """

    tool: str
    args: str | None
    result: str | None
    is_error: bool | None = None
    changed: bool | None = None
    turn: int = 0
    prompt: int = 0
    poll: bool = False
    target: str | None = None
    simhash: int | None = None
    rlen: int | None = None
    index: int = 0
    stream: str = ""
    at: float | None = None
    void: bool = False
    closes: bool = True
    denied: bool = False
    malformed: bool = False
    grows: bool = False
    span: tuple[int, int] | None = None
    kind: Kind | None = None
    quote: str = ""
    call: str = ""

    @property
    def failed(self) -> bool:
        """Return whether the agent says that the call failed."""
        return self.is_error is True

    @property
    def accepted(self) -> bool:
        """Return whether this was a change that went through."""
        return self.changed is True and self.is_error is not True

    @property
    def short(self) -> bool:
        """Return whether the result is so short that it tells little; False where it is not known."""
        return self.rlen is not None and self.rlen <= SHORT

    @property
    def origin(self) -> Kind:
        """Return what kind of result this was."""
        if self.kind is not None:
            return self.kind
        if self.result is None or self.rlen is None:
            return "truncated"
        if self.rlen == 0:
            return "empty"
        if self.failed and self.short:
            return "bare-error"
        return "too-large" if self.rlen >= LARGE else "other"


def row_of(step: Step) -> Row:
    """Return the step as a row: hashes and counts only."""
    flag = {True: 1, False: 0, None: None}
    simhash = None if step.simhash is None else f"{step.simhash:016x}"
    row: Row = [step.tool, step.args, step.result, flag[step.is_error], flag[step.changed], step.turn, step.prompt]
    row += [int(step.poll), step.target, simhash, step.rlen]
    more = _more(step)
    return [*row, more] if more else row


def step_of(row: Sequence[object], index: int = 0, *, closes: bool = True) -> Step:
    """Return the step of a row. closes: the next row of its stream has another turn.

    Raises: ValueError, TypeError, IndexError, AttributeError for what is no row.
    """
    tool, args, result, is_error, changed, turn, prompt, poll, target, simhash, rlen = row[:11]
    more = row[11] if len(row) > 11 and isinstance(row[11], dict) else {}
    span = more.get("span")
    return Step(
        tool=str(tool),
        args=None if args is None else str(args),
        result=None if result is None else str(result),
        is_error=None if is_error is None else bool(is_error),
        changed=None if changed is None else bool(changed),
        turn=_whole(turn),
        prompt=_whole(prompt),
        poll=bool(poll),
        target=None if target is None else str(target),
        simhash=int(str(simhash), 16) if simhash is not None else None,
        rlen=None if rlen is None or result is None else _whole(rlen),
        index=index,
        stream=str(more.get("stream", "")),
        at=more.get("at"),
        void=bool(more.get("void")),
        closes=closes,
        denied=bool(more.get("denied")),
        malformed=bool(more.get("malformed")),
        grows=bool(more.get("grows")),
        span=(int(span[0]), int(span[1])) if span else None,
        kind=more.get("kind"),
    )


def _whole(value: object) -> int:
    if isinstance(value, int | float):
        return int(value)
    raise ValueError(f"no number: {value!r}")


def _more(step: Step) -> dict[str, object]:
    """Return what the eleven values cannot say, without what is the default."""
    told: dict[str, object] = {
        "stream": step.stream,
        "at": round(step.at, 3) if step.at is not None and step.poll else None,
        "void": int(step.void),
        "denied": int(step.denied),
        "malformed": int(step.malformed),
        "grows": int(step.grows),
        "span": step.span,
        "kind": step.kind if step.kind not in (None, "other", "empty") else None,
    }
    return {key: value for key, value in told.items() if value}
