"""DumpLogSegments on the golden files: for each file, its bytes and the lines that Kafka printed after `Dumping`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple


class DumpCase(NamedTuple):
    file: str
    data: bytes
    printed: list[str]

    @property
    def base_offset(self) -> int:
        return int(Path(self.file).name[:20])


def dump_cases(root: Path, suffix: str) -> list[DumpCase]:
    """The cases of one kind of file, dumped whole and without flags."""
    cases = []
    for case in json.loads((root / "index.json").read_text()):
        if case["tool"] == "DumpLogSegments" and case["exit"] == 0 and len(case["args"]) == 2:
            file = case["args"][1]
            if file.endswith(suffix):
                _, *printed = (root / "dumps" / case["name"]).read_text().splitlines()
                cases.append(DumpCase(file, (root / file).read_bytes(), printed))
    return cases
