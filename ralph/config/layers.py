"""Collects what every source says, as documents with a place for each key; judges nothing."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import tomli

from ralph.config import files, phrases
from ralph.config.files import ConfigFile, Source
from ralph.config.kinds import COMMAND, Many, Named
from ralph.config.schema import BY_PATH, CHECK, DETECT, KEYS, SECTIONS, Key, env_name, find
from ralph.config.words import WordError, quoted
from ralph.errors import UserError

OriginKind = Literal["flag", "environment", "ralph.toml", "pyproject.toml", "user file", "profile", "default", "CI"]
OURS = ("RALPH_RUN", "RALPH_SOCKET")
"""Variables that ralph itself gives to agents: a run inside a run must not take them for keys."""
OFTEN_TYPED = {f"RALPH_{key.flag[2:].upper().replace('-', '_')}": key.env for key in KEYS if key.flag}
"""Environment names people guess from a flag: RALPH_MAX_COST. A cap must not be overlooked because of that."""


@dataclass(frozen=True, slots=True)
class Layer:
    """What one source says. document: nested as in a file; place: from a key's path to where it stands."""

    kind: OriginKind
    document: Mapping[str, Any]
    place: Callable[[str], str]


@dataclass(slots=True)
class Gathered:
    """Everything read, lowest precedence first; errors that were found on the way."""

    layers: list[Layer]
    spare: list[Layer]
    """Profiles that were not chosen: judged all the same."""
    notes: list[str]
    errors: list[UserError]
    files: list[ConfigFile]


def nested(flat: Mapping[str, object]) -> dict[str, Any]:
    """Return dotted paths as tables in a table; the first dot divides, and the second one of `detect.NAME.end`."""
    document: dict[str, Any] = {}
    for path, value in flat.items():
        *tables, name = path.split(".", 2 if path.startswith(f"{DETECT}.") else 1)
        inner: Any = document
        for table in tables:
            inner = inner.setdefault(table, {}) if isinstance(inner, dict) else None
        if isinstance(inner, dict):  # else something else stands there, which is judged as what it is
            old = inner.get(name)
            inner[name] = {**old, **value} if isinstance(old, dict) and isinstance(value, dict) else value
    return document


def from_files(found: Gathered, *, top: Path, environ: Mapping[str, str], profile: str | None) -> None:
    """Add the user file and the project's, then the chosen profile of each."""
    user = _user_file(found, environ)
    project, kind = _project_file(found, top)
    sources: list[tuple[Source, OriginKind]] = []
    if user:
        sources.append((user, "user file"))
    if project:
        sources.append((project, kind))
    profiles: list[Layer] = []
    known: list[str] = []
    for source, origin in sources:
        overlays = source.table.get("profile", {})
        own = {name: value for name, value in source.table.items() if name != "profile"}
        found.layers.append(Layer(origin, own, source.where))
        if not isinstance(overlays, dict):
            wrong = UserError("profile is not a table", where=source.where("profile"), fix="Write [profile.NAME].")
            found.errors.append(wrong)
            continue
        for name, overlay in overlays.items():
            known.append(name)
            layer = _profile(found, source, name=name, overlay=overlay)
            (profiles if name == profile else found.spare).extend(layer)
    found.layers.extend(profiles)
    if profile is not None and profile not in known:
        found.errors.append(_no_profile(profile, known))


def _profile(found: Gathered, source: Source, *, name: str, overlay: object) -> list[Layer]:
    prefix = f"profile.{name}"
    if not isinstance(overlay, dict):
        wrong = f"{quoted(overlay)} is not a table"
        found.errors.append(UserError(wrong, where=source.where(prefix), fix=f"Write [{prefix}]."))
        return []
    return [Layer("profile", overlay, lambda path: source.where(f"{prefix}.{path}"))]


def _no_profile(profile: str, known: list[str]) -> UserError:
    near = phrases.suggestion(profile, known)
    fix = f"Did you mean {near}?" if near else "Write its keys below a line [profile.NAME] in ralph.toml."
    return UserError(f"there is no profile {quoted(profile)}", where="--profile", fix=fix)


def _project_file(found: Gathered, top: Path) -> tuple[Source | None, OriginKind]:
    """Return ralph.toml, else the table of pyproject.toml; a broken ralph.toml still hides the table."""
    own, shared = top / "ralph.toml", top / "pyproject.toml"
    mistakes = len(found.errors)
    source = _attempt(found, own, lambda: files.read_toml(own, "ralph.toml"))
    if source or len(found.errors) > mistakes:
        _note_hidden(found, shared)
        return source, "ralph.toml"
    return _attempt(found, shared, lambda: files.read_pyproject(shared)), "pyproject.toml"


def _note_hidden(found: Gathered, shared: Path) -> None:
    try:
        hidden = files.read_pyproject(shared)
    except UserError:
        return
    if hidden:
        found.notes.append("[tool.ralph] in pyproject.toml is ignored: ralph.toml is there")


def user_file(environ: Mapping[str, str]) -> Path | None:
    """Return where the user's own file would be, None without a home directory."""
    base = environ.get("XDG_CONFIG_HOME", "")
    home = environ.get("HOME", "")
    if not Path(base).is_absolute():
        base = f"{home}/.config" if Path(home).is_absolute() else ""
    return Path(base, "ralph", "config.toml") if base else None


