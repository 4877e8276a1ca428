"""Which files tell a test runner what to run, and which changes to them make it run or report less."""

from __future__ import annotations

import json
import re
from collections import Counter

_FILE = re.compile(
    r"conftest\.py|sitecustomize\.py|usercustomize\.py|.*\.pth|\.?pytest\.(?:ini|toml)|tox\.(?:ini|toml)|setup\.cfg"
    r"|pyproject\.toml|noxfile\.py|(?:GNU)?[Mm]akefile|.*\.mk|[Jj]ustfile|Taskfile\.ya?ml|package\.json"
    r"|(?:jest|vitest|vite|karma|playwright|cypress|ava|mocha)[\w.-]*\.(?:config|conf|workspace)[\w.]*|\.mocharc.*"
    r"|phpunit\.xml(?:\.dist)?|pom\.xml|build\.gradle(?:\.kts)?|\.?nextest\.toml|\.rspec|Rakefile"
)
_NARROWING = re.compile(
    r"--ignore(?:-glob)?\b|--deselect\b|(?:test|addopts).*\s[\"']?-k[ =\"']|^\s*[\"']?-k\b"
    r"|(?<![\w-])-m[ =]?[\"']?not\b|\bnorecursedirs\b|\bcollect_ignore\w*"
    r"|\|\|\s*(?:true\b|:|exit 0|echo\b)|;\s*(?:true|exit 0)\s*[\"']?\s*,?$|^\s*exit 0\b|\bset \+e\b|^\t-\s*\S"
    r"|pass-?with-?no-?tests|\btestPathIgnorePatterns\b|\btestNamePattern\b|--testNamePattern\b|\bskipTests\b|\bskip\.tests\b"
    r"|\btestFailureIgnore\b|\bignoreFailures\b|--exit-zero\b|--no-run\b|--collect-only\b|--suppress-no-test-exit-code\b"
    r"|^\.IGNORE\b|\bsys\.exit\(0\)|\bos\._exit\b",
    re.IGNORECASE,
)
_HOOK = re.compile(
    r"\bpytest_(?:collection_modifyitems|runtest_makereport|runtest_logreport|runtest_protocol|runtest_call|pyfunc_call"
    r"|report_teststatus|sessionfinish|ignore_collect|collect_file|pycollect_makeitem|terminal_summary|cmdline_main"
    r"|deselected|exception_interact|unconfigure)\b|\bexitstatus\s*=|\.outcome\s*=|\bunittest\.\w+\.\w+\s*="
)
_CHOICE = re.compile(
    r"^\s*(testpaths|python_files|python_functions|python_classes|testMatch|testRegex|include)\s*[=:]\s*(.*)$"
)
_TARGET = re.compile(r"^(?:test|tests|check|ci|unit|e2e)[\w-]*\s*:(?!=)")
_SECTION = re.compile(r"^\[(testenv\S*)\]")
_SCRIPT = re.compile(r"(?:pre|post)?test(?::.*)?")
_COMMENT = re.compile(r"^\s*(?:#|//|;)")
_LINE = 2000


def is_runner_config(path: str) -> bool:
    """Return whether a path is a file that test runners, or what starts them, read."""
    return _FILE.fullmatch(path.rpartition("/")[2]) is not None


def narrowed(path: str, before: bytes | None, after: bytes | None) -> str | None:
    """Return what makes the runner run or report less than before, for people; None if nothing surely does.

    Only what was added or replaced counts: settings that were there at the start are the user's own.
    """
    old, new = _lines(before), _lines(after)
    added = list((Counter(new) - Counter(old)).elements())
    hooks = path.endswith(".py")
    for line in added:
        if _NARROWING.search(line) or (hooks and _HOOK.search(line)):
            return line.strip()[:120]
    if path.endswith("package.json"):
        return _script_changed(before, after)
    return _choice_narrowed(old, new) or _recipe_changed(old, new)


def _lines(data: bytes | None) -> list[str]:
    text = (data or b"").decode("utf-8", "replace")
    return [line[:_LINE] for line in text.splitlines() if line.strip() and not _COMMENT.match(line)]


def _choice_narrowed(old: list[str], new: list[str]) -> str | None:
    """Return a choice of what to collect that lost a word, or that is new: without it everything was collected."""
    before = {match[1]: match[2] for line in old if (match := _CHOICE.match(line))}
    for line in new:
        match = _CHOICE.match(line)
        if match is None or before.get(match[1]) == match[2]:
            continue
        words = set(re.findall(r"[^\s\"',\[\]]+", before.get(match[1], "")))
        if match[1] not in before or words - set(re.findall(r"[^\s\"',\[\]]+", match[2])):
            return line.strip()[:120]
    return None


def _recipe_changed(old: list[str], new: list[str]) -> str | None:
    """Return the test target or section whose commands lost or changed a line."""
    kept = _recipes(new)
    for name, commands in _recipes(old).items():
        if Counter(commands) - Counter(kept.get(name, [])):
            return f"the commands of {name!r} changed"
    return None


def _recipes(lines: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    name: str | None = None
    for line in lines:
        section, target = _SECTION.match(line), _TARGET.match(line)
        if section or target:
            name = (section[1] if section else line.partition(":")[0]).strip()
            found.setdefault(name, [])
        elif line[:1] == "[" or (line[:1] not in (" ", "\t", "}", ")") and "=" not in line):
            name = None
        elif name is not None and (line[0] == "\t" or "pytest" in line or line.lstrip().startswith("commands")):
            found[name].append(line.strip())
    return found


def _script_changed(before: bytes | None, after: bytes | None) -> str | None:
    old, new = _scripts(before), _scripts(after)
    for name, command in old.items():
        if new.get(name) != command:
            return f"script {name!r} changed"
    return None


def _scripts(data: bytes | None) -> dict[str, object]:
    try:
        package = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return {}
    scripts = package.get("scripts") if isinstance(package, dict) else None
    if not isinstance(scripts, dict):
        return {}
    return {name: command for name, command in scripts.items() if _SCRIPT.fullmatch(name)}
