"""A scripted child: `python -I -S stub.py TOKEN STEP...`; every process it makes carries TOKEN in its command line.

Each process that is to outlive its parent writes its pid into the file `born` of its directory first.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress

SLEEP_S = 600
TOKEN = sys.argv[1]


GUARDIAN = os.getppid()
"""Taken at the start: once the guardian is dead our parent is the supervisor, here the test run itself."""


def send(pid: int, number: int) -> None:
    """Send a signal to a process that may have gone, and that must still be our parent."""
    if os.getppid() == pid or pid == os.getpid():
        os.kill(pid, number)


def born() -> None:
    with open("born", "a") as file:
        file.write(f"{os.getpid()}\n")


def leaf() -> None:
    born()
    time.sleep(SLEEP_S)
    os._exit(0)


def again(*steps: str, env: dict[str, str]) -> None:
    os.execve(sys.executable, [sys.executable, "-I", "-S", __file__, TOKEN, *steps], env)


def plain() -> None:
    leaf()


def nohup() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if os.fork():
        os._exit(0)
    leaf()


def ignores_term() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    leaf()


def own_group() -> None:
    os.setpgid(0, 0)
    leaf()


def own_session() -> None:
    os.setsid()
    leaf()


def daemon() -> None:
    os.setsid()
    if os.fork():
        os._exit(0)
    leaf()


def scrubbed_daemon() -> None:
    os.setsid()
    if os.fork():
        os._exit(0)
    os.closerange(0, 64)
    again("leaf", env={})


def respawner() -> None:
    def flee(*_: object) -> None:
        if os.fork() == 0:
            os.setsid()
            leaf()
        os._exit(0)

    signal.signal(signal.SIGTERM, flee)
    leaf()


def pid_namespace() -> None:
    os.execvp("unshare", ["unshare", "-pf", "--", sys.executable, "-I", "-S", __file__, TOKEN, "leaf"])


SHAPES: dict[str, Callable[[], None]] = {
    shape.__name__: shape
    for shape in (
        plain,
        nohup,
        ignores_term,
        own_group,
        own_session,
        daemon,
        scrubbed_daemon,
        respawner,
        pid_namespace,
    )
}


def escape(shape: str) -> None:
    """Start one process of this shape and go on once it is there."""
    if os.fork() == 0:
        SHAPES[shape]()
    size = 0
    while not size:
        time.sleep(0.002)
        with suppress(OSError):
            size = os.stat("born").st_size  # noqa: PTH116 - pathlib would treble the stub's start


def fork_bomb(depth: str) -> None:
    for _ in range(int(depth)):
        os.fork()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    leaf()


def hop(_: str) -> None:
    """Be another pid every moment."""
    if os.fork():
        return
    born()
    os.setsid()
    while True:
        if os.fork():
            os._exit(0)


def stop(whom: str) -> None:
    send({"self": os.getpid(), "guardian": GUARDIAN}[whom], signal.SIGSTOP)


def die(number: str) -> None:
    os.kill(os.getpid(), int(number))


def kill_guardian(_: str) -> None:
    send(GUARDIAN, signal.SIGKILL)


def say(text: str) -> None:
    os.write(1, text.encode() + b"\n")


def complain(text: str) -> None:
    os.write(2, text.encode() + b"\n")


def write_err(size: str) -> None:
    block = b"e" * 1023 + b"\n"
    for _ in range(int(size) // len(block)):
        sys.stderr.buffer.write(block)
    sys.stderr.buffer.flush()


def read_in(_: str) -> None:
    say(f"read {len(sys.stdin.buffer.read())}")


def flood(_: str) -> None:
    """Print in the background as fast as can be."""
    if os.fork() == 0:
        with suppress(OSError):
            while True:
                os.write(1, b"flood\n" * 1000)
        os._exit(0)


def spin(seconds: str) -> None:
    until = time.monotonic() + float(seconds)
    while time.monotonic() < until:
        pass


def deaf(_: str) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


STEPS: dict[str, Callable[[str], None]] = {
    "escape": escape,
    "bomb": fork_bomb,
    "hop": hop,
    "stop": stop,
    "die": die,
    "kill-guardian": kill_guardian,
    "say": say,
    "complain": complain,
    "write-err": write_err,
    "read-in": read_in,
    "flood": flood,
    "spin": spin,
    "deaf": deaf,
    "sleep": lambda seconds: time.sleep(float(seconds)),
    "exit": lambda code: os._exit(int(code)),
    "leaf": lambda _: leaf(),
}

if __name__ == "__main__":
    for step in sys.argv[2:]:
        name, _, value = step.partition("=")
        STEPS[name](value)
