"""E6: what the supervisor knows (keys of the job, addresses, the journal's descriptor) is not for its children."""

from __future__ import annotations

import subprocess
import sys

import pytest

SECRET = "canary-Zq81-Wm73"
CHILD = """
import ctypes, os, sys
from ralph.process import system

if os.getuid() == 0:
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # a change of user hides by itself: start from what is usual
if sys.argv[1] == "hardened":
    system.harden()
secret = os.open("/dev/null", os.O_RDONLY)

def seen(name):
    place = f"/proc/{os.getppid()}/{name}"
    try:
        if name == "fd":
            os.readlink(f"{place}/{secret}")
        elif name == "cwd":
            os.readlink(place)
        else:
            open(place, "rb").read(1 if name == "mem" else -1)
    except PermissionError:
        return False
    except OSError:
        return True  # allowed in: nothing is mapped at address 0
    return True

if not (child := os.fork()):
    print(*[name for name in ("environ", "fd", "mem", "maps", "cwd") if seen(name)], flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can hide a process from its own user")
@pytest.mark.parametrize(("how", "seen"), [("bare", ["environ", "fd", "mem", "maps", "cwd"]), ("hardened", [])])
def test_e6_a_child_of_the_same_user_reads_nothing_of_a_hardened_process(how: str, seen: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, how], env={"STUB_KEY": SECRET}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == seen
