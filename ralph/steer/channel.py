"""The one control socket of a run: who may say what is decided by the peer's pid (design 4.1).

A process below the guardian is the agent's: it may report `blocked` (and later call hooks), nothing else.
Any other process of this user is the operator's: it may stop, reload and wake, and not pose as the agent.
One message a connection: a JSON object in, a JSON object out, each at most 64 KiB, each on one line.
"""

from __future__ import annotations

import json
import os
import selectors
import shutil
import socket
import struct
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from ralph.facts.ending import Cut

MESSAGE_CAP = 64 << 10
CONNECTION_CAP = 32
Reply = tuple[Mapping[str, object], Cut | None]
Handler = Callable[[Mapping[str, object]], Reply]
Who = Literal["agent", "operator"]


class Channel:
    """A listening UNIX socket in a short 0700 folder; a `Side` of the selector. Never blocks, never raises."""

    def __init__(
        self,
        *,
        agent: Mapping[str, Handler],
        operator: Mapping[str, Handler],
        who: Callable[[int], Who | None],
    ) -> None:
        self._handlers: dict[Who, Mapping[str, Handler]] = {"agent": agent, "operator": operator}
        self._who = who
        self._folder = Path(tempfile.mkdtemp(prefix="ralph-"))
        self.path = self._folder / "s"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
        self._socket.bind(str(self.path))
        self._socket.listen(CONNECTION_CAP)
        self._heard: dict[socket.socket, bytes] = {}
        self._asker: dict[socket.socket, Who | None] = {}
        # One pollable descriptor stands for the listener and every open connection.
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._socket, selectors.EVENT_READ)

    def fileno(self) -> int:
        """Return the descriptor that is readable when a message may be waiting."""
        return self._selector.fileno()

    def ready(self) -> Cut | None:
        """Take what came without waiting; return the first `Cut` a handler asked for."""
        cut: Cut | None = None
        for key, _ in self._selector.select(0):
            if key.fileobj is self._socket:
                self._accept()
            elif isinstance(key.fileobj, socket.socket):
                cut = cut or self._read(key.fileobj)
        return cut

    def close(self) -> None:
        """Stop listening and remove the folder."""
        for connection in tuple(self._heard):
            self._drop(connection)
        self._selector.close()
        self._socket.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _accept(self) -> None:
        try:
            connection, _ = self._socket.accept()
        except OSError:
            return
        if len(self._heard) >= CONNECTION_CAP:
            # A flood of silent connections must not shut the operator out: the oldest goes.
            self._drop(next(iter(self._heard)))
        connection.setblocking(False)
        # Asked at once: a process that has already gone cannot be placed, so it is nobody, not the operator.
        pid = peer_pid(connection)
        self._asker[connection] = self._who(pid) if pid is not None else None
        self._heard[connection] = b""
        self._selector.register(connection, selectors.EVENT_READ)

    def _read(self, connection: socket.socket) -> Cut | None:
        try:
            data = connection.recv(MESSAGE_CAP)
        except BlockingIOError:
            return None
        except OSError:
            data = b""
        heard = self._heard[connection] + data
        if data and b"\n" not in heard and len(heard) < MESSAGE_CAP:
            self._heard[connection] = heard
            return None
        reply, cut = self._answer(connection, heard)
        self._send(connection, reply)
        self._drop(connection)
        return cut

    def _answer(self, connection: socket.socket, heard: bytes) -> Reply:
        message = _decoded(heard)
        if message is None:
            return {"ok": False, "error": "not one JSON object on one line"}, None
        verb = str(message.get("verb"))
        who = self._asker[connection]
        if who is None:
            return {"ok": False, "error": "who is asking cannot be told"}, None
        handler = self._handlers[who].get(verb)
        if handler is None:
            return {"ok": False, "error": f"the {who} may not say '{verb[:40]}'"}, None
        return handler(message)

    def _send(self, connection: socket.socket, reply: Mapping[str, object]) -> None:
        try:
            connection.send(json.dumps(reply).encode() + b"\n")
        except OSError:
            return  # the asker has gone; what it asked for is done all the same

    def _drop(self, connection: socket.socket) -> None:
        self._heard.pop(connection, None)
        self._asker.pop(connection, None)
        self._selector.unregister(connection)
        connection.close()


def _decoded(heard: bytes) -> Mapping[str, object] | None:
    try:
        message = json.loads(heard.partition(b"\n")[0])
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def peer_pid(connection: socket.socket) -> int | None:
    """Return the pid at the other end, None where the system does not tell or it is another user's.

    Source: unix(7), SO_PEERCRED (struct ucred: pid, uid, gid).
    """
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return None
    pid, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, option, struct.calcsize("3i")))
    return int(pid) if uid in (os.getuid(), 0) and pid > 0 else None
