"""Builds a new run: everything checked before anything is started or spent, everything saved before it may change."""

from __future__ import annotations

import random
import secrets
import shutil
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from ralph.config.files import ConfigFile
from ralph.errors import UserError
from ralph.facts.run import Conclusion, Opening
from ralph.facts.settings import ChecklistGate, Settings
from ralph.facts.suite import Suite
from ralph.facts.tree import Tree
from ralph.journal import entries, suites
from ralph.journal.log import Log
from ralph.journal.places import Places, RunDir
from ralph.judge.gates import boxes
from ralph.judge.history import History
from ralph.loop.proof import plain_text
from ralph.loop.run import Run
from ralph.loop.testing import TestStep
from ralph.loop.world import Roster, World
from ralph.process.clock import SystemClock
from ralph.process.signals import Signals
from ralph.prompt import Frozen
from ralph.repo.find import locate
from ralph.repo.linked import create
from ralph.report.next_steps import next_commands
from ralph.wiring import earlier
from ralph.wiring.baseline import baseline
from ralph.wiring.crew import check_cost, check_prompt, check_tests, find_roster
from ralph.wiring.ground import Ground, save_start, take_ground
from ralph.wiring.opening_lines import agent_line, goal_lines, limit_lines, stand_in_lines, unsaved_lines
from ralph.wiring.order import Order
from ralph.wiring.owned import keep_owned
from ralph.wiring.prompts import keep_prompt, prompt_file, read_prompt
from ralph.wiring.record import Recorder
from ralph.wiring.times import deadline
from ralph.wiring.workshop import Workshop, interpreter, no_planted_modules, open_workshop, start_beside


def new_run(order: Order, *, signals: Signals, stack: ExitStack) -> Run:
    """Return a run ready for its first iteration. Raises: UserError; then nothing was started, nothing is lost."""
    settings = order.loaded.settings
    no_planted_modules(order.top)
    roster = find_roster(settings, environ=order.environ, top=order.top)
    prompt = read_prompt(order)
    check_prompt(roster, prompt)
    check_cost(settings, roster)
    check_tests(settings, environ=order.environ, top=order.top)
    places = Places.of(order.top, state_dir=settings.run.state_dir, environ=order.environ)
    places.prepare()
    obeyed = obeyed_by(order)
    earlier.check_obeyed(places, obeyed, accepted=order.accept_config)
    earlier.tidy_up(places, console=order.console)
    paper = places.new_run(SystemClock().now())
    stack.callback(forget_if_empty, paper)
    if settings.run.worktree:
        order = in_linked_tree(order, places, paper)
    ground = take_ground(
        order.place, order.git, places=places, paper=paper, settings=settings, environ=order.environ, stack=stack
    )
    earlier.keep_obeyed(places, obeyed)
    keep_prompt(paper, prompt)
    workshop = workshop_of(order, ground, signals=signals, stack=stack)
    return opened(order, ground, workshop=workshop, roster=roster, prompt=prompt, stack=stack)


def in_linked_tree(order: Order, places: Places, paper: RunDir) -> Order:
    """Return the order moved to a fresh linked work tree on a branch of its own. Raises: UserError (refused)."""
    linked = create(order.place, order.git, paper.id, into=places.worktree(paper))
    for line in (f"working in {linked.top} on branch {linked.branch}; your own checkout stays as it is", *linked.notes):
        order.console.say(line)
    return replace(order, place=locate(linked.top, order.git, no_git=False), home=order.top)


def forget_if_empty(paper: RunDir) -> None:
    """Remove the folder of a run that ended before its journal began."""
    if not paper.journal.exists():
        shutil.rmtree(paper.path, ignore_errors=True)


def workshop_of(order: Order, ground: Ground, *, signals: Signals, stack: ExitStack) -> Workshop:
    """Return the workshop; its scratch folder goes with the run."""
    settings = order.loaded.settings
    scratch = ground.paper.made(ground.paper.path / "scratch")
    stack.callback(shutil.rmtree, scratch, ignore_errors=True)
    made = open_workshop(
        settings,
        run=ground.paper.id,
        top=order.top,
        scratch=scratch,
        signals=signals,
        environ=order.environ,
        moved=ground.tree.moved_since_last_look,
        by=interpreter(order.top, strict=settings.run.strict, console=order.console),
        stack=stack,
    )
    socket = ground.paper.path / "socket"
    socket.write_text(str(made.channel.path), encoding="utf-8")
    stack.callback(socket.unlink, missing_ok=True)
    return made


def opened(
    order: Order, ground: Ground, *, workshop: Workshop, roster: Roster, prompt: Frozen, stack: ExitStack
) -> Run:
    """Save the start, run the baseline, begin the journal, and return the run."""
    settings, console = order.loaded.settings, order.console
    for line in (agent_line(settings, roster.current), *stand_in_lines(settings, roster)):
        console.say(line)
    saved = save_start(ground, settings)
    start = saved.tree
    start_beside(workshop, settings, top=order.top, folder=ground.paper.made(ground.paper.iteration(0)))
    ends_at = deadline(settings.limits, SystemClock())
    step = TestStep(settings, workshop.runner, deadline_s=ends_at)
    found = run_baseline(settings, ground, step=step, start=start, workshop=workshop)
    tree, owned = after_baseline(ground, start)
    opening = Opening(ground.paper.id, SystemClock().now(), tree, found, boxes_of(settings, order.top))
    public = Path(settings.run.summary) if settings.run.summary else None
    recorder = Recorder(ground.paper, console, public=public)
    log = stack.enter_context(recorder.begin(SystemClock()))
    began(order, ground, roster=roster, prompt=prompt, opening=opening, log=log, kept=saved.digest)
    for line in (
        *limit_lines(settings),
        *goal_lines(settings, opening),
        *unsaved_lines(saved.unsaved),
        *order.loaded.notes,
    ):
        console.say(line)
    world = world_of(order, ground, workshop=workshop, roster=roster, log=log, recorder=recorder, ends_at=ends_at)
    step.remember(tree, found)
    return Run(
        world,
        History(opening, settings, agents=roster.names),
        opening,
        prompt,
        start,
        tree,
        step,
        world.hashes(),
        f"BLOCKED-{world.nonce()}",
        test_owned=owned,
    )


