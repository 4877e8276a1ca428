"""Secrets taken out of whatever a person or a file is shown: the values that this environment holds, and known tokens.

Used at every sink, last before the bytes leave (E7). The journal and the raw logs stay as they came, 0600; whoever
looks at them later (`ralph logs`, `report`, `status`) redacts with the environment of *that* moment and the table of
token patterns: a secret of the run that its reader no longer holds and no pattern knows is shown. That is the price
of keeping no secret, and no hash to guess one by, on disk.

What is taken out: the value itself, its base64 at all three alignments, URL-encoded and JSON-escaped, each line of a
value of several lines; and the beginning or the end of one of these where a line was cut (by us or by a wrap).
"""

from __future__ import annotations

import binascii
import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping

from ralph.encode.tokens import KEY_BEGINS, KEY_ENDS, KEY_LINE, KINDS, found_in

SHORTEST = 8
"""Characters a value needs to count as a secret: shorter ones stand in too many innocent words."""
_CHARACTERS = 3
_WORDS = frozenset(
    ("KEY", "KEYS", "PASS", "PASSCODE", "CREDS", "AUTH", "AUTHORIZATION", "COOKIE", "COOKIES", "BEARER", "JWT", "DSN")
)
"""Words that make a name a secret's; those of `_PARTS` do so inside another word too."""
_PARTS = (
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "WEBHOOK",
    "APIKEY",
    "ACCESSKEY",
    "PRIVATEKEY",
)
_PLACES = frozenset(("FILE", "PATH", "DIR", "SOCK", "SOCKET"))
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PUBLIC = frozenset(("type", "kind", "run", "reason", "outcome", "status", "verdict", "at", "schema", "source"))
"""Keys of our JSON whose values are words of ours: a program must find them, whatever somebody's password is."""
_DEPTH = 64
_KEPT, _KEPT_CHARACTERS = 4000, 256
"""How many texts are remembered as free of secrets: a summary says the same of old iterations again and again."""
_CUT = re.compile(r"[ \t]*(?:\r?\n)?(?:…|\.\.\.)|\r?\n|\\+[nr]|\\*[\"']|\Z")
"""Where a text was cut, or its line: a secret that begins before it counts though its end is not there."""
_RESUMED = re.compile(r"(?:(?:…|\.\.\.)[ \t]*\n?|\\[nr]|\")\Z")


