"""A scripted agent: a real program that behaves as its scenario says and speaks Claude's event dialect.

Run as `python -I -S agent.py SCENARIO STATE_DIR RALPH`: needs nothing but the standard library.
STATE_DIR counts its launches, outside the repository. It reads its prompt from stdin like any agent.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from subprocess import DEVNULL

FIXES = (
    ("return a - b  # add", "return a + b  # add"),
    ("return a + b  # subtract", "return a - b  # subtract"),
    ("return a * a  # multiply", "return a * b  # multiply"),
)


def say(**event: object) -> None:
    """Print one event."""
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def result(text: str, *, cost: float = 0.02, is_error: bool = False, **more: object) -> None:
    """Print the terminal event."""
    say(
        type="result",
        subtype="success",
        is_error=is_error,
        num_turns=1,
        result=text,
        total_cost_usd=cost,
        session_id=f"demo-{os.getpid()}",
        usage={"input_tokens": 900, "output_tokens": 100},
        **more,
    )


def fix_one() -> None:
    """Put right the first wrong line of calc.py."""
    path = Path("calc.py")
    text = path.read_text(encoding="utf-8")
    for wrong, right in FIXES:
        if wrong in text:
            path.write_text(text.replace(wrong, right), encoding="utf-8")
            return


def done(_launch: int) -> None:
    """Fix one function."""
    fix_one()
    result("Fixed one function; the tests tell how many are left.")


def leak(_launch: int) -> None:
    """Fix one function and leave two background processes behind, one of them well hidden."""
    sleeper = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"]
    subprocess.Popen(sleeper)
    subprocess.Popen(sleeper, start_new_session=True, env={}, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
    fix_one()
    result("Fixed one function and left a server running.")


def stuck(launch: int) -> None:
    """Talk and change nothing."""
    result(f"I have looked at it again ({launch}) and think it is fine.")


def oscillate(launch: int) -> None:
    """Write A, then B, then A …"""
    Path("notes.txt").write_text("first way\n" if launch % 2 else "second way\n", encoding="utf-8")
    result("Tried the other way.")


def tests(launch: int) -> None:
    """Work on everything but the failing tests."""
    Path(f"idea{launch}.txt").write_text(f"idea {launch}\n", encoding="utf-8")
    result("Wrote down another idea.")


def blocked(_launch: int) -> None:
    """Give up honestly through the command made for it."""
    words = ["--tried", "reading calc.py", "--needed", "what multiply is to do with text"]
    subprocess.run([sys.argv[3], "blocked", *words], check=True, stdout=sys.stderr)
    result("I need an answer from a person.")


def slow(_launch: int) -> None:
    """Work and work, never ending by itself."""
    say(type="assistant", message={"id": "m1", "content": [{"type": "text", "text": "Thinking about it."}]})
    time.sleep(600)


def cost(launch: int) -> None:
    """Spend forty cents a time."""
    Path(f"idea{launch}.txt").write_text(f"idea {launch}\n", encoding="utf-8")
    result("That was an expensive thought.", cost=0.40)


def auth(_launch: int) -> None:
    """Fail as an agent that is not logged in."""
    say(
        type="assistant",
        message={"id": "m1", "model": "<synthetic>", "content": []},
        error="authentication_failed",
        is_api_error_message=True,
    )
    result("Not logged in · Please run /login", cost=0, is_error=True)
    sys.exit(1)


def quota(_launch: int) -> None:
    """Meet a usage limit that lifts in six days."""
    resets = int(time.time()) + 6 * 86400
    say(
        type="rate_limit_event",
        rate_limit_info={"status": "rejected", "resetsAt": resets, "rateLimitType": "seven_day"},
    )
    result("You've hit your weekly limit", cost=0, is_error=True, api_error_status=429, api_error="usage_limit_reached")
    sys.exit(1)


def crash(_launch: int) -> None:
    """Die at once."""
    sys.stderr.write("fatal: scripted crash\n")
    sys.exit(1)


SCENARIOS = {
    "done": done,
    "leak": leak,
    "stuck": stuck,
    "oscillate": oscillate,
    "tests": tests,
    "blocked": blocked,
    "time": slow,
    "hang": slow,
    "cost": cost,
    "auth": auth,
    "quota": quota,
    "crash": crash,
}


def launch_number(state: Path) -> int:
    """Return how often this agent has been started, this time included."""
    counter = state / "launches"
    number = 1 + int(counter.read_text(encoding="ascii") if counter.exists() else "0")
    counter.write_text(str(number), encoding="ascii")
    return number


def main() -> None:
    """Read the prompt, then do what the scenario says."""
    sys.stdin.buffer.read()
    number = launch_number(Path(sys.argv[2]))
    say(type="system", subtype="init", session_id=f"demo-{os.getpid()}", model="demo")
    SCENARIOS[sys.argv[1]](number)


if __name__ == "__main__":
    main()
