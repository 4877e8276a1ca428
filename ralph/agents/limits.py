"""What agents say when something outside stops them, and when it lifts: one table for all agents and generations.

Only for texts of failed results, assistant errors and stderr, never for tool output: an agent that edits code about
rate limits would trip it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from ralph.agents.fields import clean
from ralph.facts.event import Trouble, Troubled

TEXT_READ = 4096
"""Characters read at most: the words that matter stand in front."""
AHEAD = timedelta(days=32)
"""A reset farther away is a misreading: no plan has a window longer than a month."""
JUST_PAST = timedelta(minutes=10)
"""A clock time this little ago is meant as past, not as tomorrow."""

_SAME = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "·": "|", "∙": "|", "•": "|", "⋅": "|", "\u00a0": " "})

_TABLE: tuple[tuple[Trouble, tuple[str, ...]], ...] = (
    (
        Trouble.QUOTA,
        (
            r"you(?:'ve| have)? (?:hit|reached|exceeded) your [\w' -]{0,40}(?:limit|cap|quota)",
            r"you hit your spend cap",
            r"\b(?:usage|5-hour|weekly|opus|sonnet|session|monthly|spend|spending|daily) limit (?:was )?reached",
            r"\blimit reached \|",
            r"out of (?:extra usage|credits)",
            r"credit balance is too low",
            r"quota (?:exceeded|exhausted)|quota has been (?:reached|exceeded|exhausted)|no quota (?:left|remaining)",
            r"exceeded your current quota|exhausted your (?:daily )?(?:quota|capacity)|premium request allowance",
            r"insufficient[_ ](?:quota|credits|balance|funds)|usage_limit_reached|billing_(?:error|hard_limit)",
            r"purchase more credits|payment required|\b402\b",
            r"to use codex with your chatgpt plan, upgrade",
        ),
    ),
    (
        Trouble.CONTEXT,
        (
            r"prompt (?:is|as) too long|context[_ ]length[_ ]exceeded|maximum context length",
            r"out of room in the model's context|exceeds? the (?:model's )?context (?:window|limit)",
            r"input (?:exceeds the maximum length|is too long)|input_too_large",
        ),
    ),
    (
        Trouble.AUTH,
        (
            r"not logged in|please run /login|run `?codex login|login required|please log ?in\b",
            r"(?:invalid|incorrect|missing|expired) (?:external )?(?:x-)?api[- ]key",
            r"api key (?:not valid|expired|is missing)",
            r"no (?:api key|credentials|auth)\b|missing environment variable|must specify the \w+_api_key",
            r"check your (?:\w+_)?api[_ ]key",
            r"authentication[_ ](?:failed|error)|unauthori[sz]ed|\b401\b|permission_error|\b403\b",
            r"(?:oauth |access |refresh )?token (?:has |is )?(?:been )?(?:expired|revoked|invalid)|session expired",
        ),
    ),
    (
        Trouble.MISCONFIGURED,
        (
            r"cannot be used with root/sudo|root privileges",
            r"unknown (?:option|argument|flag|command)|unexpected argument|unrecognized (?:option|argument|subcommand)",
            r"invalid value .{0,80} for '|error loading config|failed to (?:load|parse) config",
            r"not (?:inside|in|running in) a trusted (?:directory|folder)|untrusted (?:directory|folder|workspace)",
            r"(?:model|deployment)[^.\n]{0,80}(?:not found|does not exist|not supported|not available|no access)",
            r"(?:unknown|invalid|unsupported) model|not_found_error|model_not_found",
            r"input must be provided|no prompt provided|no input provided|user message must be provided",
        ),
    ),
    (
        Trouble.OUTAGE,
        (
            r"\b429\b|too many requests|rate[ _-]?limit|request rejected",
            r"overloaded|at capacity|high demand|\b5(?:00|02|03|04|20|29)\b|internal server error|service unavailable",
            r"stream disconnected|network error|transport error|connection (?:error|refused|reset|closed|timed out)",
            r"econn(?:refused|reset)|enotfound|etimedout|eai_again|fetch failed|socket hang up|timed out|timeout",
            r"error sending request|temporar(?:y|ily) (?:failure|unavailable)|bad gateway",
            r"other side closed|socket connection was closed|connection dropped|incomplete json segment",
            r"failed to get response from the ai model|unexpected eof",
        ),
    ),
)
TABLE = tuple((kind, re.compile("|".join(patterns))) for kind, patterns in _TABLE)
"""Kinds in the order in which they win when a text speaks of several."""


_NOTICE = re.compile(
    r"(?:claude (?:ai )?)?usage limit reached(?:$|\||[.,])"
    r"|(?:5-hour|weekly|daily|monthly|opus|sonnet|session) limit reached \|"
    r"|you(?:'ve| have) (?:hit|reached) your [\w' -]{0,40}limit(?:$| \| resets|\. (?:upgrade|visit|try))"
    r"|you're out of extra usage|credit balance is too low$"
)
_NOTICE_CAP = 300


def normal(text: str) -> str:
    """Return the text in lower case with plain quotes, bars for bullets and single blanks."""
    return re.sub(r"\s+", " ", text[:TEXT_READ].translate(_SAME)).lower()


def trouble_of(text: str) -> Trouble | None:
    """Return what kind of trouble a failure text tells of, None for anything else."""
    plain = normal(text)
    return next((kind for kind, pattern in TABLE if pattern.search(plain)), None)


def is_notice(text: str) -> bool:
    """Return whether a text is nothing but a usage-limit notice: some versions print it as a success (R055, R063).

    Far stricter than `trouble_of`, since these words come from a channel that also carries the model's own.
    """
    return len(text) <= _NOTICE_CAP and _NOTICE.match(normal(text).strip()) is not None


def read_limit(text: str, now: datetime) -> Troubled | None:
    """Return the trouble a failure text tells of, with its reset time; see `reset_of` for `now`."""
    kind = trouble_of(text)
    if kind is None:
        return None
    until = reset_of(text, now) if kind in (Trouble.QUOTA, Trouble.OUTAGE) else None
    return Troubled(kind, text[:TEXT_READ], until)


def diagnosis(error_tail: bytes) -> tuple[Trouble, str] | None:
    """Return the kind of trouble and the line that says so, from the last line upward; None if no line does."""
    lines = clean(error_tail.decode("utf-8", "replace")).splitlines()
    for line in reversed(lines[-200:]):
        kind = trouble_of(line)
        if kind is not None:
            return kind, line.strip()[:500]
    return None


def epoch(value: object) -> datetime | None:
    """Return a UTC time from seconds (or milliseconds) since 1970, None for what is none before 2096."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 4e12:
        return None
    return datetime.fromtimestamp(value / 1000 if value > 1e11 else float(value), UTC)


