"""What a test file holds, as far as text can say it with certainty: tests, assertion lines, skip marks, tolerances.

Languages are told apart by nothing: one pattern a kind covers Python, JavaScript, Go, Rust, Java, Ruby and shell tests.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_FOLDERS = {"test", "tests", "__tests__", "spec", "specs", "__snapshots__", "testdata", "fixtures", "e2e"}
_FILE = re.compile(
    r"test_.*\.py|.*_test\.(?:py|go|rs|rb|exs|dart|c|cc|cpp)|.*[._-](?:test|spec)s?\.[cm]?[jt]sx?|.*_spec\.rb"
    r"|.*(?:Tests?|IT|Spec)\.(?:java|kt|scala|groovy|cs|swift|php)|.*\.(?:bats|t|snap|ambr)|tests?\.(?:py|rs|js|ts)"
)
_SNAPSHOT = re.compile(r"(?:.*/)?__snapshots__/.+|.*\.(?:snap|ambr|golden|approved\.[\w.]+)")

_CODE = "\n"
_TEST = re.compile(
    r"^\s*(?:async\s+)?def\s+test\w*\s*\(|^\s*(?:it|test|specify|scenario)(?:\.\w+)*\s*\(|^\s*func\s+(?:Test|Fuzz)\w*\s*\("
    r"|^\s*#\[(?:\w+::)*test\b|^\s*@(?:Parameterized|Repeated)?Test(?:Factory)?\b|^\s*(?:it|test|specify)\s+[\"']|^\s*@test\s",
)
_ASSERT = re.compile(
    r"^\s*assert\b|\b(?:self|cls|t|tc|suite|this)\.assert\w*\s*\(|\bassert\w*!?\s*\(|\b(?:assert|require)\.\w+\s*\("
    r"|\bexpect\s*[({]|\b(?:pytest\.|self\.)?(?:raises|warns|approx)\s*\(|\bt\.(?:Error|Fatal|Fail)\w*\s*\(|\bself\.fail\w*\s*\("
    r"|\bshould\b|^\s*(?:must|wont)_\w+"
)
_TRIVIAL = re.compile(
    r"^\s*assert\s+(?:True|1|not False|None is None|1\s*==\s*1)\s*(?:,.*)?;?$"
    r"|assertTrue\(\s*(?:True|true)\s*[,)]|expect\(\s*(?:true|1)\s*\)\.to(?:Be|Equal|BeTruthy)\(\s*(?:true|1)?\s*\)"
    r"|assert!\(\s*true\s*\)|assert\.(?:True|ok)\(\s*(?:t,\s*)?true\s*\)"
)
_SKIP = re.compile(
    r"@(?:\w+\.)*(?:skip\w*|expectedFailure|Disabled|Ignore)\b|\bmark\.(?:skip\w*|xfail)\b|\bpytest\.(?:skip|xfail)\s*\("
    r"|\b(?:self|cls)\.skipTest\s*\(|\b(?:it|test|describe|suite|context)\.(?:skip|todo|only|failing)\b"
    r"|^\s*(?:xit|xtest|xdescribe|fit|fdescribe|pending)\s*[(\"']|\bt\.Skip\w*\s*\(|#\[ignore\b"
)
_TOLERANCE = re.compile(
    r"\b(rel|abs|rtol|atol|rel_tol|abs_tol|delta|tolerance|epsilon|places|decimal|msg_delta)\s*=\s*(\d{1,12}(?:\.\d{0,18})?(?:[eE][-+]?\d{1,3})?)"
)
_STRICTER_UP = {"places", "decimal"}
_COMMENT = ("#", "//", "*", "/*", "--", "<!--")
_LINE = 2000
_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Held:
    """Counts over one text. tolerances: (key, value) in the order of the file."""

    tests: int = 0
    asserts: int = 0
    skips: int = 0
    tolerances: tuple[tuple[str, float], ...] = ()


def is_test_path(path: str) -> bool:
    """Return whether a path is part of the tests: by its name, or because it lies in a folder of tests."""
    *folders, name = path.split("/")
    return _FILE.fullmatch(name) is not None or any(folder in _FOLDERS for folder in folders)


def is_snapshot(path: str) -> bool:
    """Return whether a path holds recorded expectations that a runner rewrites on request."""
    return _SNAPSHOT.fullmatch(path) is not None


def held(data: bytes | None) -> Held:
    """Return what a test file holds, nothing for one that is not there. Comments and trivial asserts do not count."""
    if data is None:
        return Held()
    lines = [line[:_LINE] for line in data[:_BYTES].decode("utf-8", "replace").splitlines()]
    # Attributes such as #[test] and #[ignore] start like a comment.
    code = [line for line in lines if _is_code(line.lstrip())]
    text = _CODE.join(code)
    return Held(
        tests=sum(_TEST.search(line) is not None for line in code),
        asserts=sum(_ASSERT.search(line) is not None and _TRIVIAL.search(line) is None for line in code),
        skips=sum(_SKIP.search(line) is not None for line in code),
        tolerances=tuple((key, float(value)) for key, value in _TOLERANCE.findall(text)),
    )


def _is_code(line: str) -> bool:
    return bool(line) and (not line.startswith(_COMMENT) or line.startswith("#["))


def looser(before: Held, after: Held) -> bool:
    """Return whether a tolerance was raised; only where the same ones are still there in the same order."""
    if [key for key, _ in before.tolerances] != [key for key, _ in after.tolerances]:
        return False
    pairs = zip(before.tolerances, after.tolerances, strict=True)
    return any((new < old) if key in _STRICTER_UP else (new > old) for (key, old), (_, new) in pairs)


def only_added(before: bytes, after: bytes) -> bool:
    """Return whether every line of before is still there, in order: nothing was taken away or changed."""
    rest = iter(after.splitlines())
    return all(any(line == other for other in rest) for line in before.splitlines())
