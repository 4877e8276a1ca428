"""The command table, and the one place that turns errors into messages and exit codes."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from importlib import import_module

import click

from ralph import __version__
from ralph.errors import UserError
from ralph.facts.reason import Reason

COMMANDS = {
    "run": ("ralph.cli.run", "run an agent on a prompt file until the work is done or going on is a waste"),
    "demo": ("ralph.cli.demo", "the real loop with a scripted agent in a throw-away repository: no key, < 10 s"),
    "status": ("ralph.cli.status", "how a run stands"),
    "logs": ("ralph.cli.logs", "what a run and its agent printed"),
    "stats": ("ralph.cli.stats", "what became of the runs here: loops, lengths, costs; alerts for a cron job"),
    "replay": ("ralph.cli.replay", "decide a recorded run again under other thresholds"),
    "report": ("ralph.cli.report", "the account of a run: text, json or markdown"),
    "diff": ("ralph.cli.diff", "what changed between two states of a run"),
    "restore": ("ralph.cli.restore", "bring a saved state back"),
    "resume": ("ralph.cli.resume", "go on with a run that ended"),
    "stop": ("ralph.cli.control", "end a run from another terminal"),
    "reload": ("ralph.cli.control", "let a run take the prompt file as it is now"),
    "wake": ("ralph.cli.control", "end a run's wait"),
    "blocked": ("ralph.cli.control", "called BY the agent: give up honestly"),
    "agents": ("ralph.cli.agents", "which agents are known, found, and what each can do"),
    "config": ("ralph.cli.config", "show, check or describe the configuration"),
    "explain": ("ralph.cli.explain", "what an exit code or reason means and what to do"),
}
"""Name -> (module, one line). A module holds a click command of the same name, loaded only when it is called."""


class LazyGroup(click.Group):
    """Lists its commands from the table; imports a command's module when that command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the table's order: the common ones first."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command; None for an unknown name."""
        if cmd_name not in COMMANDS:
            return None
        command = getattr(import_module(COMMANDS[cmd_name][0]), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="ralph %(version)s")
@click.pass_context
def app(ctx: click.Context) -> None:
    """Run a coding agent again and again on a prompt file, and know when to stop.

    \b
    ralph demo                      see it work, no key needed
    ralph run PROMPT.md --test 'pytest -q'
    ralph status                    how the newest run of this repository stands
    ralph explain 11                what an exit code means
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def run() -> None:
    """Run one command and leave with its exit code."""
    sys.exit(exit_code(sys.argv[1:]))


def exit_code(arguments: list[str]) -> int:
    """Return the exit code of one command line; every error becomes its message on stderr.

    A command returns its code, or None for 0.
    """
    try:
        code = app.main(arguments, prog_name="ralph", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except UserError as e:
        from ralph.cli.failure import shown  # not paid for by every start

        _complain(shown(e))
        return e.reason.exit_code
    except click.ClickException as e:
        words = io.StringIO()
        e.show(file=words)
        _complain(words.getvalue().rstrip("\n"))
        return Reason.USAGE.exit_code
    except (click.Abort, KeyboardInterrupt):
        return Reason.INTERRUPTED.exit_code
    except BrokenPipeError:
        _forget_stdout()
        return 0
    except Exception as e:  # the one broad handler: a fault of ours becomes a report to send
        from ralph.cli.failure import report_bug

        _complain(report_bug(e, arguments))
        return Reason.BUG.exit_code


def _complain(text: str) -> None:
    # What was typed may hold a key, and what a file says anything at all.
    from ralph.cli.sink import show

    show(text, err=True)


def _forget_stdout() -> None:
    # The reader has gone (`ralph report | head`): keep Python's exit from complaining about it.
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
