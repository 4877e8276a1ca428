"""The README's generated tables: `python -m tests.readme_tables` writes them, a test compares them."""

from __future__ import annotations

from pathlib import Path

from ralph.agents import ADAPTERS
from ralph.cli.agents import tells
from ralph.config.describe import options_table
from ralph.judge.signals.table import DETECTORS
from ralph.report.explain import codes_table

README = Path(__file__).resolve().parent.parent / "README.md"


def agents_table() -> str:
    """Return the Markdown table of the known agents."""
    rows = [f"| `{a.name}` | {tells(a.abilities)} | {a.abilities.note} |" for a in ADAPTERS.values()]
    return "\n".join(["| agent | what its stream tells | note |", "| --- | --- | --- |", *rows])


def detectors_table() -> str:
    """Return the Markdown table of detectors and the counts from which on they act."""
    rows = [
        f"| `{name}` | {one.nudge or '-'} | {one.deny or '-'} | {one.end or '-'} |" for name, one in DETECTORS.items()
    ]
    return "\n".join(["| detector | told | refused | ended |", "| --- | --- | --- | --- |", *rows])


TABLES = {
    "exit codes": codes_table,
    "options": options_table,
    "detectors": detectors_table,
    "agents": agents_table,
}


def filled(text: str) -> str:
    """Return the README with every table as the code has it now."""
    for name, table in TABLES.items():
        before, mark, rest = text.partition(f"<!-- table: {name} -->\n")
        _, end, after = rest.partition("<!-- end -->")
        text = f"{before}{mark}{table().strip()}\n{end}{after}"
    return text


if __name__ == "__main__":
    README.write_text(filled(README.read_text(encoding="utf-8")), encoding="utf-8")
