"""How each agent is started: what it may do, which model, what it may spend, and what keeps it off the tree."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from ralph.agents import ADAPTERS, adapter
from ralph.agents.adapter import PROMPT_FILE, PROMPT_TEXT, Ask, Permissions, files_of

ASK = Ask(("/opt/agent",), model="big", args=("--own",), budget_micro=1_250_000, max_turns=40, scratch="/scratch")
COPILOT = ("--no-ask-user", "--no-auto-update", "--no-color", "--model", "big")
AIDER = (
    "--no-check-update --no-analytics --no-show-release-notes --no-show-model-warnings --no-pretty "
    "--no-detect-urls --no-gitignore --no-auto-commits --no-dirty-commits --yes-always "
    "--chat-history-file /scratch/aider.chat.md --input-history-file /scratch/aider.input --model big"
)
MINI = ("--exit-immediately", "-y", "-m", "big", "-l", "1.250000", "-o", "/scratch/mini-trajectory.json")
STARTS: dict[str, tuple[str, ...]] = {
    "gemini": ("--output-format", "stream-json", "--yolo", "--skip-trust", "-m", "big"),
    "opencode": ("run", "--format", "json", "--auto", "-m", "big"),
    "copilot": ("--output-format", "json", "--yolo", *COPILOT, "--usage-output-file", "/scratch/copilot-usage.json"),
    "qwen": ("--output-format", "stream-json", "--yolo", "-m", "big", "--max-session-turns", "40"),
    "aider": ("--message-file", PROMPT_FILE, *AIDER.split()),
    "mini": ("-t", PROMPT_TEXT, *MINI),
    "amp": ("-x", "--stream-json", "--dangerously-allow-all", "-m", "big"),
    "cursor": ("-p", "--output-format", "stream-json", "--force", "--trust", "--model", "big"),
}
FREE = ("--yolo", "--auto", "-y", "--dangerously-allow-all", "--force")


@pytest.mark.parametrize("name", STARTS)
def test_an_agent_left_alone_gets_these_arguments(name: str) -> None:
    assert adapter(name).launch(ASK).argv == ("/opt/agent", *STARTS[name], "--own")


@pytest.mark.parametrize("name", STARTS)
@pytest.mark.parametrize("permissions", ["edits", "own"])
def test_a_softer_permission_never_allows_everything(name: str, permissions: Permissions) -> None:
    argv = adapter(name).launch(replace(ASK, permissions=permissions)).argv
    assert not set(argv) & set(FREE)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gemini", ("--approval-mode", "auto_edit", "--skip-trust")),
        ("copilot", ("--allow-tool", "write")),
        ("qwen", ("--approval-mode", "auto-edit")),
        ("aider", ("--yes-always",)),
        ("cursor", ("--trust",)),
    ],
)
def test_edits_alone_are_allowed_where_the_agent_knows_such_a_mode(name: str, words: tuple[str, ...]) -> None:
    argv = adapter(name).launch(replace(ASK, permissions="edits")).argv
    assert set(words) <= set(argv)
    assert not set(words) & set(adapter(name).launch(replace(ASK, permissions="own")).argv)


def test_opencode_takes_edits_alone_by_its_environment() -> None:
    def config(permissions: Permissions) -> str | None:
        return adapter("opencode").launch(replace(ASK, permissions=permissions)).env.get("OPENCODE_CONFIG_CONTENT")

    assert json.loads(config("edits") or "")["permission"] == {"edit": "allow", "bash": "deny", "webfetch": "deny"}
    assert config("own") is None
    assert config("ask-nothing") is None


ENVIRONMENTS: dict[str, Mapping[str, str]] = {
    "gemini": {"GEMINI_CLI_NO_RELAUNCH": "true"},
    "opencode": {"OPENCODE_DISABLE_AUTOUPDATE": "1"},
    "copilot": {"COPILOT_AUTO_UPDATE": "false"},
    "qwen": {"QWEN_CODE_SUPPRESS_YOLO_WARNING": "1"},
    "aider": {},
    "mini": {"MSWEA_CONFIGURED": "true", "MSWEA_SILENT_STARTUP": "1"},
    "amp": {},
    "cursor": {},
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_an_agent_s_environment_keeps_it_still(name: str) -> None:
    assert adapter(name).launch(ASK).env == {**ENVIRONMENTS[name], "NO_COLOR": "1"}


def test_files_are_asked_for_and_named_alike_and_only_with_a_folder_to_put_them() -> None:
    named = {name: files_of(known, "/scratch") for name, known in ADAPTERS.items()}
    assert {name: files for name, files in named.items() if files} == {
        "copilot": {"usage": "/scratch/copilot-usage.json"},
        "mini": {"trajectory": "/scratch/mini-trajectory.json"},
    }
    for name, known in ADAPTERS.items():
        bare = known.launch(replace(ASK, scratch=""))
        assert files_of(known, "") == {}
        assert not [word for word in bare.argv if "scratch" in word], name
        assert set(named[name].values()) <= set(known.launch(ASK).argv)


def test_a_budget_of_nothing_is_no_freedom_from_limits() -> None:
    """0 would switch the agent's own cap off."""
    argv = adapter("mini").launch(replace(ASK, budget_micro=0)).argv
    assert argv[argv.index("-l") + 1] == "0.000001"


def test_what_has_never_been_run_says_so() -> None:
    documented = {name for name, known in ADAPTERS.items() if known.abilities.documented}
    assert documented == {"amp", "cursor"}
    assert all("from its documentation, not run" in ADAPTERS[name].abilities.note for name in documented)


def test_the_lanes_are_those_that_were_proved() -> None:
    lanes = {name: known.abilities.steered for name, known in ADAPTERS.items() if known.abilities.steered}
    assert {name: lanes[name] for name in ("gemini", "opencode", "copilot", "qwen")} == {
        "gemini": "shell lane",
        "opencode": "shell lane",
        "copilot": "plug-in folder",
        "qwen": "hooks",
    }
    assert set(lanes.values()) <= {"control channel", "hooks", "plug-in folder", "server", "shell lane", "new prompt"}
