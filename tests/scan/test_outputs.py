"""The forms of output beside Kafka's text: JSON lines, a JSON document, CSV and tables say the same."""

from __future__ import annotations

import csv
import io
import json
import struct
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kafkapy.formats.compression import Codec
from kafkapy.formats.record_batch import BatchOptions, Header, Record, encode_batch
from kafkapy.output.output_format import Output
from kafkapy.scan.options import MessageDecoder
from tests.dumping import dumped, rows
from tests.segments import OldMessage, any_segment, control_marker, encode_message, mutated

NAME = "00000000000000000000.log"
RECORD = Record(5, 1_700_000_000_000, b"key", b"\xff\x00", (Header("h", None), Header("i", b"\x80"), Header("j", b"x")))


def write(tmp_path: Path, *pieces: bytes) -> Path:
    path = tmp_path / NAME
    path.write_bytes(b"".join(pieces))
    return path


def test_a_record_in_json(tmp_path: Path) -> None:
    options = BatchOptions(5, partition_leader_epoch=2, producer_id=9, producer_epoch=1, base_sequence=3)
    path = write(tmp_path, encode_batch([RECORD], options))
    (row,) = rows(path, print_data_log=True)
    assert row == {
        "type": "record",
        "file": str(path),
        "offset": 5,
        "timestamp": 1_700_000_000_000,
        "timestamp_type": "CreateTime",
        "key_size": 3,
        "value_size": 2,
        "sequence": 3,
        "headers": [
            {"key": "h", "value": None},
            {"key": "i", "value": "gA==", "value_encoding": "base64"},
            {"key": "j", "value": "x"},
        ],
        "key": "key",
        "value": "/wA=",
        "value_encoding": "base64",
        "batch_position": 0,
        "base_offset": 5,
        "producer_id": 9,
        "producer_epoch": 1,
        "partition_leader_epoch": 2,
        "transactional": False,
        "control": False,
        "magic": 2,
        "compression": "none",
        "valid": True,
    }
    (row,) = rows(path, deep_iteration=True)
    assert row["header_keys"] == ["h", "i", "j"]
    assert "value" not in row


def test_a_null_is_null_and_not_absent(tmp_path: Path) -> None:
    (row,) = rows(write(tmp_path, encode_batch([Record(0, 0, None, None)])), print_data_log=True)
    assert (row["key"], row["value"], row["key_size"], row["value_size"]) == (None, None, -1, -1)


def test_a_control_record(tmp_path: Path) -> None:
    path = write(tmp_path, control_marker(0, 4, committed=True), control_marker(1, 4, committed=False))
    commit, abort = rows(path, deep_iteration=True)
    assert commit["control_record"] == {"type": "COMMIT", "text": "endTxnMarker: COMMIT coordinatorEpoch: 9"}
    assert abort["control_record"]["type"] == "ABORT"


def test_an_old_message(tmp_path: Path) -> None:
    path = write(
        tmp_path, encode_message(OldMessage(3, None, b"v"), 0), encode_message(OldMessage(4, b"k", b"v", 8), 1)
    )
    first, second = rows(path, print_data_log=True)
    assert (first["timestamp_type"], first["timestamp"], first["magic"]) == ("NoTimestampType", -1, 0)
    assert (second["timestamp"], second["key"], second["value"], second["valid"]) == (8, "k", "v", True)
    assert "sequence" not in second
    assert [row["last_offset"] for row in rows(path)] == [3, 4]


FLAGS: list[dict[str, Any]] = [{}, {"deep_iteration": True}, {"print_data_log": True}]


@pytest.mark.parametrize("flags", FLAGS)
def test_all_forms_say_the_same(tmp_path: Path, flags: dict[str, Any]) -> None:
    for seed in range(40):
        rng = Random(seed)
        data = any_segment(rng)
        path = write(tmp_path, mutated(rng, data) if seed % 2 else data)
        forms = {form: dumped(path, output=form, **flags) for form in Output}
        lines = [json.loads(line) for line in forms[Output.JSONL].stdout.decode().split("\n")[:-1]]
        document = json.loads(forms[Output.JSON].stdout)
        assert document == {"schema_version": 1, "rows": lines}, f"seed {seed}"
        table = list(csv.DictReader(io.StringIO(forms[Output.CSV].stdout.decode(), newline="")))
        assert [_cells(row, table[0]) for row in lines] == table, f"seed {seed}"
        # a control record that is none ends the text, as it ends Kafka's, but is a row like any other
        errors = {(done.code, done.stderr) for form, done in forms.items() if form is not Output.KAFKA}
        assert len(errors) == 1, f"seed {seed}"


def _cells(row: dict[str, Any], columns: dict[str, str]) -> dict[str, str]:
    """A row as CSV has it: absent and null are empty, lists and objects are JSON."""

    def cell(value: Any) -> str:
        if value is None:
            return ""
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, dict | list):
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return str(value)

    return {name: cell(row.get(name)) for name in columns}


