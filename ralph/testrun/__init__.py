"""Runs test, check and gate commands under the guardian and turns what they leave into a `Suite`.

The command is as untrusted as the agent (D11): what it prints and writes is capped, read tolerantly, never believed
beyond what the exit code allows.
"""

from __future__ import annotations

from ralph.testrun.runner import Interrupted, TestRunner

__all__ = ["Interrupted", "TestRunner"]
