"""What `--dry-run` prints: everything a run would start with, and that nothing was started."""

from __future__ import annotations

from collections.abc import Iterator

from ralph.agents.adapter import Ask
from ralph.config.describe import shown
from ralph.encode.terminal import clean, one_line
from ralph.judge.gates import expected_gates
from ralph.loop.world import Crew
from ralph.prompt import NoteFacts, note
from ralph.wiring.crew import check_cost, check_prompt, check_tests, find_roster
from ralph.wiring.opening_lines import agent_line, stand_in_lines
from ralph.wiring.order import Order
from ralph.wiring.prompts import read_prompt


def shown_plan(order: Order) -> str:
    """Return the plan. Raises: UserError for whatever would refuse the real run."""
    return "\n".join(_lines(order))


def _lines(order: Order) -> Iterator[str]:
    settings = order.loaded.settings
    roster = find_roster(settings, environ=order.environ, top=order.top)
    crew = roster.current
    prompt = read_prompt(order)
    check_prompt(roster, prompt)
    check_cost(settings, roster)
    check_tests(settings, environ=order.environ, top=order.top)
    yield f"work tree: {order.top}"
    yield agent_line(settings, crew)
    yield from stand_in_lines(settings, roster)
    yield f"argv: {one_line(' '.join(_argv(order, crew)), 600)}"
    yield f"prompt: {one_line(prompt.where)}, {len(prompt.data)} bytes, sha256 {prompt.sha256}"
    promise = any(gate.__class__.__name__ == "PromiseGate" for gate in settings.done)
    text = note(NoteFacts(promise="DONE-0123456789" if promise else None)) if settings.prompt.notes else ""
    yield f"note of iteration 1: {clean(text) or 'none'}"
    yield f"gates: {', '.join(expected_gates(settings, None)) or 'none'}"
    yield from (f"{key} = {value}" for key, value in shown(settings) if key.startswith("limits."))
    yield "nothing was started"


def _argv(order: Order, crew: Crew) -> tuple[str, ...]:
    settings = order.loaded.settings
    if crew.given:
        return (*crew.program, *settings.agent.args)
    ask = Ask(
        crew.program,
        settings.agent.permissions,
        crew.model,
        crew.args,
        settings.limits.cost,
        settings.limits.turns,
        as_root=crew.as_root,
    )
    return crew.adapter.launch(ask).argv