def _user_file(found: Gathered, environ: Mapping[str, str]) -> Source | None:
    path = user_file(environ)
    if path is None:
        return None
    # People keep their own files as links into a folder of dotfiles; the agent's work tree earns no such trust.
    return _attempt(found, path, lambda: files.read_toml(path, str(path), linked=True))


def _attempt(found: Gathered, path: Path, read: Callable[[], Source | None]) -> Source | None:
    try:
        source = read()
    except UserError as e:
        found.errors.append(e)
        return None
    found.files.append(source.file if source else ConfigFile(path, None))
    return source


def from_environment(found: Gathered, environ: Mapping[str, str]) -> None:
    """Add the variables `RALPH_…` that name keys; say what is empty, unknown or close to a key."""
    flat: dict[str, object] = {}
    named: dict[str, str] = {}
    for name in sorted(environ):
        if not name.startswith("RALPH_") or name in OURS:
            continue
        path = _env_path(name)
        if path is None:
            _unknown_variable(found, name)
        elif environ[name].strip():
            flat[path], named[path] = _typed(environ[name], find(path)), name
        else:
            _empty_variable(found, name, path)
    found.layers.append(Layer("environment", nested(flat), lambda path: named.get(path, env_name(path))))


def _env_path(name: str) -> str | None:
    if name.startswith(env_name(f"{CHECK}.")):
        return f"{CHECK}.{name.removeprefix(env_name(f'{CHECK}.')).lower()}"
    known = next((key.path for key in KEYS if name in (key.env, key.alias)), None)
    detector, level = (*name.removeprefix(env_name(f"{DETECT}.")).lower().split("__"), "", "")[:2]
    if known is None and name.startswith(env_name(f"{DETECT}.")) and level:
        return f"{DETECT}.{detector.replace('_', '-')}.{level}"
    return known


def _empty_variable(found: Gathered, name: str, path: str) -> None:
    key = BY_PATH.get(path)
    if key is not None and key.is_limit:
        fix = f'Unset it, or give a value; without a limit: {name}="unlimited".'
        found.errors.append(UserError(f"{name} is set but empty", where=name, fix=fix))
    else:
        found.notes.append(f"{name} is set but empty: ignored")


def _unknown_variable(found: Gathered, name: str) -> None:
    known = [key.env for key in KEYS]
    folded = {one.replace("__", "_"): one for one in known}
    near = folded.get(name) or OFTEN_TYPED.get(name)
    near = near or next(iter(difflib.get_close_matches(name, known, n=1, cutoff=0.8)), "")
    section = name.removeprefix("RALPH_").split("_")[0].lower()
    if not near and "__" not in name and section not in (*SECTIONS, CHECK):
        found.notes.append(f"{name} is no variable of ralph's: ignored")
        return
    fix = f"Did you mean {near}?" if near else "`ralph config show` lists the keys; dots are written as __."
    found.errors.append(UserError(f"unknown variable {name}", where=name, fix=f"{fix} Or unset it."))


def _typed(raw: str, key: Key | None) -> object:
    """Return the value of a variable: text, or a list or table where the key takes one and the text is one in TOML."""
    takes_list = key is not None and (isinstance(key.kind, Many) or key.kind is COMMAND)
    takes_table = key is not None and isinstance(key.kind, Named)
    opens = "[" if takes_list else "{" if takes_table else None
    value = toml_value(raw) if opens and raw.lstrip().startswith(opens) else raw
    return value if isinstance(value, list | dict) else raw


def toml_value(raw: str) -> object:
    """Return VALUE of `--set`: as TOML, or the bare word itself."""
    try:
        return files.toml(f"value = {raw}")["value"] if "\n" not in raw else raw
    except (tomli.TOMLDecodeError, RecursionError, ValueError):
        return raw


def from_line(found: Gathered, *, flags: Mapping[str, object], sets: tuple[str, ...]) -> None:
    """Add `--set KEY=VALUE` and, above them, the flags; flags["check"]: the NAME=CMD of each `--check`."""
    given: dict[str, object] = {}
    for one in sets:
        path, equals, raw = one.partition("=")
        path = path.strip()
        if not equals or not path:
            wrong = UserError(f"{quoted(one)} is not KEY=VALUE", where="--set", fix="Write --set limits.iterations=9.")
            found.errors.append(wrong)
        elif not raw.strip():
            found.errors.append(UserError(f"{path} is set but empty", where=f"--set {path}", fix="Give a value."))
        else:
            given[path] = toml_value(raw.strip())
    found.layers.append(Layer("flag", nested(given), lambda path: f"--set {path}"))
    named = {path: value for path, value in flags.items() if path != CHECK}
    named |= _checks(found, flags.get(CHECK, ()))
    found.layers.append(Layer("flag", nested(named), _flag_place))


def _flag_place(path: str) -> str:
    key = find(path)
    if key is not None and key.flag:
        return key.flag
    return {"prompt.file": "PROMPT", "agent.command": "-- COMMAND"}.get(path, path)


def _checks(found: Gathered, raw: object) -> dict[str, object]:
    checks: dict[str, object] = {}
    for one in raw if isinstance(raw, list | tuple) else ():
        try:
            name, command = phrases.named_check(str(one))
        except WordError as e:
            found.errors.append(UserError(e.what, where="--check", fix=e.fix))
            continue
        if f"{CHECK}.{name}" in checks:
            twice = UserError(f"two checks are called {quoted(name)}", where="--check", fix="Name them apart.")
            found.errors.append(twice)
        checks[f"{CHECK}.{name}"] = command
    return checks
