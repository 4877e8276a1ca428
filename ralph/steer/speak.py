"""The asking end of the control socket: what `ralph stop`, `reload`, `wake` and `blocked` use."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping

from ralph.errors import UserError

PATIENCE_S = 10.0


def ask(path: str, message: Mapping[str, object]) -> Mapping[str, object]:
    """Send one message to a run and return its answer.

    Raises: UserError if nobody listens there, or the run says no.
    """
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(PATIENCE_S)
            connection.connect(path)
            connection.sendall(json.dumps(message).encode() + b"\n")
            answer = json.loads(_line(connection))
    except (OSError, ValueError) as e:
        raise UserError("the run does not answer", where=path, fix="It may have ended: see `ralph status`.") from e
    if not answer.get("ok"):
        raise UserError(f"the run says no: {answer.get('error', 'no reason given')}")
    return dict(answer)


def _line(connection: socket.socket) -> bytes:
    heard = b""
    while b"\n" not in heard:
        piece = connection.recv(65536)
        if not piece:
            break
        heard += piece
    return heard