_EPOCH = re.compile(r"\|\s?(\d{10}(?:\d{3})?)\b")
_ISO = re.compile(r"\b(\d{4}-\d\d-\d\d[t ]\d\d:\d\d(?::\d\d)?(?:\.\d{1,6})?)(z|[+-]\d\d:?\d\d)?")
_UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_SPAN = re.compile(
    r"(\d{1,6}(?:\.\d{1,6})?) ?(days?|d|hours?|hrs?|hr|h|minutes?|mins?|min|m|seconds?|secs?|sec|s)(?![a-z])"
)
_IN = re.compile(r"\b(?:in|after|retry-after:?) (?=\d)((?:\d{1,6}(?:\.\d{1,6})? ?[a-z]+,? ?(?:and )?){1,5})")
_CLOCK = re.compile(
    r"(?:resets?|again|reset|until|available)(?: at| on)? "
    r"(?:(?P<month>[a-z]{3})[a-z]*\.? (?P<day>\d{1,2})(?:st|nd|rd|th)?,?(?: (?P<year>\d{4}),?)?(?: at)? )?"
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))? ?(?P<half>[ap])\.?m\b\.?"
    r"(?: ?\((?P<zone>[a-z0-9_+/-]{1,40})\))?"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WINDOW = re.compile(r"\b(\d{1,2})-hour limit")


