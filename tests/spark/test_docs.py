"""docs/spark.md: its blocks of Python run in order, and print what stands under each."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:^```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def test_the_worked_example(
    spark: SparkSession, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root)
    names: dict[str, object] = {}
    blocks = BLOCK.findall((root / "docs" / "spark.md").read_text(encoding="utf-8"))
    assert len(blocks) > 5
    for code, wanted in blocks:
        exec(compile(code, "docs/spark.md", "exec"), names)
        printed = "\n".join(line.rstrip() for line in capsys.readouterr().out.strip().splitlines())
        assert printed == wanted.strip(), code
