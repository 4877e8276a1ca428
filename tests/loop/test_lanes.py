"""Which lane is opened: the best that the adapter knows and that takes nobody's settings away; its files go with it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from ralph.agents import adapter
from ralph.agents.adapter import Ask
from ralph.facts.settings import Agent
from ralph.loop.lanes import Opened, closed, opened
from ralph.loop.world import World


def start(scratch: Path, agent: str, *args: str, given: bool = False, env: dict[str, str] | None = None) -> Opened:
    crew = SimpleNamespace(adapter=adapter(agent), program=("/opt/agent",), given=given)
    settings = SimpleNamespace(agent=Agent(args=args))
    world = SimpleNamespace(crew=crew, settings=settings, scratch=scratch, environment=env or {})
    return opened(cast(World, world), Ask(("/opt/agent",), args=args, scratch=str(scratch)))


@pytest.mark.parametrize("agent", ["claude", "codex", "qwen", "copilot", "gemini", "opencode", "aider", "mini"])
def test_an_agent_gets_the_lane_it_is_said_to_have(tmp_path: Path, agent: str) -> None:
    lane = start(tmp_path, agent)
    kinds = {
        "control channel": lane.talk,
        "shell lane": lane.script,
        "hooks": lane.hooked,
        "plug-in folder": lane.hooked,
    }
    steered = adapter(agent).abilities.steered
    assert lane.is_laned == bool(steered)
    assert kinds.get(steered, True) is not None


def test_a_machine_s_own_settings_file_is_left_in_force(tmp_path: Path) -> None:
    """Qwen Code reads its defaults from one file: ours would hide theirs, so the shell lane has to do."""
    name = "QWEN_CODE_SYSTEM_DEFAULTS_PATH"
    lane = start(tmp_path, "qwen", env={name: "/opt/site/defaults.json"})
    assert lane.hooked is None
    assert name not in lane.launch.env
    assert lane.script is not None


def test_arguments_that_close_claude_s_channel_leave_its_hooks_and_then_nothing(tmp_path: Path) -> None:
    by_hooks = start(tmp_path, "claude", "--input-format", "text")
    assert (by_hooks.talk, by_hooks.launch.feed) == (None, "stdin")
    assert by_hooks.hooked is not None
    assert not start(tmp_path, "claude", "--bare").is_laned


def test_a_command_as_it_was_typed_gets_no_arguments_of_ours(tmp_path: Path) -> None:
    for agent in ("claude", "codex", "plain"):
        lane = start(tmp_path, agent, given=True)
        assert (lane.launch.argv, dict(lane.launch.env), lane.is_laned) == (("/opt/agent",), {}, False)
    lane = start(tmp_path, "gemini", given=True)
    assert lane.launch.argv == ("/opt/agent",)
    assert list(lane.launch.env) == ["BASH_ENV"]


@pytest.mark.parametrize("agent", ["qwen", "copilot", "gemini"])
def test_the_files_of_a_lane_are_gone_when_it_is_closed(tmp_path: Path, agent: str) -> None:
    lane = start(tmp_path, agent)
    assert lane.files
    assert all(path.is_relative_to(tmp_path) and path.is_file() for path in lane.files)
    closed(lane)
    assert [path for path in lane.files if path.exists()] == []


def test_the_hook_program_is_copied_anew_for_each_iteration(tmp_path: Path) -> None:
    start(tmp_path, "codex")
    (tmp_path / "hook.py").write_text("raise SystemExit(2)")
    start(tmp_path, "codex")
    assert "def main" in (tmp_path / "hook.py").read_text(encoding="utf-8")