def reset_of(text: str, now: datetime) -> datetime | None:
    """Return when a limit lifts according to the text, as aware UTC; None where it does not say or says nonsense.

    now: aware, in the zone of this machine (`clock.now().astimezone()`), since agents that give a bare
    "5:39 AM" mean local time. May lie a little in the past: it has just lifted.
    """
    plain = normal(text)
    found = _from_epoch(plain) or _from_span(plain, now) or _from_iso(plain, now) or _from_clock(plain, now)
    if found is None or not now - timedelta(days=1) <= found <= now + AHEAD:
        return None
    return found.astimezone(UTC)


def epoch_in(text: str) -> datetime | None:
    """Return the reset time that stands in a text as `|1760000400`: the one kind that needs no clock to read."""
    return _from_epoch(normal(text))


def _from_epoch(plain: str) -> datetime | None:
    found = _EPOCH.search(plain)
    return epoch(int(found[1])) if found else None


def _from_span(plain: str, now: datetime) -> datetime | None:
    found = _IN.search(plain)
    parts = _SPAN.findall(found[1]) if found else []
    total = sum(float(number) * _UNITS[unit[0]] for number, unit in parts)
    return now + timedelta(seconds=min(total, 1e8)) if parts else None


def _from_iso(plain: str, now: datetime) -> datetime | None:
    found = _ISO.search(plain)
    if found is None:
        return None
    try:
        moment = datetime.fromisoformat((found[1] + (found[2] or "")).upper())
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)


def _from_clock(plain: str, now: datetime) -> datetime | None:
    found = _CLOCK.search(plain)
    if found is None:
        return None
    hour, minute = int(found["hour"]) % 12 + (12 if found["half"] == "p" else 0), int(found["minute"] or 0)
    if int(found["hour"]) > 12 or minute > 59:
        return None
    local = now.astimezone(_zone(found["zone"]) or now.tzinfo)
    clock = local.replace(hour=hour, minute=minute, second=0, microsecond=0)
    if found["month"]:
        return _on_date(clock, found, local)
    if clock >= local - JUST_PAST:
        return clock
    tomorrow = clock + timedelta(days=1)
    window = _WINDOW.search(plain)
    # A window of 5 hours cannot lift in 20: the text is stale, so the limit has lifted.
    return clock if window and tomorrow - local > timedelta(hours=int(window[1]) + 1) else tomorrow


def _on_date(clock: datetime, found: re.Match[str], local: datetime) -> datetime | None:
    if found["month"] not in _MONTHS:
        return None
    try:
        moment = clock.replace(_year(found, local), _MONTHS.index(found["month"]) + 1, int(found["day"]))
    except ValueError:
        return None
    # A date without a year that lies months back is next year's: December texts about January.
    behind = not found["year"] and moment < local - timedelta(days=180)
    return moment.replace(year=moment.year + 1) if behind and (moment.month, moment.day) != (2, 29) else moment


def _year(found: re.Match[str], local: datetime) -> int:
    return int(found["year"] or local.year) or local.year


def _zone(name: str | None) -> tzinfo | None:
    """Return the zone of this name, whatever its case was; None where the machine does not know it."""
    if not name:
        return None
    parts = "/".join("_".join(w.capitalize() for w in part.split("_")) for part in name.split("/"))
    for spelled in (parts, name.upper(), name.replace("etc/gmt", "Etc/GMT")):
        try:
            return ZoneInfo(spelled)
        except (OSError, ValueError, KeyError):
            continue
    return None
