"""The program agents call before and after their tools: asks the run what to answer, and prints that.

Run as `python -I -S hook.py before|after`: standard library only, as it is started for each tool call. It fails open:
whatever goes wrong, it prints nothing and exits 0, which lets the call run.
"""

import json
import os
import socket
import sys

PATIENCE_S = 4.0
LONGEST = 8192
"""Characters of one text handed on; the run has the whole of it from the agent's own stream."""
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


def asked(path: str, message: dict[str, object]) -> str:
    """Send one line to the run and return the answer's text."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(PATIENCE_S)
        connection.connect(path)
        connection.sendall(json.dumps(message).encode() + b"\n")
        heard = b""
        while b"\n" not in heard:
            piece = connection.recv(65536)
            if not piece:
                break
            heard += piece
    return str(json.loads(heard).get("out") or "")


def main() -> None:
    """Hand the call on and print what comes back."""
    try:
        payload = json.loads(sys.stdin.buffer.read(1 << 22) or b"{}")
        told = {key: value for key, value in payload.items() if key not in NOT_ASKED}
        message = {"verb": "hook", "moment": sys.argv[1], "payload": short(told)}
        out = asked(os.environ["RALPH_SOCKET"], message)
    except Exception:
        return
    sys.stdout.write(out)


if __name__ == "__main__":
    main()
