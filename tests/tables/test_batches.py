"""The table ``batches`` beside the headers in the logs themselves."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import pytest

from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.errors import DamagedFileError
from kafkapy.tables.scan import Mode, Range, Scan
from tests.tables.logs import make_log, rows


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_log(tmp_path_factory.mktemp("made"))


@pytest.mark.parametrize("split_bytes", [1, 1 << 30])
def test_every_header_of_a_real_brokers_logs_is_a_row(golden: Path, split_bytes: int) -> None:
    path = str(golden / "clean" / "broker-1")
    cluster = LogDirsCluster(path)
    wanted = [
        (partition.topic, batch.position, header.base_offset, header.last_offset, header.record_count, header.size,
         header.codec.label, header.producer_id, header.is_control, header.partition_leader_epoch, True)
        for partition in sorted(cluster.dirs.replicas)
        if partition.topic != "__cluster_metadata"
        for batch in cluster.read(partition, cluster.dirs.reader(cluster.dirs.replicas[partition][0]).log_start_offset)
        for header in [batch.header]
    ]  # fmt: skip
    found = [
        (row["topic"], row["position"], row["base_offset"], row["last_offset"], row["count"], row["size"],
         row["compression"], row["producer_id"], row["control"], row["leader_epoch"], row["valid"])
        for row in rows(Scan((path,), split_bytes=split_bytes), "batches")
    ]  # fmt: skip
    assert found == wanted
    assert len(found) > 100


def test_the_batches_of_an_offset_range_are_those_that_overlap_it(made: str) -> None:
    whole = rows(Scan((made,)), "batches")
    rng = Random(1)
    for _ in range(40):
        start = rng.randrange(300)
        end = start + rng.randrange(1, 60)
        wanted = [row for row in whole if row["last_offset"] >= start and row["base_offset"] < end]
        assert rows(Scan((made,), offsets=Range(start, end)), "batches") == wanted


def test_a_wrong_checksum_is_told_by_the_row_itself(made: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(made, copy)
    log = min((copy / "orders-0").glob("*.log"))
    position = rows(Scan((made,)), "batches")[4]["position"]
    data = bytearray(log.read_bytes())
    data[position + 63] ^= 1
    log.write_bytes(data)
    found = rows(Scan((str(copy),)), "batches")
    assert [row["position"] for row in found if not row["valid"]] == [position]
    assert len(found) == len(rows(Scan((made,)), "batches"))


def test_damage_behind_which_nothing_is_found(made: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(made, copy)
    log = min((copy / "orders-0").glob("*.log"))
    data = bytearray(log.read_bytes())
    data[8:12] = b"\0\0\0\1"
    log.write_bytes(data)
    with pytest.raises(DamagedFileError, match=f"{log}: damaged at byte 0"):
        rows(Scan((str(copy),)), "batches")
    told = [row for row in rows(Scan((str(copy),), mode=Mode.PERMISSIVE), "batches") if row["damage"]]
    assert [(row["damage_file"], row["damage_position"]) for row in told] == [(str(log), 0)]