def test_trailing_bytes_are_told_on_stderr(tmp_path: Path) -> None:
    path = write(tmp_path, encode_batch([Record(0, 0, b"k", b"v")]), b"\x00\x00\x00")
    text, lines = dumped(path), dumped(path, output=Output.JSONL)
    assert text.stdout.endswith(b"Found 3 invalid bytes at the end of 00000000000000000000.log\n")
    assert lines.stderr == f"{path}: Found 3 invalid bytes at the end of {NAME}\n".encode()
    assert (text.code, lines.code, lines.stdout.count(b"\n")) == (0, 0, 1)


def test_csv_begins_anew_where_the_kind_of_row_changes(tmp_path: Path) -> None:
    path = write(tmp_path, encode_batch([Record(0, 0, b'a,"b"\n', b"v")]))
    index = path.with_suffix(".index")
    index.write_bytes(struct.pack(">ii", 0, 0))
    lines = dumped(path, index, print_data_log=True, output=Output.CSV).stdout.decode()
    assert lines.startswith("type,file,offset,timestamp,")
    assert '"a,""b""\n",' in lines
    assert lines.endswith(f"type,file,offset,position,log_offset,matches\noffset_index_entry,{index},0,0,0,true\n")


def test_a_table_is_for_people(tmp_path: Path) -> None:
    path = write(tmp_path, encode_batch([Record(n, 7, b"k%d" % n, b"v") for n in range(3)]))
    lines = dumped(path, print_data_log=True, output=Output.TABLE).stdout.decode().splitlines()
    assert lines[0] == str(path)
    heading = next(line for line in lines if "offset" in line)
    assert "key" in heading
    assert "value" in heading
    assert [line.split()[0] for line in lines if " k" in line and "key" not in line] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("decoder", "data", "printed"),
    [
        ("string", b"\xff\x41", "\ufffdA"),
        ("hex", b"\xff\x41", "ff41"),
        ("bytes", b"\xff\x41", "ff41"),
        ("base64", b"\xff\x41", "/0E="),
        ("int", struct.pack(">i", -5), "-5"),
        ("long", struct.pack(">q", 2**40), str(2**40)),
        ("json", b'{ "a" : [1, 2.50, "\xc3\xa9"] }', '{"a":[1,2.5,"é"]}'),
        ("utf-8-escaped", b"a\x1b\xff\n\xc3\xa9", "a\\x1b\\xff\\né"),
        ("org.apache.kafka.tools.api.IntegerDecoder", struct.pack(">i", 7), "7"),
        ("kafka.serializer.StringDecoder", b"x", "x"),
    ],
)
def test_payload_decoders(tmp_path: Path, decoder: str, data: bytes, printed: str) -> None:
    for codec in (Codec.NONE, Codec.GZIP):
        path = write(tmp_path, encode_batch([Record(0, 0, data, data)], BatchOptions(0, codec)))
        text = dumped(path, print_data_log=True, value_decoder=decoder, key_decoder="hex").stdout.decode()
        assert text.endswith(f" key: {data.hex()} payload: {printed}\n")
        (row,) = rows(path, print_data_log=True, key_decoder=decoder)
        lossless = {"json": json.loads(printed) if decoder == "json" else None, "string": "/0E="}
        assert row["key"] == lossless.get(decoder, printed)


def test_a_payload_that_a_decoder_cannot_read(tmp_path: Path) -> None:
    path = write(tmp_path, encode_batch([Record(0, 0, b"ab", b"{")]))
    for options, reason in (
        ({"key_decoder": "int"}, "a payload of 2 bytes is not of type int: choose another decoder"),
        ({"value_decoder": "json"}, "a payload is not JSON: choose another decoder"),
    ):
        done = dumped(path, print_data_log=True, **options)
        assert (done.code, done.stderr) == (1, f"kafkapy: {path}: damaged at byte 0: {reason}\n".encode())


def test_a_decoded_internal_record_is_json_inside_json(golden: Path) -> None:
    logs = sorted((golden / "clean").rglob("__consumer_offsets-*/*.log"))
    found = [
        row
        for log in logs
        if log.stat().st_size
        for row in rows(log, print_data_log=True, decoder=MessageDecoder.OFFSETS)
        if isinstance(row.get("key"), dict)
    ]
    assert {row["key"]["type"] for row in found} >= {"1", "2"}


def test_other_files_have_rows_too(golden: Path) -> None:
    for suffix, kind in ((".snapshot", "producer"), (".txnindex", "aborted_txn"), (".timeindex", "time_index_entry")):
        files = [path for path in sorted((golden / "clean").rglob(f"*{suffix}")) if path.stat().st_size]
        found = [row for path in files for row in rows(path)]
        assert found, suffix
        assert {row["type"] for row in found} == {kind}
