"""The one declaration of every configuration key; flags, environment names, file keys and tables are derived from it.

Defaults are those of `ralph.facts.settings`, so no value is written twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ralph.config import kinds
from ralph.config.kinds import Choice, Kind, Many, Named, limit
from ralph.facts.settings import Settings

CHECK = "check"
"""The table whose keys the user names: `check.NAME`."""


@dataclass(frozen=True, slots=True)
class Key:
    """One configuration key.

    section: table of the file, "" for `done`. name: key in it. flags: as typed on the line, the long one last.
    common: shown by `run -h`. metavar: what the help calls the value, "" for that of its kind. alias: one more
    environment name. anchor: what a relative path becomes: one from the top of the work tree, or absolute; None for
    what is no path. bare: the flag takes no value and means on.
    """

    section: str
    name: str
    kind: Kind
    help: str
    flags: tuple[str, ...] = ()
    common: bool = False
    metavar: str = ""
    alias: str = ""
    anchor: Literal["top", "absolute"] | None = None
    bare: bool = False

    @property
    def path(self) -> str:
        """Return the key as it is written everywhere: `limits.iterations`."""
        return f"{self.section}.{self.name}" if self.section else self.name

    @property
    def env(self) -> str:
        """Return the environment variable that sets it."""
        return env_name(self.path)

    @property
    def flag(self) -> str:
        """Return the long flag, "" where there is none."""
        return self.flags[-1] if self.flags else ""

    @property
    def is_limit(self) -> bool:
        """Return whether an empty value might be taken for a lifted cap."""
        return self.section in ("limits", "stop")

    @property
    def default(self) -> Any:
        """Return the value that holds when nobody says anything (not for a family of keys)."""
        return value_of(Settings(), self)


def env_name(path: str) -> str:
    """Return `RALPH_` + the key in capitals, dots as `__`."""
    return "RALPH_" + path.upper().replace(".", "__")


def attribute(name: str) -> str:
    """Return the field of the settings class that holds a key: `pass` is a word of Python's own."""
    return f"{name}_" if name == "pass" else name


def value_of(settings: Settings, key: Key) -> Any:
    """Return what these settings hold for a key of the table (not for a family of keys)."""
    table = getattr(settings, key.section) if key.section else settings
    return getattr(table, attribute(key.name))


DETECT = "detect"
LEVELS = tuple(
    Key(f"{DETECT}.NAME", name, limit(kinds.COUNT, "own"), words)
    for name, words in (
        ("nudge", "from which count on detector NAME has the agent told; own: as the table of detectors says"),
        ("deny", "from which count on the looping call is refused"),
        ("end", "from which count on the agent's turn is ended"),
    )
)
"""The keys of each detector: `detect.identical.end`."""

CHECKS = Key(
    CHECK,
    "NAME",
    kinds.COMMAND,
    "one more command whose result counts like a test's: a linter, a type check",
    ("--check",),
    common=True,
    metavar="NAME=CMD",
)

