"""The options of `ralph run`, made from the table of configuration keys; values stay text for `config` to judge.

So every mistake on the line comes in one list with those of the files, instead of one at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from ralph.config.describe import default_text
from ralph.config.kinds import Many
from ralph.config.phrases import suggestion
from ralph.config.schema import CHECK, CHECKS, KEYS, Key

Callback = TypeVar("Callback", bound=Callable[..., Any])

TITLES = {
    "agent": "Agent",
    "limits": "Limits",
    "test": "Tests and what done means",
    "": "Tests and what done means",
    "check": "Tests and what done means",
    "stop": "When going on is a waste",
    "run": "The run",
    "tree": "The work tree, the prompt, quotas",
    "prompt": "The work tree, the prompt, quotas",
    "quota": "The work tree, the prompt, quotas",
}
"""Heading in `--help-all` of the options of each table."""
TALK_TITLE = "What is printed and read"
COMMAND = "command"
"""Name of the parameter that takes what stands after `--`."""


class Suggesting(click.Choice[str]):
    """A closed list whose error names the nearest word."""

    def get_invalid_choice_message(self, value: object, ctx: click.Context | None) -> str:
        """Return the message for a word outside the list."""
        near = suggestion(str(value), self.choices)
        message = super().get_invalid_choice_message(value, ctx)
        return f"{message} Did you mean {near}?" if near else message


class RunOption(click.Option):
    """An option with a heading, perhaps one of the dozen that `-h` shows. key: None for what is no configuration."""

    def __init__(
        self, declarations: Iterable[str], *, title: str, common: bool, key: Key | None = None, **rest: Any
    ) -> None:
        super().__init__(list(declarations), **rest)
        self.title = title
        self.common = common
        self.key = key


def parameter(key: Key) -> str:
    """Return the name of the Python parameter that carries a key."""
    return key.path.replace(".", "__")


def _of(key: Key) -> RunOption:
    several = isinstance(key.kind, Many) or key is CHECKS
    default = "none" if key.bare else default_text(key)
    words = f"{key.help}; repeatable" if several else key.help
    told = words if default == "none" else f"{words} (default: {default})"
    value: dict[str, Any] = {"is_flag": True} if key.bare else {"metavar": key.metavar or key.kind.metavar}
    return RunOption(
        [*key.flags, parameter(key)],
        title=TITLES[key.section],
        common=key.common,
        key=key,
        help=told,
        multiple=several,
        **value,
    )


def _talk(*flags: str, common: bool = False, **rest: Any) -> RunOption:
    return RunOption(flags, title=TALK_TITLE, common=common, **rest)


def _options() -> list[RunOption]:
    """Return all options, those of the keys first, in the order of their headings."""
    titles = list(dict.fromkeys(TITLES.values()))
    keys = sorted((_of(key) for key in (*KEYS, CHECKS) if key.flags), key=lambda one: titles.index(one.title))
    return [
        *keys,
        _talk("--dry-run", common=True, is_flag=True, help="check everything, print what would be sent, start nothing"),
        _talk("--json", "as_json", common=True, is_flag=True, help="stdout carries JSON lines only"),
        _talk("-q", "--quiet", common=True, is_flag=True, help="print the verdict only"),
        _talk("-v", "--verbose", count=True, help="say more; twice: everything"),
        _talk("--color", type=Suggesting(["auto", "always", "never"]), default="auto", help="when to colour"),
        _talk("-C", "directory", common=True, metavar="DIR", default=".", help="run as if started in DIR"),
        _talk("--profile", metavar="NAME", help="lay the keys of [profile.NAME] over the others"),
        _talk("--set", "sets", metavar="KEY=VALUE", multiple=True, help="set any key; VALUE as TOML, or a bare word"),
        _talk("--accept-config", is_flag=True, help="obey configuration that changed while ralph was at work"),
    ]


def run_options(callback: Callback) -> Callback:
    """Give a command PROMPT and all options; the command must be a `RunCommand`."""
    for option in reversed(_options()):
        _remember(callback, option)
    _remember(callback, click.Argument(["prompt"], required=False, metavar="[PROMPT.md|-]"))
    return callback


def _remember(callback: Callable[..., Any], parameter: click.Parameter) -> None:
    # Where click's own decorators put them, for `@click.command` to collect from below upward.
    callback.__dict__.setdefault("__click_params__", []).append(parameter)


class RunCommand(click.Command):
    """A command that takes a COMMAND after `--`, and shows a dozen options on `-h`, all on `--help-all`."""

    def __init__(self, *arguments: Any, **rest: Any) -> None:
        rest["context_settings"] = {"help_option_names": ["-h", "--help"], **(rest.get("context_settings") or {})}
        super().__init__(*arguments, **rest)
        every = click.Option(
            ["--help-all"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_help_all,
            help="Show all options.",
        )
        self.params.append(every)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Cut COMMAND off at the first `--`; it is argv and none of our options are looked for in it."""
        head, tail = (args[: args.index("--")], args[args.index("--") + 1 :]) if "--" in args else (args, None)
        if tail == []:
            raise click.UsageError("after -- comes a COMMAND that takes the prompt on stdin", ctx)
        rest = super().parse_args(ctx, head)
        ctx.params[COMMAND] = tuple(tail or ())
        return rest

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return the pieces of the usage line."""
        return ["[PROMPT.md|-]", "[OPTIONS]", "[-- COMMAND…]"]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the common options, or all of them under their headings."""
        found = [one for one in self.params if isinstance(one, RunOption)]
        if ctx.meta.get(ALL):
            for title in dict.fromkeys(one.title for one in found):
                _write(ctx, formatter, title=title, options=[one for one in found if one.title == title])
            return
        _write(ctx, formatter, title="Options", options=[one for one in found if one.common])
        formatter.write_paragraph()
        formatter.write_text("`--help-all` shows the other options, `ralph config schema` every key.")


ALL = "ralph.help-all"


def _write(ctx: click.Context, formatter: click.HelpFormatter, *, title: str, options: list[RunOption]) -> None:
    rows = [record for one in options if (record := one.get_help_record(ctx)) is not None]
    with formatter.section(title):
        formatter.write_dl(rows)


def _help_all(ctx: click.Context, option: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        ctx.meta[ALL] = True
        click.echo(ctx.get_help())
        ctx.exit()


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the line said. flags: key path to text, texts or True, as `config.sources.load` takes them."""

    flags: Mapping[str, object]
    sets: tuple[str, ...] = ()
    profile: str | None = None
    directory: str = "."
    dry_run: bool = False
    as_json: bool = False
    quiet: bool = False
    verbose: int = 0
    color: str = "auto"
    accept_config: bool = False


def chosen(parameters: Mapping[str, Any]) -> Chosen:
    """Return what the parameters of a command with `run_options` hold; what was not typed is left out."""
    flags: dict[str, object] = {
        CHECK if key is CHECKS else key.path: parameters[parameter(key)]
        for key in (*KEYS, CHECKS)
        if key.flags and parameters.get(parameter(key)) not in (None, (), False)
    }
    if parameters.get("prompt") is not None:
        flags["prompt.file"] = parameters["prompt"]
    if parameters.get(COMMAND):
        flags["agent.command"] = parameters[COMMAND]
    names = ("sets", "profile", "directory", "dry_run", "as_json", "quiet", "verbose", "color", "accept_config")
    return Chosen(flags, **{name: parameters[name] for name in names})
