"""What people and the agent asked of a live run over the control socket: noted here, acted on by the loop in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from ralph.facts.ending import Cut, Why
from ralph.facts.finding import Blocked
from ralph.facts.steer import Moment
from ralph.judge.interruption import Wish
from ralph.steer.blocked import blocked_from_fields
from ralph.steer.channel import Handler, Reply

Hook = Callable[[Moment, Mapping[str, object]], tuple[str, Cut | None]]


class Control:
    """The wishes of a run's operator and its agent. A wish stays until the loop takes it."""

    def __init__(self) -> None:
        self.stop: Wish | None = None
        self._reload = False
        self._waiting = False
        self._blocked: Blocked | None = None
        self._hook: Hook | None = None

    def operator(self) -> Mapping[str, Handler]:
        """Return what the operator may say."""
        return {"stop": self._on_stop, "reload": self._on_reload, "wake": self._on_wake}

    def agent(self) -> Mapping[str, Handler]:
        """Return what the agent may say."""
        return {"blocked": self._on_blocked, "hook": self._on_hook}

    @contextmanager
    def hooks(self, answer: Hook) -> Iterator[None]:
        """Let the agent's hooks be answered while it runs."""
        self._hook = answer
        try:
            yield
        finally:
            self._hook = None

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Note that the run waits: meanwhile `stop` and `wake` end the wait."""
        self._waiting = True
        try:
            yield
        finally:
            self._waiting = False

    def take_reload(self) -> bool:
        """Return whether a reload was asked for, and forget it."""
        asked, self._reload = self._reload, False
        return asked

    def take_blocked(self) -> Blocked | None:
        """Return the agent's claim to be blocked, and forget it."""
        claim, self._blocked = self._blocked, None
        return claim

    @property
    def is_given_up(self) -> bool:
        """Return whether the agent now running has said that it is blocked."""
        return self._blocked is not None

    def _on_stop(self, message: Mapping[str, object]) -> Reply:
        self.stop = "now" if message.get("now") is True else "after"
        if self.stop == "now":
            return {"ok": True}, Cut(Why.STOP_NOW, "asked for by `ralph stop --now`")
        return {"ok": True}, self._end_of_wait()

    def _on_reload(self, _message: Mapping[str, object]) -> Reply:
        self._reload = True
        return {"ok": True}, None

    def _on_wake(self, _message: Mapping[str, object]) -> Reply:
        if not self._waiting:
            return {"ok": False, "error": "the run is not waiting"}, None
        return {"ok": True}, self._end_of_wait()

    def _end_of_wait(self) -> Cut | None:
        return Cut(Why.WAKE) if self._waiting else None

    def _on_hook(self, message: Mapping[str, object]) -> Reply:
        payload, moment = message.get("payload"), message.get("moment")
        if self._hook is None or not isinstance(payload, dict) or moment not in ("before", "after"):
            return {"ok": True, "out": ""}, None
        out, cut = self._hook("before" if moment == "before" else "after", payload)
        return {"ok": True, "out": out}, cut

    def _on_blocked(self, message: Mapping[str, object]) -> Reply:
        claim = blocked_from_fields(message)
        if not isinstance(claim, Blocked):
            return {"ok": False, "error": claim}, None
        self._blocked = claim
        return {"ok": True}, None
