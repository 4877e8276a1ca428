"""Loads the configuration: every source read, every mistake found, one `Settings` and the origin of each key.

Precedence, highest first: flag, `--set`, environment, profile, ralph.toml or `[tool.ralph]`, user file, default.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ralph.config import layers, phrases
from ralph.config.aside import in_child
from ralph.config.files import ConfigFile
from ralph.config.kinds import Named
from ralph.config.layers import Gathered, Layer, OriginKind
from ralph.config.model import judge
from ralph.config.rules import cross_errors
from ralph.config.schema import CHECK, DETECT, KEYS, LEVELS, attribute, find
from ralph.errors import ConfigErrors, UserError
from ralph.facts.settings import Check, Detect, Levels, Settings


@dataclass(frozen=True, slots=True)
class Origin:
    """Who set a key. where: "ralph.toml:7 limits.iterations", "--max-cost", "RALPH_QUOTA__ACTION", "" for defaults."""

    kind: OriginKind
    where: str = ""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The effective configuration. origins: one for every key, `check.NAME` included.

    notes: lines worth saying at the start. files: what was obeyed, absent candidates too.
    """

    settings: Settings
    origins: Mapping[str, Origin]
    notes: tuple[str, ...] = ()
    files: tuple[ConfigFile, ...] = ()


def load(
    *,
    flags: Mapping[str, object],
    environ: Mapping[str, str],
    top: Path,
    cwd: Path,
    profile: str | None = None,
    sets: tuple[str, ...] = (),
) -> Loaded:
    """Return the configuration of a run.

    flags: key path to what was typed (text, several texts, True); "check" holds NAME=CMD texts. top: where the
    project's files lie and what their relative paths start from; cwd: the same for the line and the environment.
    Raises: ConfigErrors with every mistake of every source: of reading, of single values, contradictions.
    """
    found = Gathered([], [], [], [], [])
    layers.from_files(found, top=top, environ=environ, profile=profile)
    layers.from_environment(found, environ)
    layers.from_line(found, flags=flags, sets=sets)
    values, origins = _merged(found, top=top, cwd=cwd)
    if environ.get("CI", "").lower() not in ("", "0", "false") and "quota.action" not in values:
        values["quota.action"], origins["quota.action"] = "stop", Origin("CI", "CI")
    settings = assembled(values)
    found.errors += cross_errors(settings, lambda path: origins.get(path, Origin("default")).where or path)
    if found.errors:
        raise ConfigErrors(tuple(found.errors))
    defaults = {key.path: Origin("default") for key in KEYS}
    return Loaded(settings, {**defaults, **origins}, tuple(found.notes), tuple(found.files))


def _merged(found: Gathered, *, top: Path, cwd: Path) -> tuple[dict[str, Any], dict[str, Origin]]:
    """Judge all layers in one child and lay them over each other."""
    every = [*found.spare, *found.layers]
    answers = _answers([layer.document for layer in every])
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    for number, (layer, answer) in enumerate(zip(every, answers, strict=True)):
        found.errors += [_error(layer, fault) for fault in answer["faults"]]
        if number < len(found.spare):
            continue
        base = cwd if layer.kind in ("flag", "environment") else top
        for path, value in answer["values"].items():
            values[path] = _over(path, value, values.get(path), base=base, top=top)
            origins[path] = Origin(layer.kind, layer.place(path))
    return values, origins


def _answers(documents: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Judge what says anything in one child; silence needs none."""
    told = [document for document in documents if document]
    judged = iter(in_child(lambda: judge(told)) if told else ())
    return [next(judged) if document else {"values": {}, "faults": []} for document in documents]


def _error(layer: Layer, fault: Mapping[str, Any]) -> UserError:
    path = ".".join(str(part) for part in fault["path"] if isinstance(part, str))
    spot = "".join(f"[{part}]" for part in fault["path"] if isinstance(part, int))
    return UserError(fault["what"], where=f"{layer.place(path)}{spot}", fix=fault["fix"])


_ANCHORS = {key.path: key.anchor for key in KEYS if key.anchor}
_TABLES = frozenset(key.path for key in KEYS if isinstance(key.kind, Named))


def _over(path: str, value: Any, below: Any, *, base: Path, top: Path) -> Any:
    """Return what holds where a layer says `value` over what those below it said."""
    if path in _TABLES:
        return {**(below or {}), **value}
    return _placed(path, value, base=base, top=top) if path in _ANCHORS else value


def _placed(path: str, value: str, *, base: Path, top: Path) -> str:
    """Return a path as `Settings` promises it: from the top where it lies inside, else absolute."""
    if path == "prompt.file" and value == "-":
        return value
    full = Path(os.path.normpath(base / value))
    return str(full.relative_to(top)) if _ANCHORS[path] == "top" and full.is_relative_to(top) else str(full)


def assembled(values: Mapping[str, Any], base: Settings | None = None) -> Settings:
    """Return the settings of judged values (JSON, by path); what is missing stays as in `base`, else its default."""
    plain = base or Settings()
    tables: dict[str, Any] = {}
    for key in KEYS:
        if key.section and key.path in values:
            tables.setdefault(key.section, {})[attribute(key.name)] = _frozen(values[key.path])
    changed = {name: replace(getattr(plain, name), **members) for name, members in tables.items()}
    changed[DETECT] = _with_levels(changed.get(DETECT, plain.detect), values)
    checks = tuple(
        Check(path.partition(".")[2], _frozen(argv)) for path, argv in values.items() if path.startswith(f"{CHECK}.")
    )
    done = tuple(phrases.gate_of(typed) for typed in values.get("done", ()))
    return replace(plain, **changed, checks=checks or plain.checks, done=done or plain.done)


def _with_levels(detect: Detect, values: Mapping[str, Any]) -> Detect:
    """Return the rules with the counts of `detect.NAME.nudge` and its like."""
    levels = dict(detect.levels)
    for path, value in values.items():
        if (key := find(path)) in LEVELS and key is not None:
            name = path.split(".")[1]
            levels[name] = replace(levels.get(name, Levels()), **{key.name: value})
    return replace(detect, levels=levels)


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _frozen(one) for name, one in value.items()}
    return tuple(value) if isinstance(value, list) else value
