"""metadata_records: every line of Kafka's own dump of the metadata log."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kafkapy.errors import DamagedFileError
from kafkapy.formats.record_batch import Record, encode_batch
from kafkapy.tables.scan import Mode, Range, Scan
from tests.tables.internal_logs import log_dir, milliseconds, scan_of
from tests.tables.logs import rows

DUMP = "clean__broker-1____cluster_metadata-0__00000000000000000000.log.decoded.out"
RECORD = re.compile(r"^\| offset: (\d+) CreateTime: (\d+) .* headerKeys: \[\] (?:payload: )?(\w+:? )?(\{.*\})$")
CONTROL = {"LeaderChange:": "LEADER_CHANGE"}


def test_what_kafka_dumps(golden: Path) -> None:
    scan = scan_of(golden)._replace(broker=1)
    found = {row["offset"]: row for row in rows(scan, "metadata_records")}
    count = 0
    for line in (golden / "dumps" / DUMP).read_text().splitlines():
        match = RECORD.match(line)
        if match is None:
            assert not line.startswith("| ")
            continue
        count += 1
        row = found[int(match[1])]
        assert milliseconds(row["timestamp"]) == int(match[2])
        assert row["control"] is bool(match[3])
        document = json.loads(match[4])
        if match[3]:
            assert row["type"] == CONTROL[match[3].strip()]
            assert row["record"] == match[4]
        else:
            assert (row["type"], row["version"]) == (document["type"], document["version"])
            assert f'"data":{row["record"]}}}' == match[4][match[4].index('"data"') :]
    assert count == len(found) > 900


def test_scan_is_honoured(golden: Path) -> None:
    scan = scan_of(golden)
    everything = rows(scan, "metadata_records")
    some = rows(scan._replace(offsets=Range(10, 20), partitions=frozenset((7,))), "metadata_records")
    assert some == everything[10:20]
    assert {row["epoch"] for row in everything} == {1, 3}
    names = rows(scan._replace(columns=("type",)), "metadata_records")
    assert [row["type"] for row in names] == [row["type"] for row in everything]


def test_no_metadata_log(zk_era: Path) -> None:
    assert rows(scan_of(zk_era), "metadata_records") == []


def test_damage(tmp_path: Path) -> None:
    records = [Record(0, 1, None, b"\1\x7f\0"), Record(1, 1, b"\0\0\0\x63", b"")]
    scan = Scan(log_dir(tmp_path, "__cluster_metadata", [encode_batch(records)]))
    with pytest.raises(DamagedFileError, match=r"the record at offset 0: .*Unknown metadata id 127"):
        rows(scan, "metadata_records")
    kept = rows(scan._replace(mode=Mode.PERMISSIVE), "metadata_records")
    assert [(row["type"], row["damage_position"]) for row in kept] == [("UNKNOWN(99)", None), (None, 0)]
