"""Runs a function in a forked child that lives only as long: what it imports never stays in the supervisor."""

from __future__ import annotations

import json
import os
import traceback
import warnings
from collections.abc import Callable
from typing import NoReturn, TypeVar

Answer = TypeVar("Answer")


def in_child(work: Callable[[], Answer]) -> Answer:
    """Return what `work` returns, computed in a forked child.

    work: its result must survive JSON (tuples come back as lists). Call it before the process has threads of its own:
    the child is a copy of this thread alone. Raises: RuntimeError when the child fails, with its last words.
    """
    reader, writer = os.pipe()
    child = _fork()
    if not child:
        _answer(work, writer)
    os.close(writer)
    try:
        with open(reader, "rb") as pipe:
            said = pipe.read()
    finally:
        _, status = os.waitpid(child, 0)
    if status:
        raise RuntimeError(f"helper child ended with status {status}: {said.decode(errors='replace')}")
    answer: Answer = json.loads(said)
    return answer


def _fork() -> int:
    with warnings.catch_warnings():
        # Newer interpreters warn about any thread, a debugger's or a test runner's too; `work` takes no locks.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _answer(work: Callable[[], object], writer: int) -> NoReturn:
    """Write the result and leave at once: no exit handler, no buffered output of the parent runs a second time."""
    status = 1
    try:
        try:
            said = json.dumps(work()).encode()
            status = 0
        except BaseException:
            said = traceback.format_exc().encode(errors="replace")
        with open(writer, "wb") as pipe:
            pipe.write(said)
    finally:
        os._exit(status)
