"""The effective configuration of a run, checked and complete: what `config/` makes and everyone else reads.

None is "no limit", typed out by the user as "unlimited" or "off"; it never comes from a bad or empty value.
Durations are seconds, money is micro-dollars. One class a table of `ralph.toml`; names equal the keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Command = tuple[str, ...]
"""argv; a command the user gave as one string is ("/bin/sh", "-c", text)."""


@dataclass(frozen=True, slots=True)
class Agent:
    """`agent.*`. name: () = first found on PATH, else in order of preference. command: argv given after `--`."""

    name: tuple[str, ...] = ()
    command: Command = ()
    model: str | None = None
    args: tuple[str, ...] = ()
    permissions: Literal["ask-nothing", "edits", "own"] = "ask-nothing"


@dataclass(frozen=True, slots=True)
class Limits:
    """`limits.*`. until: "HH:MM" local, the next such time after the start."""

    iterations: int | None = 50
    time: float | None = 8 * 3600.0
    until: str | None = None
    cost: int | None = None
    tokens: int | None = None
    iteration_time: float | None = 45 * 60.0
    turns: int | None = 1000
    idle: float | None = 30 * 60.0
    grace: float = 10.0
    backoff: tuple[float, ...] = (60.0, 300.0, 1800.0, 7200.0)
    quick_failure_pauses: tuple[float, ...] = (1.0, 10.0, 60.0)
    cost_per_iteration: int | None = None


@dataclass(frozen=True, slots=True)
class StopRules:
    """`stop.*`: how many in a row; None = off. tests_stuck "auto": 5 where getting green is the goal, else off."""

    no_progress: int | None = 3
    oscillation: int | None = 3
    tests_stuck: int | Literal["auto"] | None = "auto"


@dataclass(frozen=True, slots=True)
class Test:
    """`test.*`. command: () = none."""

    command: Command = ()
    report: Literal["auto", "junit", "pytest", "unittest", "gotest", "tap", "exit"] = "auto"
    timeout: float = 15 * 60.0
    when: Literal["changed", "always"] = "changed"
    baseline: Literal["run", "skip"] = "run"
    allow_changes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """`check.NAME`: one more command whose result counts like a test's."""

    name: str
    command: Command


@dataclass(frozen=True, slots=True)
class PromiseGate:
    """`--done promise[=TOKEN]`; token None: a nonce for each iteration."""

    token: str | None = None


@dataclass(frozen=True, slots=True)
class ChecklistGate:
    """`--done checklist=FILE`: path relative to the top of the work tree."""

    path: str


@dataclass(frozen=True, slots=True)
class CommandGate:
    """`--done command=CMD`: holds when it exits 0. text: as typed, the gate's name."""

    text: str
    command: Command


Gate = PromiseGate | ChecklistGate | CommandGate


@dataclass(frozen=True, slots=True)
class TreeRules:
    """`tree.*`: gitignore-style patterns."""

    ignore: tuple[str, ...] = ()
    protect: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """`prompt.*`."""

    file: str = "PROMPT.md"
    notes: bool = True
    reload: Literal["ask", "always"] = "ask"


@dataclass(frozen=True, slots=True)
class Quota:
    """`quota.*`."""

    action: Literal["wait", "stop"] = "wait"


@dataclass(frozen=True, slots=True)
class Hooks:
    """`hooks.*`: commands run by ralph before and after each iteration; () = none."""

    before_iteration: Command = ()
    after_iteration: Command = ()


@dataclass(frozen=True, slots=True)
class Setup:
    """`setup.command`: runs beside the loop, ended with it; () = none."""

    command: Command = ()


@dataclass(frozen=True, slots=True)
class ProcessRules:
    """`process.keep`: names whose survivors are reported and ended with the run, not with the iteration."""

    keep: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Env:
    """`env.*`: names (fnmatch) passed on although the table drops them, or dropped although it does not."""

    pass_: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`snapshot.*`. also: ignored files saved at start. max_bytes: for one untracked or changed file, and for packs."""

    also: tuple[str, ...] = (".env*",)
    max_bytes: int = 1 << 30


@dataclass(frozen=True, slots=True)
class RunRules:
    """`run.*`. accept: reasons that exit 0. state_dir: None = the platform's place."""

    worktree: bool = False
    accept: tuple[str, ...] = ()
    accept_findings: bool = False
    strict: bool = False
    no_git: bool = False
    state_dir: str | None = None
    summary: str | None = None


@dataclass(frozen=True, slots=True)
class Levels:
    """`detect.NAME.nudge/deny/end`: from which count on to act; "own" = the detector's own, None = never."""

    nudge: int | Literal["own"] | None = "own"
    deny: int | Literal["own"] | None = "own"
    end: int | Literal["own"] | None = "own"


@dataclass(frozen=True, slots=True)
class Detect:
    """`detect.*`: loops inside an iteration.

    polling: more tools that poll, by name (fnmatch, case ignored), or commands by their first words ("make wait").
    identity: by tool name, the arguments that make two calls equal (all of them, where a tool is not named).
    levels: by detector. off: detectors that do not look; "all" is none at all.
    """

    polling: tuple[str, ...] = ()
    identity: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    levels: Mapping[str, Levels] = field(default_factory=dict)
    off: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a run obeys. checks: in the order given. done: gates besides the one `test.command` adds."""

    agent: Agent = field(default_factory=Agent)
    limits: Limits = field(default_factory=Limits)
    stop: StopRules = field(default_factory=StopRules)
    test: Test = field(default_factory=Test)
    checks: tuple[Check, ...] = ()
    done: tuple[Gate, ...] = ()
    tree: TreeRules = field(default_factory=TreeRules)
    prompt: Prompt = field(default_factory=Prompt)
    quota: Quota = field(default_factory=Quota)
    hooks: Hooks = field(default_factory=Hooks)
    setup: Setup = field(default_factory=Setup)
    process: ProcessRules = field(default_factory=ProcessRules)
    env: Env = field(default_factory=Env)
    snapshot: Snapshot = field(default_factory=Snapshot)
    run: RunRules = field(default_factory=RunRules)
    detect: Detect = field(default_factory=Detect)
