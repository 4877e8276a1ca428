"""What each reason means and what to do about it: the pages of `ralph explain`, one for every reason."""

from __future__ import annotations

from ralph.facts.reason import EXIT_CODES, Reason

PAGES: dict[Reason, tuple[str, str]] = {
    Reason.DONE: (
        "Every gate holds, checked by ralph on this very tree (where it was only claimed, the verdict says so).",
        "Read the diff (`ralph diff start now --patch`), then commit or merge it.",
    ),
    Reason.BUG: (
        "ralph itself failed. Nothing is concluded about your work.",
        "Send the report file that the message names. `ralph resume` goes on where the journal ends.",
    ),
    Reason.USAGE: (
        "A flag, a file or a limit is wrong. Nothing was started and nothing was spent.",
        "Mend what the message names; `ralph config check` lists all mistakes at once.",
    ),
    Reason.NO_PROGRESS: (
        "Several iterations in a row ended in a state this run already knew: the agent works and nothing comes of it.",
        (
            "Look at what the agent said last (`ralph logs`). Often a permission is missing, the task is finished, "
            "or the prompt leaves open what to do next. Change the prompt, then `ralph resume --reload`."
        ),
    ),
    Reason.OSCILLATION: (
        "The work moves among states it has been in before: one step undoes another.",
        (
            "Compare the named states (`ralph diff A B`). A formatter, a hook or two rules of the prompt that "
            "contradict each other are the usual causes."
        ),
    ),
    Reason.TESTS_STUCK: (
        "Files change, but for several iterations no test was newly passing and no record of fewest failures fell.",
        "Look at the named tests. Give the prompt the fact the agent lacks, or a smaller step.",
    ),
    Reason.BLOCKED: (
        "The agent said honestly that it cannot go on, what it tried and what it needs.",
        "Give it what it needs, then `ralph resume`.",
    ),
    Reason.ITERATION_LIMIT: (
        "The last allowed iteration is over and the work is not done.",
        "`ralph resume -n +20` goes on with twenty more.",
    ),
    Reason.TIME_LIMIT: (
        "The run's time is over (real time, suspension included).",
        "`ralph resume --max-time +2h` goes on.",
    ),
    Reason.COST_LIMIT: (
        "The money limit is reached, would be passed by another iteration, or what was spent cannot be known.",
        "`ralph resume --max-cost +5` goes on. For an agent that reports no cost give `--cost-per-iteration`.",
    ),
    Reason.TOKEN_LIMIT: ("The token limit is reached.", "`ralph resume --max-tokens +1000000` goes on."),
    Reason.AGENT_MISSING: (
        "The agent's program was not found, or cannot be started.",
        "Install it, or name yours: `ralph run PROMPT.md -- my-agent --its-flags`.",
    ),
    Reason.AGENT_AUTH: (
        "The agent is not logged in or wrongly set up: key, model, trust, permission, flag. Trying again cannot help.",
        "The verdict quotes the agent. Run it once by hand in this folder, mend it, then `ralph resume`.",
    ),
    Reason.AGENT_QUOTA: (
        "The agent's usage limit lifts after the deadline, or waiting is off.",
        "`ralph resume` after the reset time in the verdict; `--on-quota wait` with a later `--until` waits by itself.",
    ),
    Reason.AGENT_FAILING: (
        "The agent failed several times in a row without bringing anything new.",
        "The verdict quotes its last words; `ralph logs` has the rest.",
    ),
    Reason.AGENT_HANG: (
        "The agent hung several times in a row without bringing anything new.",
        "`ralph logs` shows the last thing it did. A longer `--iteration-timeout` helps only if it was really working.",
    ),
    Reason.REFUSED: (
        "It is not safe to start here. Nothing was started.",
        "The message says what is unsafe and which flag says that you mean it.",
    ),
    Reason.LOCKED: (
        "Another run holds this work tree.",
        "`ralph status` shows it, `ralph stop` ends it; a linked worktree (`--worktree`) is a tree of its own.",
    ),
    Reason.REPO_DAMAGED: (
        "The work tree or its .git vanished or became another one while the run went on.",
        "`ralph restore start --git` brings back what was saved, byte for byte.",
    ),
    Reason.STORAGE: (
        "The record of the run cannot be written any more, or somebody else wrote into it.",
        "Free some space, or name another place with --state-dir. What was recorded before is complete.",
    ),
    Reason.HANGUP: ("The terminal went away.", "`ralph resume` goes on; start it under nohup or tmux to survive that."),
    Reason.INTERRUPTED: ("You stopped it. The record is complete.", "`ralph resume` goes on."),
    Reason.TERMINATED: (
        "Somebody (a job runner, the system) ended it. The record is complete.",
        "`ralph resume` goes on.",
    ),
}


def reason_of(word: str) -> Reason | None:
    """Return the reason of an exit code or a reason word, None for neither."""
    for reason, code in EXIT_CODES.items():
        if word in (reason.value, str(code)):
            return reason
    return None


def page(reason: Reason) -> str:
    """Return the page of one reason for a terminal."""
    meaning, advice = PAGES[reason]
    return f"{reason.exit_code} {reason.value}\n\n{meaning}\n\nWhat to do: {advice}\n"


def codes_table() -> str:
    """Return the Markdown table of all exit codes, for the README."""
    rows = [f"| {code} | `{reason.value}` | {PAGES[reason][0]} |" for reason, code in EXIT_CODES.items()]
    return "\n".join(["| code | reason | meaning |", "| --- | --- | --- |", *rows])