KEYS = (
    Key(
        "agent",
        "name",
        Many(kinds.AGENT, commas=True, least=1),
        "agents to use, in order of preference",
        ("-a", "--agent"),
        common=True,
    ),
    Key("agent", "command", kinds.COMMAND, "any program that takes the prompt on stdin", metavar="-- COMMAND"),
    Key("agent", "model", kinds.TEXT, "the model the agent is to use", ("-m", "--model"), common=True, metavar="MODEL"),
    Key("agent", "args", Many(kinds.TEXT), "one more argument for the agent", ("--agent-arg",), metavar="ARG"),
    Key("agent", "permissions", Choice(("ask-nothing", "edits", "own")), "what the agent may do without asking"),
    Key(
        "limits",
        "iterations",
        limit(kinds.COUNT),
        "end after so many iterations",
        ("-n", "--max-iterations"),
        common=True,
    ),
    Key("limits", "time", limit(kinds.DURATION), "end after so much time", ("--max-time",), common=True),
    Key("limits", "until", limit(kinds.TIME), "end at this local time of day", ("--until",)),
    Key("limits", "cost", limit(kinds.MONEY), "end before more is spent", ("--max-cost",), common=True),
    Key(
        "limits",
        "tokens",
        limit(kinds.COUNT),
        "end after so many tokens, input and output over the run",
        ("--max-tokens",),
    ),
    Key(
        "limits",
        "iteration_time",
        limit(kinds.DURATION),
        "end one iteration after so much time",
        ("--iteration-timeout",),
    ),
    Key("limits", "turns", limit(kinds.COUNT), "end one iteration after so many model turns", ("--max-turns",)),
    Key("limits", "idle", limit(kinds.DURATION), "end an iteration in which nothing at all has happened for so long"),
    Key("limits", "grace", kinds.DURATION, "time between TERM and KILL"),
    Key("limits", "backoff", Many(kinds.DURATION, least=1), "waits after an outage, growing"),
    Key(
        "limits",
        "quick_failure_pauses",
        Many(kinds.DURATION, least=1),
        "waits after iterations that failed at once, growing",
    ),
    Key(
        "limits",
        "cost_per_iteration",
        limit(kinds.MONEY),
        "what to count for an iteration whose cost nobody reports",
        ("--cost-per-iteration",),
    ),
    Key(
        "test",
        "command",
        kinds.COMMAND,
        "the tests: they must be green for the run to be done",
        ("--test",),
        common=True,
    ),
    Key(
        "test",
        "report",
        Choice(("auto", "junit", "pytest", "unittest", "gotest", "tap", "exit")),
        "the format of the test report; auto: guessed",
    ),
    Key("test", "timeout", kinds.DURATION, "the longest the tests may take"),
    Key("test", "when", Choice(("changed", "always")), "run the tests when the tree changed, or after every iteration"),
    Key("test", "baseline", Choice(("run", "skip")), "whether the tests run once before the first iteration"),
    Key(
        "test",
        "allow_changes",
        Many(kinds.PATTERN),
        "test files the agent may weaken or remove",
        ("--allow-test-changes",),
    ),
    Key("", "done", Many(kinds.GATE), "what must hold for the run to be done", ("--done",), common=True),
    Key(
        "stop",
        "no_progress",
        limit(kinds.COUNT),
        "end after so many iterations without progress",
        ("--no-progress-after",),
    ),
    Key(
        "stop",
        "oscillation",
        limit(kinds.counted(2)),
        "end after so many iterations among known states",
        ("--oscillation-after",),
    ),
    Key(
        "stop",
        "tests_stuck",
        limit(kinds.COUNT, "auto"),
        "end after so many iterations without one more test passing; auto: 5 where green tests are the goal, else off",
        ("--tests-stuck-after",),
    ),
    Key("tree", "ignore", Many(kinds.PATTERN), "files whose change is no progress", ("--ignore",)),
    Key(
        "tree",
        "protect",
        Many(kinds.PATTERN),
        "files the agent must leave alone for the run to be done",
        ("--protect",),
    ),
    Key("prompt", "file", kinds.PATH, "the prompt when none is named on the line", anchor="top"),
    Key("prompt", "notes", kinds.SWITCH, "whether ralph may add a note after the prompt", ("--notes",)),
    Key("prompt", "reload", Choice(("ask", "always")), "take an edited prompt on `ralph reload`, or at once"),
    Key("quota", "action", Choice(("wait", "stop")), "what to do when the agent's quota is used up", ("--on-quota",)),
    Key("hooks", "before_iteration", kinds.COMMAND, "a command to run before each iteration"),
    Key("hooks", "after_iteration", kinds.COMMAND, "a command to run after each iteration"),
    Key("setup", "command", kinds.COMMAND, "a program that runs beside the loop: a database"),
    Key("process", "keep", Many(kinds.NAME), "programs that may outlive an iteration, not the run"),
    Key("env", "pass", Many(kinds.NAME), "environment variables to pass on although the table drops them"),
    Key("env", "drop", Many(kinds.NAME), "environment variables to drop"),
    Key("snapshot", "also", Many(kinds.PATTERN), "ignored files to save at the start"),
    Key("snapshot", "max_bytes", kinds.SIZE, "the largest file to save"),
    Key(
        "run",
        "worktree",
        kinds.SWITCH,
        "run in a fresh linked worktree on branch ralph/RUN",
        ("--worktree",),
        bare=True,
    ),
    Key("run", "accept", Many(kinds.REASON, commas=True), "an ending that exits 0", ("--accept",)),
    Key(
        "run",
        "accept_findings",
        kinds.SWITCH,
        "findings do not keep the run from being done",
        ("--accept-findings",),
        bare=True,
    ),
    Key("run", "strict", kinds.SWITCH, "refuse what is otherwise only warned of", ("--strict",), bare=True),
    Key(
        "run",
        "no_git",
        kinds.SWITCH,
        "run in a folder that is no git repository, however large",
        ("--no-git",),
        bare=True,
    ),
    Key(
        "run",
        "state_dir",
        kinds.PATH,
        "where the record of runs is kept",
        ("--state-dir",),
        metavar="DIR",
        alias="RALPH_STATE_DIR",
        anchor="absolute",
    ),
    Key(DETECT, "polling", Many(kinds.TEXT), "more tools or commands that wait for something: their calls are no loop"),
    Key(
        DETECT,
        "identity",
        Named(Many(kinds.NAME, least=1)),
        "the arguments that make two calls of a tool equal, by tool; all of them where a tool is not named",
    ),
    Key(DETECT, "off", Many(kinds.DETECTOR, commas=True), "detectors of loops inside an iteration that do not look"),
    Key("run", "summary", kinds.PATH, "write the summary to this file too", ("--summary",), anchor="absolute"),
)
BY_PATH = {key.path: key for key in KEYS}
SECTIONS = tuple(dict.fromkeys(key.section for key in KEYS if key.section))


FAMILIES = (CHECKS, *LEVELS)
"""Keys whose path holds a name: of the user's own, or of a detector."""


def find(path: str) -> Key | None:
    """Return the declaration of a key, of its family for `check.NAME` and the like, None for a key there is not."""
    table, _, last = path.rpartition(".")
    if path in BY_PATH or path.startswith(f"{CHECK}."):
        return BY_PATH.get(path, CHECKS)
    if path.startswith(f"{DETECT}.identity."):
        return BY_PATH[f"{DETECT}.identity"]
    return next((key for key in LEVELS if table.startswith(f"{DETECT}.") and key.name == last), None)
