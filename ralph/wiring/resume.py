"""Goes on with a run that ended: prompt, configuration, totals, seen states and baseline carry over."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from ralph.errors import UserError
from ralph.facts.iteration import Iteration, Spent
from ralph.facts.reason import Reason
from ralph.facts.run import Moment, Opening
from ralph.facts.settings import Settings
from ralph.facts.suite import Suite
from ralph.facts.tree import Tree
from ralph.journal import entries, suites
from ralph.journal.codec import from_json
from ralph.journal.places import Places, RunDir
from ralph.journal.read import check_schema, read
from ralph.journal.story import Story, fold
from ralph.journal.sums import Held
from ralph.judge.history import History
from ralph.judge.stops import decide
from ralph.loop import prompting
from ralph.loop.run import Run
from ralph.loop.testing import TestStep
from ralph.loop.world import Roster
from ralph.process.clock import SystemClock
from ralph.process.signals import Signals
from ralph.prompt import Frozen
from ralph.report.next_steps import RAISES
from ralph.wiring import earlier
from ralph.wiring.build import holder_fields, obeyed_by, workshop_of, world_of
from ralph.wiring.crew import check_cost, check_prompt, find_roster
from ralph.wiring.ground import Ground, save_start, take_ground
from ralph.wiring.opening_lines import agent_line, limit_lines, stand_in_lines
from ralph.wiring.order import Order
from ralph.wiring.owned import kept_owned
from ralph.wiring.prompts import kept_prompt, read_prompt
from ralph.wiring.record import Recorder
from ralph.wiring.times import deadline
from ralph.wiring.workshop import no_planted_modules, start_beside


def story_told(paper: RunDir) -> Story:
    """Return the whole story of a run. Raises: UserError (storage, usage) for a journal that cannot be gone on with."""
    reading = read(paper.journal)
    check_schema(reading.records, where=paper.journal)
    story = fold(reading.records)
    if story.opening is None:
        raise UserError("this run never began", where=paper.id, fix="Start a new one with `ralph run`.")
    return story


def settings_told(story: Story) -> Settings:
    """Return the configuration a run obeyed, with the agent that it found then. Raises: UserError (storage)."""
    try:
        settings = from_json(Settings, story.settings)
    except ValueError as e:
        raise UserError(f"the recorded configuration makes no sense: {e}", reason=Reason.STORAGE) from e
    if settings.agent.name or settings.agent.command:
        return settings
    return replace(settings, agent=replace(settings.agent, name=(str(story.agent.get("name")),)))


def brought(source: Path, places: Places) -> RunDir:
    """Take over the folder of a run that another machine recorded. Raises: UserError if it is none."""
    if not (source / "journal.jsonl").is_file():
        raise UserError("there is no journal in this folder", where=f"--from {source}", fix="Name the folder of a run.")
    story_told(RunDir(source))
    places.prepare()
    target = RunDir(places.path / "runs" / story_told(RunDir(source)).run)
    if target.path.exists():
        raise UserError("this run is recorded here already", where=target.id, fix=f"ralph resume --run {target.id}")
    shutil.copytree(source, target.path, symlinks=True)
    return target


def resumed_run(
    order: Order, story: Story, *, places: Places, paper: RunDir, signals: Signals, stack: ExitStack
) -> Run:
    """Return a run ready for its next iteration. Raises: UserError; then nothing was started."""
    settings = order.loaded.settings
    no_planted_modules(order.top)
    roster = find_roster(settings, environ=order.environ, top=order.top)
    prompt = kept_prompt(paper, story.prompt_hash)
    fresh = read_prompt(order) if order.reload else prompt
    check_prompt(roster, fresh)
    check_cost(settings, roster)
    earlier.check_obeyed(places, obeyed_by(order), accepted=order.accept_config)
    ground = take_ground(
        order.place, order.git, places=places, paper=paper, settings=settings, environ=order.environ, stack=stack
    )
    history = retold(story, settings, paper, agents=roster.names)
    refuse_reached(history, settings, story)
    run = reopened(
        order, ground, story=story, history=history, roster=roster, prompt=prompt, signals=signals, stack=stack
    )
    if fresh.sha256 != prompt.sha256:
        prompting.take(run, fresh)
    return run


def reopened(
    order: Order,
    ground: Ground,
    *,
    story: Story,
    history: History,
    roster: Roster,
    prompt: Frozen,
    signals: Signals,
    stack: ExitStack,
) -> Run:
    """Go on with the journal and return the run as it stood."""
    settings, paper = order.loaded.settings, ground.paper
    workshop = workshop_of(order, ground, signals=signals, stack=stack)
    recorder = Recorder(paper, order.console, public=Path(settings.run.summary) if settings.run.summary else None)
    log = stack.enter_context(recorder.go_on(SystemClock()))
    log.append(*resumed_entry(order, ground, story))
    order.console.say(f"resuming run {paper.id} after iteration {story.next_iteration - 1}")
    for line in (agent_line(settings, roster.current), *stand_in_lines(settings, roster), *limit_lines(settings)):
        order.console.say(line)
    start_beside(workshop, settings, top=order.top, folder=paper.made(paper.iteration(0)))
    ends_at = deadline(settings.limits, SystemClock(), up_before_s=story.up_s)
    world = world_of(
        order,
        ground,
        workshop=workshop,
        roster=roster,
        log=log,
        recorder=recorder,
        ends_at=ends_at,
        up_before_s=story.up_s,
    )
    start, tree = trees_found(ground, settings, story)
    return Run(
        world,
        history,
        history.opening,
        prompt,
        start,
        tree,
        TestStep(settings, workshop.runner, deadline_s=ends_at),
        world.hashes(),
        f"BLOCKED-{world.nonce()}",
        number=story.next_iteration - 1,
        test_owned=kept_owned(paper),
        agent_paths=frozenset(path for i in story.iterations for path in i.changes.paths),
    )


def resumed_entry(order: Order, ground: Ground, story: Story) -> entries.Entry:
    """Return the first record of this session."""
    return entries.run_resumed(
        settings=order.loaded.settings,
        origins={key: str(value) for key, value in story.origins.items()},
        raised=dict(order.raised),
        prompt_hash=story.prompt_hash,
        holder=holder_fields(ground),
    )


def retold(story: Story, settings: Settings, paper: RunDir, *, agents: Sequence[str]) -> History:
    """Return the history as it stood at the end of the last session, stretches and breakers begun anew."""
    assert story.opening is not None
    history = History(with_whole_suites(story.opening, paper), settings, agents=agents)
    for iteration in whole_iterations(story, paper):
        history.add(iteration)
    for held in (*story.abandoned, *((story.held,) if story.held else ())):
        history.cut_off(cut_off(held))
    history.resumed()
    return history


def cut_off(held: Held) -> Spent:
    """Return what an iteration that nobody settled is charged with."""
    known = held.spent or Spent()
    return replace(known, charge=held.charge)


def with_whole_suites(opening: Opening, paper: RunDir) -> Opening:
    """Return the opening with all test ids of its baseline."""
    return replace(opening, baseline=tuple(suites.whole(paper.suites, s) for s in opening.baseline))


def whole_iterations(story: Story, paper: RunDir) -> Iterator[Iteration]:
    """Yield the iterations with all test ids, each result read once."""
    known: dict[str, Suite] = {}
    for iteration in story.iterations:
        for suite in iteration.suites:
            if suite.digest not in known:
                known[suite.digest] = suites.whole(paper.suites, suite)
        yield replace(iteration, suites=tuple(known[s.digest] for s in iteration.suites))


def refuse_reached(history: History, settings: Settings, story: Story) -> None:
    """Refuse to go on at a limit that was reached and not raised. Raises: UserError (usage)."""
    stop = decide(history, settings, Moment(story.up_s))
    if stop is None:
        return
    raised = RAISES.get(stop.reason)
    fix = f"Raise it: ralph resume {raised} …" if raised else "Start a new run."
    raise UserError(f"{stop.reason.value}: {stop.detail}", where="resume", fix=fix)


def trees_found(ground: Ground, settings: Settings, story: Story) -> tuple[Tree, Tree]:
    """Return the tree at the start of the run and the one it ended with; a run brought here starts from the present."""
    start = ground.store.labels(ground.paper.id).get("start")
    if start is None:
        now = save_start(ground, settings).tree
        return now, now
    last = story.iterations[-1].trees.tests if story.iterations else None
    opening = story.opening.tree if story.opening else None
    return Tree(start, start), last or opening or Tree(start, start)
