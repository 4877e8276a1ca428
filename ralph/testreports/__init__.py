"""Reads what a test command reported into ids and counts. A new format is one file and one row in `FORMATS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ralph.testreports import exitcode, gotest, junit, pytest, tap, unittest
from ralph.testreports.gotest import is_noise
from ralph.testreports.parsed import Parsed

__all__ = ["FORMATS", "Format", "Outputs", "Parsed", "guess", "is_noise", "read"]


@dataclass(frozen=True, slots=True)
class Format:
    """One way to report. parse: None where the bytes are not this format; never raises.

    from_text: it is what a runner prints, so it is tried on the output when nothing else is said. counted: its own
    last line tells how many tests there were, so ids lost from the output are noticed.
    """

    parse: Callable[[bytes], Parsed | None]
    from_text: bool
    counted: bool = False


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "junit": Format(junit.parse, from_text=False),
        "pytest": Format(pytest.parse, from_text=True, counted=True),
        "unittest": Format(unittest.parse, from_text=True, counted=True),
        "gotest": Format(gotest.parse, from_text=True),
        "tap": Format(tap.parse, from_text=True),
        "exit": Format(exitcode.parse, from_text=True),
    }
)
"""In the order in which they are tried. "exit" takes everything, so it is last."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """What a test command left. report: the bytes of a fresh file at {report}, None where there is none.

    text: what it printed, standard output first, then standard error. cut: the middle of it was not kept.
    """

    report: bytes | None = None
    text: bytes = b""
    cut: bool = False


def guess(outputs: Outputs) -> str:
    """Return the format these outputs are in: of the report file where there is one, else of the text, else "exit"."""
    return read(outputs, "auto")[0]


def read(outputs: Outputs, wanted: str) -> tuple[str, Parsed | None]:
    """Return the format found and what it says. wanted: a key of `FORMATS`, or "auto".

    None where a wanted format is nowhere to be found; never for "auto" and "exit". A report file that is in no known
    format is `broken`, it does not fall back to the text.
    """
    names = tuple(FORMATS) if wanted == "auto" else (wanted,)
    if outputs.report is not None and wanted != "exit":
        for name in names[:-1] or names:
            if (parsed := FORMATS[name].parse(outputs.report)) is not None:
                return name, parsed
        return names[-1], Parsed(broken=_unreadable(outputs.report))
    for name in names:
        form = FORMATS[name]
        if (form.from_text or name == wanted) and (parsed := form.parse(outputs.text)) is not None:
            return name, _what_is_sure(parsed, outputs, form)
    return wanted, None


def _unreadable(report: bytes) -> str:
    return "report is in no known format" if report.strip() else "report is empty"


def _what_is_sure(parsed: Parsed, outputs: Outputs, form: Format) -> Parsed:
    """Return the result without what a gap in the output makes unsure: absent ids would seem to have vanished."""
    if not outputs.cut:
        return parsed
    if form.counted:
        return Parsed(
            failing=parsed.failing, ran=parsed.ran, passed=parsed.passed, total=parsed.total, broken=parsed.broken,
            partial=parsed.partial,
        )  # fmt: skip
    return Parsed(failing=parsed.failing, broken=parsed.broken, partial=True)