def run_baseline(
    settings: Settings, ground: Ground, *, step: TestStep, start: Tree, workshop: Workshop
) -> tuple[Suite, ...]:
    """Return the suites before iteration 1, kept for the record."""
    kept, logs = ground.places.path / "baseline.json", ground.paper.iteration(0)
    found = baseline(
        settings,
        step,
        tree=start,
        logs=logs,
        kept=kept,
        now=SystemClock().now(),
        signal_number=workshop.launcher.interruption,
    )
    for suite in found:
        suites.keep(ground.paper.suites, suite)
    return found


def after_baseline(ground: Ground, start: Tree) -> tuple[Tree, frozenset[str]]:
    """Return the tree after the baseline, and the paths that it changed: those are a test step's own."""
    tree = ground.tree.look()
    if tree.id == start.id:
        return tree, frozenset()
    ground.tree.save(tree, "0.tests")
    owned = frozenset(ground.tree.changes(start, tree).paths)
    keep_owned(ground.paper, owned)
    return ground.tree.look(test_owned=owned), owned


def boxes_of(settings: Settings, top: Path) -> tuple[tuple[str, int, int], ...]:
    """Return the boxes of each checklist gate's file. Raises: UserError (usage) for a file without any."""
    found = []
    for gate in settings.done:
        if isinstance(gate, ChecklistGate):
            text = plain_text(top / gate.path)
            if text is None or not sum(boxes(text)):
                raise UserError(
                    "the checklist has no boxes", where=gate.path, fix="Write lines like `- [ ] what is to be done`."
                )
            found.append((gate.path, *boxes(text)))
    return tuple(found)


def began(
    order: Order, ground: Ground, *, roster: Roster, prompt: Frozen, opening: Opening, log: Log, kept: str
) -> None:
    """Write the first record."""
    crew = roster.current
    head = opening.tree.head
    kind, fields = entries.run_started(
        opening,
        settings=order.loaded.settings,
        origins={key: f"{o.kind} {o.where}".strip() for key, o in order.loaded.origins.items()},
        prompt_hash=prompt.sha256,
        agent={"name": crew.adapter.name, "argv": list(crew.program), "given": crew.given, "names": roster.names},
        repo={"top": str(order.top), "git_dir": str(order.place.git_dir or ""), "head": head, "kept": kept},
        holder=holder_fields(ground),
    )
    log.append(kind, fields)


def holder_fields(ground: Ground) -> dict[str, object]:
    """Return who runs this, as the record carries it."""
    holder = ground.holder
    return {"pid": holder.pid, "ticks": holder.ticks, "boot": holder.boot}


def world_of(
    order: Order,
    ground: Ground,
    *,
    workshop: Workshop,
    roster: Roster,
    log: Log,
    recorder: Recorder,
    ends_at: float | None,
    up_before_s: float = 0.0,
) -> World:
    """Return the world of the loop."""
    clock, settings, paper = SystemClock(), order.loaded.settings, ground.paper
    prompt = prompt_file(order)
    return World(
        settings=settings,
        clock=clock,
        processes=workshop.launcher,
        repo=ground.tree,
        journal=log,
        console=order.console,
        roster=roster,
        runner=workshop.runner,
        control=workshop.control,
        channel=workshop.channel,
        paper=paper,
        environment=workshop.environment,
        prompt_path=prompt.path if prompt else None,
        started_s=clock.real(),
        up_before_s=up_before_s,
        deadline_s=ends_at,
        scratch=workshop.scratch,
        hashes=lambda: {file.path: file.sha256 for file in obeyed_by(order)},
        damage=ground.damage,
        keep_owned=lambda paths: keep_owned(paper, paths),
        keep_prompt=lambda fresh: prompt_taken(order, ground, fresh),
        nonce=lambda: secrets.token_hex(5),
        jitter=random.random,
        complete=lambda bare: completed(bare, order, last=recorder.story.next_iteration - 1),
        exit_code=lambda conclusion: exit_code(conclusion, settings),
        publish=lambda end: recorder.publish(end, exit_code(end, settings) if end else None),
    )


def prompt_taken(order: Order, ground: Ground, fresh: Frozen) -> None:
    """Keep a prompt taken anew: its bytes for a resume, its hash as one that was obeyed."""
    keep_prompt(ground.paper, fresh)
    file = prompt_file(order)
    if file is not None:
        earlier.keep_also(ground.places, ConfigFile(file.path, fresh.sha256))


def obeyed_by(order: Order) -> tuple[ConfigFile, ...]:
    """Return the files that this run obeys, as they are now."""
    return earlier.obeyed_now(order.top, order.environ, prompt=prompt_file(order))


def completed(bare: Conclusion, order: Order, *, last: int) -> Conclusion:
    """Return a conclusion with the next commands."""
    commands = next_commands(
        bare.stop.reason,
        run=bare.run,
        top=str(order.home or order.top),
        best=bare.best,
        last=last,
        state_dir=order.loaded.settings.run.state_dir,
    )
    return replace(bare, next_commands=commands)


def exit_code(conclusion: Conclusion, settings: Settings) -> int:
    """Return what ralph leaves with: 0 for an ending that `--accept` names."""
    reason = conclusion.stop.reason
    return 0 if reason.value in settings.run.accept else reason.exit_code
