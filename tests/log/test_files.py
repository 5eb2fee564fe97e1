"""Files: an error names the file, also where the system is given a descriptor."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkapy.log.files import Files


def test_an_append_to_a_full_disk_names_the_file() -> None:
    with pytest.raises(OSError, match="No space left") as failed:
        Files().append("/dev/full", b"x")
    assert failed.value.filename == "/dev/full"


def test_a_replaced_file_is_named_without_the_one_beside_it(tmp_path: Path) -> None:
    (tmp_path / "checkpoint.tmp").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left") as failed:
        Files().write_atomic(str(tmp_path / "checkpoint"), b"x")
    assert failed.value.filename == str(tmp_path / "checkpoint")
