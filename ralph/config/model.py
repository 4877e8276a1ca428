"""Judges whole documents with pydantic: all mistakes at once, each with its path. Runs in a child (`aside`) only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ralph.config import phrases
from ralph.config.kinds import Choice, Kind, Many, Named, Word
from ralph.config.schema import BY_PATH, CHECK, CHECKS, DETECT, KEYS, LEVELS, SECTIONS, Key
from ralph.config.words import WordError, quoted

if TYPE_CHECKING:
    from pydantic import BaseModel, ConfigDict

MOST_ELEMENTS = 1000
Document = Mapping[str, Any]
Fault = dict[str, Any]
"""path: list of keys and indexes; what, fix: as in `UserError`."""


def judge(documents: Sequence[Document]) -> list[dict[str, Any]]:
    """Return for each document {"values": {path: JSON value}, "faults": [Fault]}, faults in document order.

    values: those of the keys that are right, also where others are wrong.
    """
    model = _model()
    return [_judged(model, document) for document in documents]


def _judged(model: type[BaseModel], document: Document) -> dict[str, Any]:
    from pydantic import ValidationError

    try:
        return {"values": _flat(model.model_validate(document).model_dump(exclude_unset=True)), "faults": []}
    except ValidationError as e:
        faults = [_fault(error) for error in e.errors()]
    rest = _without(document, [fault["path"] for fault in faults])
    return {"values": _flat(model.model_validate(rest).model_dump(exclude_unset=True)), "faults": faults}


def _without(document: Document, wrong: Sequence[list[Any]]) -> Document:
    """Leave out the keys that are wrong, so that the others can be looked at together."""
    keys = {tuple(path[:2]) for path in wrong}
    rest = {name: value for name, value in document.items() if (name,) not in keys}
    return {
        name: {key: one for key, one in value.items() if (name, key) not in keys} if isinstance(value, dict) else value
        for name, value in rest.items()
        if isinstance(value, dict) or not any(path[0] == name for path in wrong)
    }


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of `ralph.toml`."""
    schema: dict[str, Any] = _tidy(_model(profiles=True).model_json_schema())
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "ralph.toml", **schema}


def _tidy(node: Any, *, naming: bool = False) -> Any:
    """Drop titles and null defaults; naming: the members of this object are names of the user's, not schema words."""
    if isinstance(node, list):
        return [_tidy(one) for one in node]
    if not isinstance(node, dict):
        return node
    return {
        name: _tidy(one, naming=name in ("properties", "$defs", "patternProperties") and not naming)
        for name, one in node.items()
        if naming or not (name == "title" or (name == "default" and one is None))
    }