def secret_names(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of variables that look like secrets and hold one, sorted."""
    return tuple(sorted(name for name, value in environ.items() if _is_secret(name) and _is_telling(value)))


def _is_secret(name: str) -> bool:
    words = _CAMEL.sub("_", name).upper().replace("-", "_").split("_")
    if words[-1] in _PLACES:
        return False
    whole = "".join(words)
    database = len(words) > 1 and words[-1] == "PWD"
    return database or not _WORDS.isdisjoint(words) or any(part in whole for part in _PARTS)


def _is_telling(value: str) -> bool:
    value = value.strip()
    return len(value) >= SHORTEST and len(set(value)) >= _CHARACTERS


class Redactor:
    """Replaces secrets by `[redacted NAME]`. Works on whole texts, is idempotent, never raises.

    secrets: the name to show -> the value. Without any, the table of token patterns alone.
    """

    def __init__(self, secrets: Mapping[str, str] | None = None) -> None:
        self._forms: tuple[_Form, ...] = tuple(_forms(secrets or {}))
        self._free: set[str] = set()
        self._pieces = tuple({piece for form in self._forms for piece in form.pieces})
        markers = {form.marker for form in self._forms} | {_marker(kind) for kind in KINDS}
        self._ours = re.compile("|".join(re.escape(marker) for marker in sorted(markers)))

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Redactor:
        """Return the redactor of the secrets that an environment holds."""
        return cls({name: environ[name].strip() for name in secret_names(environ)})

    def text(self, text: str) -> str:
        """Return the text without secrets."""
        while True:
            shown = self._once(text)
            if shown == text:
                return shown
            # What a replacement leaves beside itself may be a token only now.
            text = shown

    def value(self, data: object) -> object:
        """Return a JSON value with every text in it redacted; words of ours under their keys stay as they are."""
        return self._value(data, _DEPTH)

    def lines(self) -> LineRedactor:
        """Return a redactor for a text that comes line by line."""
        return LineRedactor(self)

    def _value(self, data: object, depth: int) -> object:
        if isinstance(data, str):
            return data if data in self._free else self._remembered(data)
        if isinstance(data, Mapping):
            if not depth:
                return {}
            return {self._key(k): v if k in _PUBLIC else self._value(v, depth - 1) for k, v in data.items()}
        if isinstance(data, list | tuple):
            return [self._value(item, depth - 1) for item in data] if depth else []
        return data

    def _remembered(self, text: str) -> str:
        shown = self.text(text)
        if shown == text and len(text) <= _KEPT_CHARACTERS:
            if len(self._free) >= _KEPT:
                self._free.clear()
            self._free.add(text)
        return shown

    def _key(self, key: object) -> object:
        plain = isinstance(key, str) and key.replace("_", "").isalpha() and key.islower()
        return key if plain or not isinstance(key, str) else self.text(key)

    def _once(self, text: str) -> str:
        spans = self._spans(text) if any(piece in text for piece in self._pieces) else []
        spans += [(start, end, _marker(kind)) for start, end, kind in found_in(text)]
        if not spans:
            return text
        # A marker is never eaten again: so each round leaves less to replace, and the last one nothing.
        ours = [match.span() for match in self._ours.finditer(text)]
        return _replaced(text, _clear(spans, ours) if ours else spans)

    def _spans(self, text: str) -> list[Span]:
        there = [form for form in self._forms if any(piece in text for piece in form.pieces)]
        return [(start, end, form.marker) for form in there for start, end in form.found_in(text)]


Span = tuple[int, int, str]
"""start, end, what to put there."""


class LineRedactor:
    """Redacts a text that comes line by line: a private key is known by its first line, and goes on to its last."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._in_key = False

    def line(self, line: str) -> str:
        """Return one line, without its newline, redacted."""
        if self._in_key and not KEY_ENDS.search(line) and KEY_LINE.fullmatch(line):
            return "[redacted key]" if line.strip() else line
        if self._in_key:
            self._in_key = False
            if KEY_ENDS.search(line):
                return "[redacted key]"
        begins = [match.end() for match in KEY_BEGINS.finditer(line)]
        self._in_key = bool(begins) and not KEY_ENDS.search(line, begins[-1])
        return self._redactor.text(line)


class _Form:
    """One way in which a secret is written. piece: how much of it counts where a line was cut."""

    __slots__ = ("_form", "_head", "_tail", "marker", "pieces")

    def __init__(self, form: str, marker: str) -> None:
        piece = max(5, min(SHORTEST, len(form) * 2 // 3))
        self._form, self._head, self._tail, self.marker = form, form[:piece], form[-piece:], marker
        self.pieces = (self._head, self._tail)

    def found_in(self, text: str) -> Iterator[tuple[int, int]]:
        yield from self._begun(text)
        yield from self._ended(text)

    def _begun(self, text: str) -> Iterator[tuple[int, int]]:
        at = text.find(self._head)
        while at >= 0:
            length = _shared(self._form, text, at)
            if length == len(self._form) or _CUT.match(text, at + length):
                yield at, at + length
            at = text.find(self._head, at + (length if length == len(self._form) else 1))

    def _ended(self, text: str) -> Iterator[tuple[int, int]]:
        at = text.find(self._tail)
        while at >= 0:
            end = at + len(self._tail)
            start = end - _shared_back(self._form, text, end)
            if start == 0 or text[start - 1] == "\n" or _RESUMED.search(text, max(0, start - 8), start):
                yield start, end
            at = text.find(self._tail, at + 1)


def _shared(form: str, text: str, at: int) -> int:
    """Return how many characters of the form's beginning stand at this place."""
    if text.startswith(form, at):
        return len(form)
    low, high = 0, min(len(form), len(text) - at)
    while low < high:  # halving, since whoever knows the secret could make comparing slow
        middle = (low + high + 1) // 2
        low, high = (middle, high) if text.startswith(form[:middle], at) else (low, middle - 1)
    return low


def _shared_back(form: str, text: str, end: int) -> int:
    """Return how many characters of the form's end stand before this place."""
    low, high = 0, min(len(form), end)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if text.startswith(form[-middle:], end - middle) else (low, middle - 1)
    return low


def _marker(name: str) -> str:
    return f"[redacted {re.sub(r'[^A-Za-z0-9_]', '_', name)[:60]}]"


def _clear(spans: list[Span], taken: list[tuple[int, int]]) -> list[Span]:
    """Return the spans that touch none of the taken places (in order, apart from each other)."""
    ends = [end for _, end in taken]

    def is_clear(span: Span) -> bool:
        at = bisect_right(ends, span[0])
        return at == len(taken) or span[1] <= taken[at][0]

    return [span for span in spans if is_clear(span)]


def _replaced(text: str, spans: list[Span]) -> str:
    """Return the text with every span replaced; those that overlap become one, named after the first."""
    done: list[str] = []
    at = 0
    for start, end, marker in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= at:
            done += [text[at:start], marker]
        at = max(at, end)
    return "".join((*done, text[at:]))


def _forms(secrets: Mapping[str, str]) -> Iterator[_Form]:
    known: dict[str, str] = {}
    for name, value in sorted(secrets.items(), key=lambda item: (-len(item[1]), item[0])):
        marker = _marker(name)
        for form in _written(value):
            if len(form) >= SHORTEST:
                known.setdefault(form, marker)
    return (_Form(form, marker) for form, marker in known.items())


def _written(value: str) -> Iterator[str]:
    """Yield the ways in which a value may be written, itself first."""
    lines = [line.strip() for line in value.splitlines()]
    yield from (line for line in (value, value.replace("\r\n", "\n"), *lines) if _is_telling(line))
    raw = value.encode("utf-8", "surrogateescape")
    yield from _base64(raw)
    yield from (_quoted(raw, blank=blank, case=case) for blank in ("%20", "+") for case in ("%{:02X}", "%{:02x}"))
    for ascii_only in (True, False):
        once = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
        yield from (once, once.replace("/", "\\/"), json.dumps(once, ensure_ascii=ascii_only)[1:-1])


def _base64(raw: bytes) -> Iterator[str]:
    """Yield the base64 of a value wherever it stands in a longer one, without the digits that its neighbours share."""
    for before in range(3):
        digits = binascii.b2a_base64(bytes(before) + raw, newline=False).decode("ascii").rstrip("=")
        middle = digits[(before * 8 + 5) // 6 : (before + len(raw)) * 8 // 6]
        if not before:
            yield digits
        yield from (middle, middle.replace("+", "-").replace("/", "_"))


_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def _quoted(raw: bytes, *, blank: str, case: str) -> str:
    return "".join(chr(b) if b in _UNRESERVED else blank if b == 0x20 else case.format(b) for b in raw)
