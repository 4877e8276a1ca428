"""Pack recorded runs of real agents into the one archive the tests read, and list what today's adapters make of them.

    python -m tests.agents.pack DIR > tests/agents/captures.jsonl

DIR holds a folder `agent-version` each, with NAME.jsonl (or .txt), NAME.stderr and NAME.exit for a run. What is
printed is a proposal: each row is to be compared with the recording by a person before it becomes the expectation.
"""

from __future__ import annotations

import io
import json
import sys
import tarfile
from pathlib import Path

from tests.agents.captures import ARCHIVE, FOLDERS, captures, told

KEPT = {".jsonl", ".txt", ".stderr", ".exit", ".json"}


def pack(source: Path) -> None:
    """Write the archive: sorted, without owners and times, so that equal recordings give equal bytes."""
    with tarfile.open(ARCHIVE, "w:xz", preset=9) as archive:
        for path in sorted(source.glob("*/*")):
            known = any(path.parent.name.startswith(prefix) for prefix in FOLDERS)
            if not known or path.suffix not in KEPT or path.name.endswith(".meta.json"):
                continue
            data = path.read_bytes()
            entry = tarfile.TarInfo(f"{path.parent.name}/{path.name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))


def main() -> None:
    pack(Path(sys.argv[1]))
    for capture in captures():
        print(json.dumps({"capture": capture.name, **told(capture)}, ensure_ascii=False))


if __name__ == "__main__":
    main()
