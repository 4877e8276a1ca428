"""How long `ralph --version` and `ralph --help` take, as a current pip installs them: python -m benchmarks.startup.

The wheel is built from this tree and installed into a temporary virtual environment, whose third-party packages are
those of the environment that measures. Yardstick: `python -c pass` of the temporary environment.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Figure, in_turns, ms, ratio, walls

ROOT = Path(__file__).resolve().parent.parent
TARGETS = {"--version": 1.15, "--help": 6.0}


def figures(*, quick: bool = False) -> Iterator[Figure]:
    """Yield one figure a flag; without a value where the wheel cannot be built or installed here."""
    yardstick = "python -c pass"
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        try:
            python, ralph = installed(scratch)
        except subprocess.CalledProcessError as error:
            why = (error.stderr or b"").decode("utf-8", "replace").strip().splitlines()[-1:]
            for flag, target in TARGETS.items():
                yield Figure(f"ralph {flag}", None, "x", target, yardstick, detail="; ".join(why))
            return
        commands = {"pass": [str(python), "-c", "pass"], **{flag: [str(ralph), flag] for flag in TARGETS}}
        deeds = {key: lambda argv=argv: run(argv, scratch) for key, argv in commands.items()}
        taken = in_turns(deeds, rounds=11 if quick else 31, warm_up=2)
        for flag, target in TARGETS.items():
            told = f"{ms(walls(taken[flag]))} against {ms(walls(taken['pass']))}"
            yield Figure(
                f"ralph {flag}", ratio(walls(taken[flag]), walls(taken["pass"])), "x", target, yardstick, detail=told
            )


def run(argv: list[str], cwd: Path) -> None:
    """Run a command outside of this tree, its output dropped."""
    subprocess.run(argv, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)


def installed(scratch: Path) -> tuple[Path, Path]:
    """Install the wheel of this tree and return the environment's python and ralph. Raises: CalledProcessError."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    quietly([*pip, "wheel", "--no-deps", "--wheel-dir", str(scratch / "wheels"), str(ROOT)])
    quietly([sys.executable, "-m", "venv", "--without-pip", str(scratch / "venv")])
    python = scratch / "venv" / "bin" / "python"
    wheel = next((scratch / "wheels").glob("ralph-*.whl"))
    quietly([*pip, "--python", str(python), "install", "--no-deps", "--no-compile", str(wheel)])
    borrow_packages(python)
    quietly([str(python), "-m", "compileall", "-q", str(scratch / "venv" / "lib")])
    return python, python.with_name("ralph")


def borrow_packages(python: Path) -> None:
    """Link the third-party packages of the measuring environment into the temporary one, and nothing of ralph's."""
    there = Path(next((python.parent.parent / "lib").glob("python*/site-packages")))
    for package in Path(sysconfig.get_paths()["purelib"]).iterdir():
        name = package.name.lower()
        # A .pth file would be read at every start, in our command and in the yardstick alike, but not in a user's.
        if not (there / package.name).exists() and package.suffix != ".pth" and not name.startswith(("ralph", "__")):
            (there / package.name).symlink_to(package)


def quietly(argv: list[str]) -> None:
    """Run a command, its output kept for the error. Raises: CalledProcessError."""
    subprocess.run(argv, check=True, capture_output=True, cwd=ROOT)


if __name__ == "__main__":
    for figure in figures(quick="--quick" in sys.argv):
        print(figure)
