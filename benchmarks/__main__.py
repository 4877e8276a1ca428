"""Every performance figure of the design, measured side by side in one run: python -m benchmarks.

Prints each figure as it comes, its yardstick beside it, and whether its target is met. Takes some minutes; --quick is
smaller and coarser, for CI. Exit code: 0; 1 where something could not be measured, or with --strict missed its target.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict

from benchmarks import fingerprint, iteration, memory, processes, scale, soak, startup, stops, stream
from benchmarks.measure import Figure

QUICK_LAST = "guarded / plain start"
FILES = {False: (166, 11_000, 57_000), True: (166,)}
EDITS = {False: (0, 1, 100, 10_000), True: (0, 1, 100)}


def guarded(*, quick: bool) -> Iterator[Figure]:
    """Yield the figures of a single guarded program; --quick only those that `memory` and `stops` do not have too."""
    for row in processes.figures():
        yield Figure(row.what, row.value, row.unit, row.target, row.against)
        if quick and row.what == QUICK_LAST:
            return


def looked(*, quick: bool) -> Iterator[Figure]:
    """Yield the fingerprint's ratios for each size of repository and number of edits."""
    for files in FILES[quick]:
        for row in fingerprint.measured(files, list(EDITS[quick]), 5 if quick else 7):
            what = f"fingerprint, {row.files:,} files, {row.edits:,} edits"
            told = f"{row.look_ms:.1f} ms against {row.status_ms:.1f} ms"
            yield Figure(what, row.ratio, "x", row.target, "git status --porcelain=v2 -z", detail=told)


SECTIONS: dict[str, Callable[..., Iterator[Figure]]] = {
    "startup": startup.figures,
    "iteration": iteration.figures,
    "fingerprint": looked,
    "stream": stream.figures,
    "memory": memory.figures,
    "scale": scale.figures,
    "stops": stops.figures,
    "processes": guarded,
    "soak": soak.figures,
}
"""What is measured, in the order of the design's table."""


def main() -> int:
    """Measure what was asked for, one section after the other, so that none disturbs another."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of lines")
    parser.add_argument("--quick", action="store_true", help="smaller and coarser, under 90 s")
    parser.add_argument("--only", default="", help=f"sections, with commas: {','.join(SECTIONS)}")
    parser.add_argument(
        "--soak", type=int, default=soak.DEFAULT, metavar="N", help="iterations of the soak (10000: overnight)"
    )
    parser.add_argument("--strict", action="store_true", help="exit 1 when a target is missed")
    asked = parser.parse_args()
    names = [name for name in asked.only.split(",") if name] or list(SECTIONS)
    unknown = set(names) - SECTIONS.keys()
    if unknown:
        parser.error(f"unknown section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    rows = []
    for figure in measured(names, quick=asked.quick, iterations=asked.soak):
        rows.append(figure)
        if not asked.json:
            print(shown(figure), flush=True)
    if asked.json:
        print(json.dumps({"schema": 1, "load": os.getloadavg()[0], "figures": [plain(row) for row in rows]}, indent=1))
    else:
        print(summed(rows))
    missing = any(row.value is None for row in rows)
    return 1 if missing or (asked.strict and any(row.met is False for row in rows)) else 0


def measured(names: list[str], *, quick: bool, iterations: int) -> Iterator[Figure]:
    """Yield every figure; a section that fails is one figure without a value, and the next one follows."""
    for name in names:
        began = time.monotonic()
        more = {"iterations": iterations} if name == "soak" else {}
        try:
            yield from SECTIONS[name](quick=quick, **more)
        except Exception as error:  # the other sections are still worth having
            traceback.print_exc()
            yield Figure(name, None, "", None, "", detail=f"{type(error).__name__}: {error}")
        print(f"# {name}: {time.monotonic() - began:.0f} s, load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)


def shown(figure: Figure) -> str:
    """Return a figure as a line: what, value, target, verdict, yardstick."""
    value = "not measured" if figure.value is None else f"{figure.value:9.3f} {figure.unit}"
    sign = ">=" if figure.floor else "<="
    goal = "" if figure.target is None else f"{sign} {figure.target:g} {figure.unit}".strip()
    verdict = {True: "met", False: "NOT MET", None: ""}[figure.met]
    told = f" ({figure.detail})" if figure.detail else ""
    return f"{figure.what:55} {value:17} {goal:13} {verdict:8} {figure.yardstick}{told}"


def plain(figure: Figure) -> dict[str, object]:
    """Return a figure as JSON has it."""
    return {**asdict(figure), "met": figure.met}


def summed(rows: list[Figure]) -> str:
    """Return the count of targets met."""
    judged = [row for row in rows if row.met is not None]
    missed = [row.what for row in judged if not row.met]
    return f"{len(judged) - len(missed)} of {len(judged)} targets met" + (
        f"; not met: {'; '.join(missed)}" if missed else ""
    )


if __name__ == "__main__":
    raise SystemExit(main())
