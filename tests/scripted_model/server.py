"""Start the scripted model for one test: a child on a loopback port of its own, gone with the test."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

PROGRAM = Path(__file__).with_name("scripted_model.py")


@contextmanager
def scripted_model(scenario: Mapping[str, object], *, repo: Path, work: Path, bodies: bool = False) -> Iterator[int]:
    """Serve the scenario and give the port.

    repo: the agent's working directory. work: an existing folder outside it, for the scenario and the
    log of requests (`requests.jsonl`). bodies: log whole requests.
    """
    script = work / "scenario.json"
    script.write_text(json.dumps(scenario), encoding="utf-8")
    argv = [sys.executable, str(PROGRAM), str(script), "--repo", str(repo), "--log", str(work / "requests.jsonl")]
    argv += ["--log-bodies"] * bodies
    server = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        # It prints its address once it accepts connections, or ends.
        address = server.stdout.readline().strip()
        assert address, "the scripted model did not start"
        yield int(address.rsplit(":", 1)[1])
    finally:
        server.terminate()
        server.communicate(timeout=20)