def _flat(checked: Mapping[str, Any], table: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in checked.items():
        path = f"{table}{name}"
        flat |= _flat(value, f"{path}.") if isinstance(value, dict) and path not in BY_PATH else {path: value}
    return flat


def _model(*, profiles: bool = False) -> type[BaseModel]:
    """Build the model from the table of keys: a table of the file is a model, `check` a mapping."""
    from pydantic import ConfigDict, Field, create_model

    shut = ConfigDict(extra="forbid", strict=True)
    tables: dict[str, Any] = {}
    for section in SECTIONS:
        members: dict[str, Any] = {key.name: _field(key) for key in KEYS if key.section == section}
        members |= _detectors(shut) if section == DETECT else {}
        tables[section] = (create_model(section, __config__=shut, **members), Field(default=None))
    tables |= {key.name: _field(key) for key in KEYS if not key.section}
    checks: Any = dict.__class_getitem__((_check_name(), _annotation(CHECKS.kind)))
    tables[CHECK] = (checks, Field(default=None, description=CHECKS.help))
    model: type[BaseModel] = create_model("Configuration", __config__=shut, **tables)
    if not profiles:
        return model
    overlay: Any = (dict.__class_getitem__((str, model)), Field(default=None, description="keys for --profile NAME"))
    whole: type[BaseModel] = create_model("Whole", __base__=model, profile=overlay)
    return whole


def _detectors(shut: ConfigDict) -> dict[str, Any]:
    """Return a table for each detector, with the keys of its levels."""
    from pydantic import Field, create_model

    from ralph.judge.signals.table import DETECTORS

    members: dict[str, Any] = {key.name: _field(key) for key in LEVELS}
    return {name: (create_model(name, __config__=shut, **members), Field(default=None)) for name in DETECTORS}


def _field(key: Key) -> tuple[Any, Any]:
    from pydantic import Field

    return _annotation(key.kind), Field(default=None, description=key.help)


def _annotation(kind: Kind) -> Any:
    """Return the pydantic type of a kind: our own reader for words, pydantic's tables, lists and closed lists."""
    from typing import Literal

    if isinstance(kind, Word):
        return _word(kind)
    if isinstance(kind, Choice):
        return Literal[kind.options]
    if isinstance(kind, Named):
        return dict.__class_getitem__((str, _list(kind.item)))
    return _list(kind)


def _list(kind: Many) -> Any:
    from typing import Annotated

    from pydantic import BeforeValidator, Field

    item: Any = _word(kind.item)
    several: Any = Annotated[list.__class_getitem__(item), Field(min_length=kind.least, max_length=MOST_ELEMENTS)]
    return Annotated[several, BeforeValidator(partial(_listed, kind.commas), json_schema_input_type=several | item)]


def _word(word: Word) -> Any:
    from typing import Annotated

    from pydantic import PlainValidator, WithJsonSchema

    return Annotated[Any, PlainValidator(word.read), WithJsonSchema(dict(word.json))]


def _listed(commas: bool, raw: object) -> object:
    """Make a list of a single word, and two elements of `a,b` where commas divide."""
    several = [raw] if isinstance(raw, str) else list(raw) if isinstance(raw, tuple) else raw
    if not commas or not isinstance(several, list):
        return several
    return [part for one in several for part in (one.split(",") if isinstance(one, str) else [one])]


def _check_name() -> Any:
    from typing import Annotated

    from pydantic import PlainValidator, WithJsonSchema

    def read(raw: object) -> str:
        return phrases.check_name(str(raw))

    pattern = {"type": "string", "pattern": f"^{phrases.CHECK_NAME}$"}
    return Annotated[str, PlainValidator(read), WithJsonSchema(pattern)]


def _fault(error: Mapping[str, Any]) -> Fault:
    """Turn an error of pydantic's into our words; `loc` is its path."""
    path = [part for part in error["loc"] if part != "[key]"]
    raised = error.get("ctx", {}).get("error")
    what, fix = (raised.what, raised.fix) if isinstance(raised, WordError) else _own_words(path, error)
    return {"path": path, "what": what, "fix": fix}


def _own_words(path: list[Any], error: Mapping[str, Any]) -> tuple[str, str]:
    raw = error["input"]
    name = ".".join(str(part) for part in path)
    if error["type"] == "extra_forbidden":
        return unknown(name)
    key = BY_PATH.get(name)
    if error["type"] == "literal_error" and key is not None and isinstance(key.kind, Choice):
        refused = phrases.choice_error(raw, key.kind.options)
        return refused.what, refused.fix
    if error["type"] == "too_short":
        return "[] is an empty list", "Give at least one value, or leave the key out."
    if error["type"] == "too_long":
        return f"a list of more than {MOST_ELEMENTS}", "Give fewer values."
    if error["type"] == "list_type":
        return f"{quoted(raw)} is not a list", 'Write it like ["one", "two"].'
    return f"{quoted(raw)} is not a table", f"Write its keys below a line [{name}]."


def unknown(name: str) -> tuple[str, str]:
    """Return what is said of a key that there is not, with the nearest one."""
    from ralph.judge.signals.table import DETECTORS

    levels = [f"{DETECT}.{detector}.{key.name}" for detector in DETECTORS for key in LEVELS]
    known = [*BY_PATH, *(key.name for key in KEYS), *SECTIONS, CHECK, *FLAG_NAMES]
    deep = [f"{DETECT}.{detector}" for detector in DETECTORS] if name.count(".") == 1 else levels
    near = (
        phrases.suggestion(name, deep if name.startswith(f"{DETECT}.") else ())
        or phrases.suggestion(name, BY_PATH)
        or phrases.suggestion(name.rpartition(".")[2], known)
    )
    near = FLAG_NAMES.get(near, near)
    full = next((key.path for key in KEYS if near in (key.path, key.name)), near)
    listed = "`ralph config schema` lists all keys."
    return f"unknown key {quoted(name)}", f"Did you mean {full}? {listed}" if full else listed


FLAG_NAMES = {key.flag.removeprefix("--").replace("-", "_"): key.path for key in KEYS if key.flag}
"""What a flag would be called as a key: people write `max_cost` in the file."""
