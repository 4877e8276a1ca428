"""Foreign text made fit for a terminal: no control byte, no direction trick, no invisible tag survives.

Works on whole strings and is idempotent. Only text, newline and tab pass; the rest shows as a visible escape
or, for well-formed escape sequences, goes away. Source: ECMA-48 (control sequences), Unicode TR36 (spoofing).
"""

from __future__ import annotations

import re

_SEQUENCES = re.compile(
    "\x1b\\][^\x07\x1b\x9c]*(?:\x07|\x1b\\\\|\x9c)"  # OSC … BEL or ST
    "|\x1b[PX^_][^\x1b\x9c]*(?:\x1b\\\\|\x9c)"  # DCS, SOS, PM, APC … ST
    "|(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI
    "|\x1b[ -/]*[0-Z\\\\^-~]"  # the short ones
)
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"
    "\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff\ud800-\udfff]"
)


def _visible(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def clean(text: str) -> str:
    """Return text that cannot steer a terminal; CRLF counts as a newline. Never raises."""
    return _UNSAFE.sub(_visible, _SEQUENCES.sub("", text.replace("\r\n", "\n")))


def one_line(text: str, limit: int = 200) -> str:
    """Return the cleaned text as one line of at most `limit` characters, blanks collapsed."""
    line = " ".join(clean(text[: limit * 8]).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
