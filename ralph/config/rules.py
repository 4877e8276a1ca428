"""Rules that concern several keys at once; pure, over settings whose single values are already right."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable

from ralph.config.phrases import spell_money
from ralph.errors import UserError
from ralph.facts.settings import PromiseGate, Settings

Where = Callable[[str], str]
"""From a key's path to the place that set it."""


def cross_errors(settings: Settings, where: Where) -> tuple[UserError, ...]:
    """Return every contradiction between keys."""
    found = (_token_needed(settings, where), _reload_and_protect(settings, where), _gates_twice(settings, where))
    return tuple(error for error in found if error is not None)


def _token_needed(settings: Settings, where: Where) -> UserError | None:
    if settings.prompt.notes or PromiseGate(None) not in settings.done:
        return None
    return UserError(
        'prompt.notes = "off" leaves nobody to tell the agent the done token',
        where=where("prompt.notes"),
        fix="Give a token that your prompt names: --done promise=TOKEN.",
    )


def _reload_and_protect(settings: Settings, where: Where) -> UserError | None:
    if settings.prompt.reload != "always" or not covers(settings.tree.protect, settings.prompt.file):
        return None
    return UserError(
        f"{settings.prompt.file} is protected, and prompt.reload takes every change of it",
        where=where("prompt.reload"),
        fix='Set prompt.reload = "ask", or take the prompt out of tree.protect.',
    )


def _gates_twice(settings: Settings, where: Where) -> UserError | None:
    promises = [gate for gate in settings.done if isinstance(gate, PromiseGate)]
    if len(promises) > 1:
        return UserError("done holds more than one promise", where=where("done"), fix="Keep one of them.")
    if len(set(settings.done)) < len(settings.done):
        return UserError("done holds the same gate twice", where=where("done"), fix="Give each gate once.")
    return None


def covers(patterns: tuple[str, ...], path: str) -> bool:
    """Return whether gitignore-style patterns (the last that fits decides) cover a path from the top."""
    covered = False
    for pattern in patterns:
        if _fits(pattern.removeprefix("!"), path):
            covered = not pattern.startswith("!")
    return covered


def _fits(pattern: str, path: str) -> bool:
    """`fnmatch` lets * cross a slash; a protected prompt may so be found once too often, never missed."""
    bare = pattern.strip("/").removeprefix("**/")
    parts = path.split("/")
    folders = ["/".join(parts[:n]) for n in range(1, len(parts) + 1)]
    if pattern.startswith("**/") or "/" not in pattern.rstrip("/"):
        return any(fnmatch.fnmatchcase(one, bare) or fnmatch.fnmatchcase(one, f"*/{bare}") for one in folders)
    return any(fnmatch.fnmatchcase(one, bare) for one in folders)


def cost_rule(settings: Settings, *, reports_cost: bool, priced: bool) -> UserError | None:
    """Return why `--max-cost` could not be kept with this agent and model, None if it can.

    reports_cost: the agent tells dollars. priced: the table has a price for the model and the agent tells tokens.
    """
    cap, each = settings.limits.cost, settings.limits.cost_per_iteration
    if cap is None or each is not None or reports_cost or priced:
        return None
    return UserError(
        f"a cost limit of {spell_money(cap)} cannot be kept: the agent reports no dollars and the model has no price",
        where="limits.cost",
        fix="Say what to count for each iteration: --cost-per-iteration 0.50. Or limit tokens or time instead.",
    )
