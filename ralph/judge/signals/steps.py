"""Events of a live stream become steps: a call is paired with its return, hashed and put in its class.

The same steps, written down as rows, are what `steps.jsonl.gz` holds: so a recorded run can be judged again.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from ralph.facts.event import Compacted, Event, Known, Said, ToolCalled, ToolReturned
from ralph.facts.settings import Detect
from ralph.judge.signals.arguments import Arguments, canonical, parsed, simhash
from ralph.judge.signals.calls import Called, called
from ralph.judge.signals.results import hashed, is_malformed, is_void, is_whole, kind_of, normalised
from ralph.judge.signals.step import Step

OPEN_KEPT = 1024
STREAMS_KEPT = 1024
CALL_QUOTE = 160
RESULT_QUOTE = 500
GROWN_FROM = 12
"""Characters; a shorter command is part of many others by chance."""
COMMAND_KEPT = 8192
LOST = 16
"""Model responses after which a call without a result is given up."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A call on its way. args: its hash, None where its arguments are not told: what a refusal goes by."""

    tool: str
    args: str | None
    turn: int
    kind: Called
    simhash: int | None
    grows: bool
    quote: str


@dataclass(slots=True)
class Place:
    """Where one stream stands.

    name: the last id of a model response; names: how many there were. answering: a result came since the last call.
    open: calls without a result yet, with the number of the response that made them.
    """

    turn: int = 0
    prompt: int = 0
    name: str | None = None
    names: int = 0
    answering: bool = False
    open: dict[str, int] = field(default_factory=dict)
    command: str = ""


class StepMaker:
    """Makes the steps of one iteration. root: the work tree, whose paths become relative."""

    def __init__(self, detect: Detect | None = None, *, root: str = "") -> None:
        self._detect = detect or Detect()
        self._root = root
        self._calls: OrderedDict[str, tuple[str, Asked]] = OrderedDict()
        self._places: OrderedDict[str, Place] = OrderedDict()
        self._refused: OrderedDict[str, None] = OrderedDict()
        self._count = 0

    def see(self, event: Event, *, at: float | None = None) -> Step | None:
        """Take the next event; return the step that a tool's return completes. at: seconds on any one clock."""
        if isinstance(event, ToolReturned):
            return self._return(event, at=at)
        if isinstance(event, Said):
            self._turn(self._place(event.stream), event.turn)
        elif isinstance(event, ToolCalled):
            self._call(event)
        elif isinstance(event, Compacted):
            self.compacted(event.stream)
        return None

    def asks(self, tool: str, args: str | None, *, stream: str = "") -> str | None:
        """Return the hash of a call that is about to run, for `Watch.refuses`; None where it is not known."""
        arguments = parsed(args)
        return None if arguments is None else self._hash(tool, arguments)[0]

    def known(self, call: str) -> tuple[str, str | None] | None:
        """Return stream and arguments' hash of a call that the stream has told already, None where it has not."""
        stream, asked = self._calls.get(call, ("", None))
        return None if asked is None else (stream, asked.args)

    def refused(self, call: str) -> None:
        """Take note that we refused the call with this id: its error is our own word, and no evidence."""
        self._refused[call] = None
        if len(self._refused) > OPEN_KEPT:
            self._refused.popitem(last=False)

    def compacted(self, stream: str = "") -> None:
        """Take note that the agent's memory was compacted, or a new prompt begins: it will read again what it knew."""
        self._place(stream).prompt += 1

    def _place(self, stream: str) -> Place:
        found = self._places.get(stream)
        if found is None:
            found = self._places[stream] = Place()
            if len(self._places) > STREAMS_KEPT:
                self._places.popitem(last=False)
        return found

    def _turn(self, place: Place, name: str) -> None:
        """Count model responses: a new id; without ids, the first word or call after a result.

        A model does not answer before it has all results. Where one seems to, several agents speak in one stream:
        what overlaps is one turn, or the same file read by each would look like a loop.
        """
        fresh = place.name is not None and (name != place.name if name else place.answering)
        place.names += fresh
        for call in [call for call, at in place.open.items() if place.names - at > LOST]:
            del place.open[call]  # its result got lost
        place.turn += fresh and not place.open
        place.name, place.answering = name, False

    def _hash(self, tool: str, arguments: Arguments) -> tuple[str, str]:
        keys = self._detect.identity.get(tool, ())
        text = canonical(arguments, keys=keys, root=self._root)
        return hashed(f"{tool}\0{text}"), text

    def _call(self, event: ToolCalled) -> None:
        place = self._place(event.stream)
        self._turn(place, event.turn)
        if event.id in self._calls:
            return
        arguments = parsed(event.args)
        args, text = (None, "") if arguments is None else self._hash(event.name, arguments)
        kind = called(event.name, arguments or {}, polling=self._detect.polling)
        before, place.command = place.command, kind.command[:COMMAND_KEPT] or place.command
        grows = bool(kind.command) and GROWN_FROM <= len(before) < len(kind.command) and before in kind.command
        near = None if arguments is None else simhash(text)
        self._calls[event.id] = event.stream, Asked(event.name, args, place.turn, kind, near, grows, text[:CALL_QUOTE])
        place.open[event.id] = place.names
        if len(self._calls) > OPEN_KEPT:
            lost, (stream, _) = self._calls.popitem(last=False)
            self._place(stream).open.pop(lost, None)

    def _return(self, event: ToolReturned, *, at: float | None) -> Step | None:
        stream, asked = self._calls.pop(event.id, ("", None))
        if asked is None:
            return None
        place = self._place(stream)
        place.open.pop(event.id, None)
        place.answering = True
        return self._step(event, asked, place=place, stream=stream, at=at)

    def _step(self, event: ToolReturned, asked: Asked, *, place: Place, stream: str, at: float | None) -> Step:
        whole = event.known is Known.KNOWN or (event.known is Known.TRUNCATED and is_whole(event.result))
        text = normalised(event.result) if whole else ""
        failed = event.failed is True
        own = event.id in self._refused
        index, self._count = self._count, self._count + 1
        return Step(
            tool=asked.tool,
            args=asked.args,
            result=hashed(text) if whole else None,
            is_error=event.failed,
            changed=asked.kind.changes,
            turn=asked.turn,
            prompt=place.prompt,
            poll=asked.kind.polls,
            target=hashed(asked.kind.target)[:6] if asked.kind.target else None,
            simhash=asked.simhash,
            rlen=len(text) if whole else None,
            index=index,
            stream=stream,
            at=at,
            void=own or ((failed or event.denied) and is_void(event.result)),
            closes=not place.open,
            denied=event.denied,
            malformed=failed and is_malformed(event.result),
            grows=asked.grows,
            span=asked.kind.span,
            kind=kind_of(event.result, len(text), failed=failed, whole=whole),
            quote=event.result[:RESULT_QUOTE],
            call=asked.quote,
        )
