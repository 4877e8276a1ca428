"""The program agents call before and after their tools: asks the run what to answer, and prints that.

Run as `python -I -S hook.py before|after`, once for each tool call, so its start is what it costs: it imports nothing
that is not built in, and reads no JSON where there is nothing to say. It fails open: whatever goes wrong, it prints
nothing and exits 0, which lets the call run.
"""

import sys

PATIENCE_S = 4.0
ROOM = 60_000
"""Bytes of a payload that is handed on as it came; the run takes messages of 64 KiB."""
LONGEST = 8192
"""Characters of one text of a larger one; the run has the whole of it from the agent's own stream."""
NOT_ASKED = ("tool_response", "toolResult")
"""The result of a call: the run has that from the stream too."""


def short(value: object, depth: int = 0) -> object:
    """Return a value with its long texts cut, so that the message stays small."""
    if isinstance(value, str):
        return value[:LONGEST]
    if depth > 8:
        return None
    if isinstance(value, dict):
        return {str(key): short(item, depth + 1) for key, item in list(value.items())[:200]}
    if isinstance(value, list):
        return [short(item, depth + 1) for item in value[:200]]
    return value


def shortened(payload: bytes) -> bytes:
    """Return a large payload without what nobody asks for."""
    import json

    told = json.loads(payload)
    return json.dumps(short({key: value for key, value in told.items() if key not in NOT_ASKED})).encode()


def asked(path: str, message: bytes) -> bytes:
    """Send one line to the run and return its answer."""
    # The module that `socket` is built upon: the larger one takes three times as long to load as all the rest.
    from _socket import AF_UNIX, SOCK_STREAM, socket

    connection = socket(AF_UNIX, SOCK_STREAM)
    try:
        connection.settimeout(PATIENCE_S)
        connection.connect(path)
        connection.sendall(message + b"\n")
        heard = b""
        while b"\n" not in heard:
            piece = connection.recv(65536)
            if not piece:
                break
            heard += piece
    finally:
        connection.close()
    return heard


def said(answer: bytes) -> str:
    """Return what to print: mostly nothing."""
    if b'"out": ""' in answer or b'"out"' not in answer:
        return ""
    import json

    return str(json.loads(answer).get("out") or "")


def main() -> None:
    """Hand the call on and print what comes back."""
    try:
        from os import environ

        moment = sys.argv[1]
        payload = sys.stdin.buffer.read(1 << 22)
        if len(payload) > ROOM:
            payload = shortened(payload)
        if moment not in ("before", "after") or not payload.strip():
            return
        # In JSON a line's end can only stand between values, where a blank is as good.
        line = payload.replace(b"\n", b" ").replace(b"\r", b" ")
        out = said(
            asked(environ["RALPH_SOCKET"], b'{"verb":"hook","moment":"%s","payload":%s}' % (moment.encode(), line))
        )
    except Exception:
        return
    sys.stdout.write(out)


if __name__ == "__main__":
    main()
