"""Results of tools, normalised so that two that say the same are equal, and what kind of result one is.

Placeholders stand for what changes by itself: times, durations, ids, addresses, temporary names, ports, progress.
Commit hashes, file names and line numbers stay: they are state.
"""

from __future__ import annotations

import re
from hashlib import sha256

from ralph.judge.signals.step import LARGE, SHORT, Kind

EDGE = 32 << 10
"""Characters kept at either end of a long result; a digest stands for the middle."""

# Each expression begins with one character or a fixed text, so that a search skips what cannot match.
NUMBERS = re.compile(
    r"[0-9](?<![0-9A-Za-z_.][0-9])(?:"
    r"(?P<time>\d{3}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:\s?(?:Z|[+-]\d\d:?\d\d))?)?"
    r"|\d?:\d\d:\d\d(?:[.,]\d+)?(?!\w))"
    r"|(?P<addr>(?<=0)x[0-9a-fA-F]{4,})"
    r"|(?P<took>\d*(?:\.\d+)?(?:\s?(?:[mµun]?s|secs?|seconds?|mins?|minutes?|hours?)(?![\w/])|m\d+(?:\.\d+)?s))"
    r"|(?P<bar>\d{0,2}(?:\.\d+)?%(?=\s?[|▏▎▍▌▋▊▉█\[]))"
    r"|(?:(?<=[Pp][Ii][Dd] [0-9])|(?<=[Pp][Ii][Dd][:=][0-9])|(?<=[Pp][Ii][Dd]: [0-9])|(?<=[Pp]rocess [0-9])"
    r"|(?<=ession [0-9])|(?<=ession ID [0-9])|(?<= ID: [0-9])|(?<=_id: [0-9])|(?<=sh: line [0-9]))(?P<id>\d*\b)"
    r"|(?:(?<=localhost:[0-9])|(?<=127\.0\.0\.1:[0-9])|(?<=0\.0\.0\.0:[0-9])|(?<=\[::\]:[0-9])|(?<=port [0-9]))"
    r"(?P<port>\d{1,4}\b)"
    r")"
)
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])?")
UUID_TAIL = re.compile(r"-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
UUID_HEAD = re.compile(r"[0-9a-fA-F]{8}$")
TEMPORARY = re.compile(r"/tmp/[^\s/\"'`:,;)\]]+")  # noqa: S108 - a text to look for, not a file to use
NAMED = (
    ("hunk ID: ", re.compile(r"hunk ID: \w+")),
    ("ontainer ", re.compile(r"ontainer [0-9a-f]{12,64}\b")),
    ("toolu_", re.compile(r"toolu_\w+")),
    ("saved to", re.compile(r"saved to:? \S+")),
)
OVERWRITTEN = re.compile(r"[^\n]*\r(?=[^\n])")
EXIT_CODE = re.compile(r"^(?:Exit code:? \d+|exit code \d+|Command exited with code \d+|\[exit code: \d+\])\s*", re.I)
OUR_CUT = re.compile(r"\n… \d+ characters, [0-9a-f]{16} …\n")

INFRASTRUCTURE = re.compile(
    r"rate.?limit|too many requests|\b429\b|\b50[0234]\b|\b529\b|overloaded|service unavailable|bad gateway"
    r"|connection (?:was )?(?:reset|refused by the api)|ECONNRESET|ETIMEDOUT|EAI_AGAIN|temporarily unavailable"
    r"|internal server error",
    re.I,
)
ECHO = re.compile(r"sibling tool call errored|cancelled: parallel|parallel tool call .*(?:failed|errored|cancel)", re.I)
PERSON = re.compile(
    r"user (?:doesn't|does not) want|user (?:has )?(?:rejected|declined|denied|cancelled)|rejected by (?:the )?user"
    r"|interrupted by (?:the )?user|user interrupted",
    re.I,
)
MALFORMED = re.compile(
    r"InputValidationError|no such tool|unknown tool|tool .{0,80} not found|invalid (?:tool )?(?:arguments|parameters"
    r"|input)|unsupported call|missing required (?:parameter|argument|property)|must have required property"
    r"|failed to parse (?:function |tool )?(?:arguments|call)|unrecognized tool|is not a valid tool|schema validation",
    re.I,
)
TOO_LARGE = ("too large", "too long", "too many results", "too many matches", "exceeds maximum", "exceeds the maximum")
TRUNCATED = ("truncated", "more lines", "more characters")
FIRST_WORDS = 400


def normalised(text: str) -> str:
    """Return the result without what changes by itself, blank lines and blanks at line ends."""
    head = text if len(text) <= 2 * EDGE else _edges(text)
    if "\r" in head:
        head = OVERWRITTEN.sub("", head.replace("\r\n", "\n")).replace("\r", "\n")
    head = ESCAPES.sub("", head) if "\x1b" in head else head
    found = EXIT_CODE.match(head)
    head = _named(head[found.end() :] if found else head)
    return "\n".join(line.rstrip() for line in head.split("\n") if line and not line.isspace())


def hashed(text: str) -> str:
    """Return 12 hex digits that stand for a text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def is_whole(text: str) -> bool:
    """Return whether a result that was cut holds the digest of the whole, so that it can be compared all the same."""
    return OUR_CUT.search(text) is not None


def is_void(text: str) -> bool:
    """Return whether a failed result tells of infrastructure, a person's decision, or another call's error."""
    head = text[:FIRST_WORDS]
    return bool(INFRASTRUCTURE.search(head) or ECHO.search(head) or PERSON.search(head))


def is_malformed(text: str) -> bool:
    """Return whether a failed result says that the call was no valid call."""
    return MALFORMED.search(text[:FIRST_WORDS]) is not None


def kind_of(text: str, size: int, *, failed: bool, whole: bool) -> Kind:
    """Return what kind of result this is, as far as loops begin there. size: characters of the normalised result."""
    if not whole:
        return "truncated"
    if size == 0:
        return "empty"
    head, tail = text[:FIRST_WORDS].lower(), text[-FIRST_WORDS:].lower()
    if size >= LARGE or any(words in head for words in TOO_LARGE):
        return "too-large"
    if failed and size <= SHORT:
        return "bare-error"
    return "truncated" if any(words in tail for words in TRUNCATED) else "other"


def _edges(text: str) -> str:
    middle = text[EDGE:-EDGE]
    return f"{text[:EDGE]}\n{len(middle)} {hashed(middle)}\n{text[-EDGE:]}"


def _named(text: str) -> str:
    """Put placeholders for what has a name of its own, then for numbers that count by themselves."""
    if "-" in text:
        text = _without_uuids(text)
    if "/tmp/" in text:  # noqa: S108 - a text to look for, not a file to use
        text = TEMPORARY.sub("/tmp/<tmp>", text)  # noqa: S108
    for mark, pattern in NAMED:
        if mark in text:
            text = pattern.sub(mark, text)
    return NUMBERS.sub(_placeholder, text)


def _without_uuids(text: str) -> str:
    """Replace UUIDs. They are found by their tails: a search for their heads would try at every letter."""
    parts, last = [], 0
    for found in UUID_TAIL.finditer(text):
        head = UUID_HEAD.search(text[max(last, found.start() - 8) : found.start()])
        if head is not None:
            parts += [text[last : found.start() - 8], "<uuid>"]
            last = found.end()
    return "".join([*parts, text[last:]]) if parts else text


def _placeholder(found: re.Match[str]) -> str:
    return f"<{found.lastgroup}>"
