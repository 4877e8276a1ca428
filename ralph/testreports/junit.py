"""JUnit XML in the shapes of pytest, Surefire, nextest, jest-junit and kin, from an untrusted writer.

The file is guarded before it is parsed: size, no document type, depth and number of elements. Counts are made from the
cases; the attributes of the suites are never believed.
Source: https://github.com/testmoapp/junitxml
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast
from xml.etree import ElementTree

from junitparser import Element, Error, Failure, Skipped
from junitparser import TestCase as PlainCase
from junitparser.junitparser import Result
from junitparser.xunit2 import JUnitXml, RerunError, RerunFailure

from ralph.testreports.parsed import Parsed, Status, capped, gathered, stable_id

SIZE = 20 << 20
DEPTH = 64
CASES = 200_000
_CHUNK = 64 << 10

_SUITES = ("testsuites", "testsuite")
_RESULTS = ("failure", "error", "skipped", "rerunFailure", "rerunError", "flakyFailure", "flakyError")
_KEPT = {*_SUITES, "testcase", *_RESULTS}
_ATTRIBUTES = ("name", "classname", "type")
_ENCODINGS = re.compile(
    r"utf-?8|us-ascii|ascii|iso-8859-\d+|latin-?1|windows-125\d|cp125\d|shift_jis|euc-(?:jp|kr)|gbk|gb2312|gb18030|big5|koi8-r"
)
_DECLARED = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
_DECLARATION = re.compile(r"\s*<\?xml\b.*?\?>", re.DOTALL)
_PROLOG = re.compile(r"(?:\s+|<\?.*?\?>|<!--.*?-->)*+", re.DOTALL)
_ILLEGAL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|&#(?:0*(?:[0-8]|1[124-9]|2\\d|3[01])|x0*(?:[0-8bceBCEfF]|1[0-9a-fA-F]));"
)


class _Refused(Exception):  # noqa: N818 - private, carries a sentence
    """The document is not one that we go on reading."""


def parse(data: bytes) -> Parsed | None:
    """Return what the cases say; None where this is no JUnit XML; `broken` where it is refused or torn (E5)."""
    if len(data) > SIZE:
        looks = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
        return Parsed(broken=f"report is larger than {SIZE >> 20} MiB") if looks else None
    text = _decoded(data)
    start = _PROLOG.match(text)
    begin = start.end() if start else 0
    if not text.startswith("<", begin):
        return None
    if text.startswith("<!", begin):
        return Parsed(broken="report has a document type declaration, which is refused")
    return _from_xml(text, begin)


def _from_xml(text: str, begin: int) -> Parsed | None:
    looks = re.compile(r"<(?:[\w.-]+:)?testsuites?[\s/>]").match(text, begin) is not None
    if not looks:
        return None
    try:
        root = _root(text[begin:].encode("utf-8", "replace"))
    except ElementTree.ParseError as error:
        return Parsed(broken=f"report is not well-formed XML: {error}")
    except _Refused as error:
        return Parsed(broken=str(error))
    return _counted(root)


def _decoded(data: bytes) -> str:
    """Return the text, whatever encoding it is in or wrongly claims, without characters that XML forbids."""
    for mark, name in ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if data.startswith(mark):
            text = data[len(mark) :].decode(name, "replace")
            break
    else:
        declared = _DECLARED.search(data[:300])
        name = declared[1].decode("ascii").lower() if declared else "utf-8"
        known = _ENCODINGS.fullmatch(name)
        try:
            text = data.decode(name if known else "utf-8", "replace")
        except LookupError:
            text = data.decode("utf-8", "replace")
    text = _ILLEGAL.sub("", text)
    declaration = _DECLARATION.match(text)
    return text[declaration.end() :] if declaration else text


class _Target:
    """Builds only the elements and attributes we read: no text, no properties, no output of the tests."""

    def __init__(self) -> None:
        self._tree = ElementTree.TreeBuilder()
        self._depth = 0
        self._skip = 0
        self._cases = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > DEPTH:
            raise _Refused(f"report is nested deeper than {DEPTH} elements")
        tag = tag.rpartition("}")[2]
        if self._skip or tag not in _KEPT:
            self._skip += 1
            return
        self._cases += tag in {"testcase", *_RESULTS}
        if self._cases > CASES:
            raise _Refused(f"report has more than {CASES} cases")
        self._tree.start(tag, {key: attributes[key] for key in _ATTRIBUTES if key in attributes})

    def end(self, tag: str) -> None:
        self._depth -= 1
        if self._skip:
            self._skip -= 1
        else:
            self._tree.end(tag.rpartition("}")[2])

    def close(self) -> ElementTree.Element:
        return self._tree.close()


def _root(data: bytes) -> ElementTree.Element:
    parser = ElementTree.XMLParser(target=_Target())  # noqa: S314 - no document type gets this far
    for begin in range(0, len(data), _CHUNK):
        # In pieces: after a refusal expat would read the rest of a piece for nothing.
        parser.feed(data[begin : begin + _CHUNK])
    root: ElementTree.Element = parser.close()
    return root


def _cases(root: ElementTree.Element) -> Iterator[PlainCase]:
    if root.tag == "testsuites":  # cases without a suite, which junitparser would not see
        ElementTree.SubElement(root, "testsuite").extend(root.findall("testcase"))
    document = JUnitXml.fromroot(cast("Element", root))  # annotated with its own class, it takes a bare element
    for suite in document:
        yield from suite  # walks nested suites itself, each once


def _status(case: PlainCase) -> tuple[Status, bool]:
    """Return how a case ended in the end, and whether it failed as expected.

    A flaky one passed, one that failed all its reruns failed.
    """
    results = [entry for entry in case if isinstance(entry, Result)]
    if any(isinstance(entry, Failure | Error | RerunFailure | RerunError) for entry in results):
        return "failing", False
    skips = [entry for entry in results if isinstance(entry, Skipped)]
    return ("skipped" if skips else "passing"), any((entry.type or "").endswith("xfail") for entry in skips)


def _name(case: PlainCase) -> str:
    parts = ((case.classname or "").strip(), (case.name or "").strip())
    return stable_id("::".join(part for part in parts if part)) or "(unnamed)"


def _counted(root: ElementTree.Element) -> Parsed:
    cases: list[tuple[str, Status]] = []
    expected_failures = 0
    for case in _cases(root):
        status, expected = _status(case)
        expected_failures += expected
        cases.append((_name(case), status))
    passing, failing, skipped = gathered(cases)
    ran = len(passing) + len(failing) + expected_failures
    return capped(Parsed(passing, failing, skipped, ran=ran, passed=len(passing), total=len(cases)))
