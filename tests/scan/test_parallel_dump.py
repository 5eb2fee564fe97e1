"""Dumps in parts beside dumps in one piece."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from kafkapy.errors import KafkapyError, UsageError
from kafkapy.output.output_format import Output
from kafkapy.scan.options import DumpOptions
from kafkapy.scan.parallel_dump import dump_in_parallel
from kafkapy.tables.engine import LocalEngine
from tests.dumping import Dumped, captured, dumped


def in_parts(*files: Path, **options: Any) -> Dumped:
    def run() -> int:
        try:
            return dump_in_parallel(DumpOptions(tuple(map(str, files)), **options), LocalEngine())
        except KafkapyError as error:
            print(f"kafkapy: {error}", file=sys.stderr)
            return error.exit_code

    return captured(run)


@pytest.mark.parametrize("output", [Output.KAFKA, Output.JSONL])
@pytest.mark.parametrize("deep", [False, True])
def test_the_same_bytes(golden: Path, output: Output, deep: bool) -> None:
    for directory in sorted((golden / "clean" / "broker-1").glob("*-0")):
        one = dumped(directory, output=output, print_data_log=deep)
        parts = in_parts(directory, output=output, print_data_log=deep)
        assert parts[:2] == one[:2]
        assert sorted(parts.stderr.splitlines()) == sorted(one.stderr.splitlines())


@pytest.mark.parametrize("resync", [False, True])
def test_damage_in_the_second_of_three(sample: Path, tmp_path: Path, resync: bool) -> None:
    """What Kafka's tool would die over ends the dump; --resync goes on, and ends with 1 all the same."""
    files = [tmp_path / f"{number}" / "00000000000000000000.log" for number in range(3)]
    for file in files:
        shutil.copytree(sample, file.parent)
    data = bytearray(files[1].read_bytes())
    data[70:90] = bytes(20)
    files[1].write_bytes(data)
    one, parts = (run(*files, print_data_log=True, resync=resync) for run in (dumped, in_parts))
    assert parts == one
    assert parts.code == 1


def test_what_cannot_be_put_together_is_refused(sample: Path) -> None:
    for options in ({"output": Output.CSV}, {"summary": True}):
        with pytest.raises(UsageError, match="prints Kafka's lines or --output jsonl"):
            dump_in_parallel(DumpOptions((str(sample),), **options), LocalEngine())  # type: ignore[arg-type]
