"""Every DumpLogSegments case of the golden sets: what Kafka 4.3.1 printed for real files, byte for byte.

The golden outputs were captured in text mode, which turned each carriage return of Kafka's output into a newline. Kafka
itself prints the carriage return (the reference tests see it), and so does kafkapy; four cases have one in a payload.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.dumping import KERNELS, Dumped, run_dumps
from tests.golden_set import unpack

SETS = ("golden", "zk-era")


@cache
def cases(name: str) -> list[dict[str, Any]]:
    index = json.loads((unpack(name) / "index.json").read_text())
    return [case for case in index if case["tool"] == "DumpLogSegments"]


def read(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def difference(root: Path, case: dict[str, Any], ours: Dumped) -> str | None:
    """What is not as Kafka printed it, in words."""
    stdout = read(root / "dumps" / case["name"])
    stderr = read(root / "dumps" / (case["name"].removesuffix(".out") + ".err")).replace(b"GOLDEN", str(root).encode())
    if ours.stdout.replace(b"\r", b"\n") != stdout:
        theirs, mine = stdout.splitlines(), ours.stdout.splitlines()
        at = next(
            (n for n, (a, b) in enumerate(zip(theirs, mine, strict=False)) if a != b), min(len(theirs), len(mine))
        )
        return f"line {at + 1}:\n  kafka: {theirs[at : at + 1]}\n  ours:  {mine[at : at + 1]}"
    if b"Exception" in stderr or case["exit"]:
        told = ours.code == 1 and ours.stderr.startswith(b"kafkapy: ") and b"internal error" not in ours.stderr
        return None if told else f"Kafka died: exit {ours.code}, {ours.stderr!r}"
    if ours.stderr.strip() != stderr.strip():
        return f"stderr:\n  kafka: {stderr!r}\n  ours:  {ours.stderr!r}"
    return None if ours.code == 0 else f"exit {ours.code}"


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", SETS)
def test_as_kafka_printed_it(name: str, kernel: str) -> None:
    root = unpack(name)
    found = run_dumps(kernel, root, [case["args"] for case in cases(name)])
    missed = [
        f"{case['name']}: {differs}"
        for case, ours in zip(cases(name), found, strict=True)
        if (differs := difference(root, case, ours)) is not None
    ]
    assert not missed, f"{len(missed)} of {len(found)} differ:\n" + "\n".join(missed[:10])


def test_the_sets_are_whole() -> None:
    assert [len(cases(name)) for name in SETS] == [263, 119]
