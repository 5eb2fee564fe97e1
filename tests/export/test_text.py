"""Text exports beside ``dump-log`` on the same files."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkapy.export.file_format import Format
from kafkapy.export.manifest import read_manifest
from kafkapy.export.run import Export
from kafkapy.log.files import Files
from kafkapy.tables.engine import LocalEngine
from kafkapy.tables.scan import Mode
from tests.dumping import dumped
from tests.export.growing import T0, Growing, exported, lying_about, request


def lines_of(out: Path) -> dict[str, bytes]:
    """The text of each partition, the files of all runs one after the other."""
    manifest = read_manifest(str(out))
    assert manifest is not None
    return {
        str(partition): b"".join((out / file.path).read_bytes() for file in entry.files)
        for partition, entry in manifest.partitions.items()
        if entry.files
    }


def dump_of(directory: Path) -> bytes:
    return dumped(*sorted(directory.glob("*.log")), print_data_log=True).stdout


def test_all_partitions_of_a_broker(golden: Path, tmp_path: Path) -> None:
    """Byte by byte what ``dump-log --print-data-log`` prints of their segments."""
    broker = golden / "clean" / "broker-1"
    exported(request(str(broker), tmp_path / "out", Format.TEXT))
    found = lines_of(tmp_path / "out")
    logs = {path.parent.name for path in broker.glob("*/*.log") if path.stat().st_size}
    assert set(found) == logs - {"__cluster_metadata-0"}
    for name, text in found.items():
        assert text == dump_of(broker / name), name
    assert any(text.count(b"Log starting offset") > 1 for text in found.values())


def test_gaps_are_no_news(golden: Path, tmp_path: Path) -> None:
    """Kafka's tool tells of one before every segment but a log's first, and of all that compaction has left."""
    told: list[str] = []
    made = request(str(golden / "clean" / "broker-1"), tmp_path / "out", Format.TEXT)
    Export(made, told.append, Files(sync=False)).run(LocalEngine())
    assert told == ["left out: 9 partitions that only other brokers have copies of"]


def test_a_later_run_goes_on_in_the_middle_of_a_segment(tmp_path: Path) -> None:
    growing, out = Growing(tmp_path / "cluster"), tmp_path / "out"
    growing.create("orders", 2)
    for counts in ((10, 0), (3, 2), (0, 0), (1, 5)):
        growing.append("orders", *counts)
        exported(request(growing.path, out, Format.TEXT))
        found = lines_of(out)
        for name in found:
            assert found[name] == dump_of(next(Path(growing.path).glob(f"*/{name}")))
    assert found.keys() == {"orders-0", "orders-1"}
    assert len(list(out.glob("part-orders-0-*.txt"))) == 3
    assert lying_about(out) == set()


@pytest.mark.parametrize("mode", Mode)
def test_zeros_behind_the_last_batch_end_no_run(golden: Path, tmp_path: Path, mode: Mode) -> None:
    """A crash leaves them."""
    source, scan = str(golden / "damaged"), {"topics": frozenset(("zero-tail",))}
    assert exported(request(source, tmp_path / "out", Format.TEXT, scan={**scan, "mode": mode})).files == 1
    (text,) = lines_of(tmp_path / "out").values()
    assert dump_of(golden / "damaged" / "zero-tail-0").startswith(text)
    assert text.count(b"| offset: ") == exported(request(source, tmp_path / "rows", scan=scan)).rows


def test_times(tmp_path: Path) -> None:
    from kafkapy.tables.scan import Range

    growing = Growing(tmp_path / "cluster")
    growing.create("orders")
    growing.append("orders", 10)
    times = Range(T0 + 1, T0 + 3 * 3_600_000)
    exported(request(growing.path, tmp_path / "out", Format.TEXT, scan={"timestamps": times}))
    text = lines_of(tmp_path / "out")["orders-0"].decode()
    assert [line.rpartition(" ")[2] for line in text.splitlines() if line.startswith("|")] == ["1", "2"]
