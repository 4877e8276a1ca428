"""How well-known secrets look, for texts whose secrets no environment of ours names. A new kind: one row in `KINDS`.

Sources: the public token formats of the services named beside each row; RFC 7468 (PEM), RFC 7519 (JWT),
RFC 6750 (Bearer), RFC 3986 3.2.1 (passwords in URLs).
"""

from __future__ import annotations

import re

_BEGIN = "-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----"
_END = "-----END [A-Z ]{0,40}PRIVATE KEY-----"
_HEAD = "(?:Proc-Type|DEK-Info|Comment): "
_BODY = "[A-Za-z0-9+/=]{1,100}+"
_LINE = rf"(?:{_HEAD}[^\r\n\\]{{0,80}}|{_BODY})?"
_PIECE = "[A-Za-z0-9+/=]{16,100}+"
_BREAK = r"(?:\\+[nr]|[\r\n])++"
_BLANKS = r"[ \t]*+"
_STOP = r"(?=[\r\n\\\"-]|\Z)"

KINDS: dict[str, tuple[str, ...]] = {
    "token": (
        r"sk-ant-[A-Za-z0-9_-]{8,}",  # Anthropic
        r"sk-(?=[A-Za-z_-]{0,40}\d)[A-Za-z0-9_-]{20,}",  # OpenAI, OpenRouter
        r"gh[oprsu]_[A-Za-z0-9]{20,}",  # GitHub
        r"github_pat_[A-Za-z0-9_]{20,}",
        r"glpat-[A-Za-z0-9_-]{16,}",  # GitLab
        r"(?:AKIA|ASIA)[0-9A-Z]{16}",  # AWS
        r"AIza[0-9A-Za-z_-]{30,}",  # Google
        r"xox[a-z]-[A-Za-z0-9-]{10,}",  # Slack
        r"(?:hf|npm)_[A-Za-z0-9]{30,}",  # Hugging Face, npm
        r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",  # JWT
        r"(?:[Bb]earer|BEARER)[ \t]+(?=[A-Za-z._~+/-]{0,80}\d)[A-Za-z0-9._~+/-]{16,}=*",
        r"(?:[Bb]asic|BASIC)[ \t]+(?=[A-Za-z+/]{0,80}[\d=])[A-Za-z0-9+/]{16,}={0,2}",
    ),
    "password": (r"(?<=://)[^\s/:@\[\]]{0,64}:[^\s/@]{3,200}(?=@)",),
    "key": (f"{_BEGIN}(?:{_BREAK}{_BLANKS}(?:{_LINE}{_BLANKS}{_STOP}|{_PIECE}))*(?:{_END})?",),
}
_BEFORE = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
"""No token begins inside a word; the letter of an escaped line break is none."""
_EXPRESSION = re.compile(_BEFORE + "(?:" + "|".join(f"(?P<{k}>{'|'.join(rows)})" for k, rows in KINDS.items()) + ")")
_HINTS = (
    "sk-", "hp_", "ho_", "hr_", "hs_", "hu_", "_pat_", "glpat-", "AKIA", "ASIA", "AIza", "xox", "hf_", "npm_", "eyJ",
    "earer", "EARER", "asic", "ASIC", "://", "PRIVATE KEY",
)  # fmt: skip
"""One of these is in every text that holds a token: looking for them is twenty times cheaper than matching."""

KEY_BEGINS = re.compile(_BEGIN)
KEY_ENDS = re.compile(_END)
KEY_LINE = re.compile(rf"\s*(?:{_HEAD}.{{0,80}}|{_BODY})?\s*")
"""A line that may stand inside a private key; any other ends it, so that one forged first line hides nothing more."""


def found_in(text: str) -> list[tuple[int, int, str]]:
    """Return (start, end, kind) of everything that looks like a well-known secret."""
    if not any(hint in text for hint in _HINTS):
        return []
    return [(*match.span(), match.lastgroup or "") for match in _EXPRESSION.finditer(text)]
