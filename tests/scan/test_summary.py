"""``--summary``: totals, against what the rows of the same file add up to."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from kafkapy.formats.compression import Codec, decompress
from kafkapy.formats.record_batch import HEADER_SIZE, BatchOptions, Record, decode_header, encode_batch
from kafkapy.output.output_format import Output
from tests.dumping import dumped, rows
from tests.segments import OldMessage, any_batch, entries, next_offset, repaired, wrap_messages

NAME = "00000000000000000000.log"


def summary(path: Path, **options: Any) -> tuple[dict[str, Any], int]:
    done = dumped(path, summary=True, output=Output.JSONL, **options)
    (line,) = done.stdout.decode().splitlines()
    return json.loads(line), done.code


def test_totals_are_those_of_the_rows(tmp_path: Path) -> None:
    path = tmp_path / NAME
    for seed in range(60):
        rng, data = Random(seed), b""
        for _ in range(6):
            data += any_batch(rng, next_offset(data) if data else 0)
        path.write_bytes(data)
        batches = rows(path)
        found, code = summary(path)
        assert code == 0
        assert found["bytes"] == len(data)
        assert found["batches"] == len(batches)
        assert found["records"] == len(rows(path, deep_iteration=True))
        assert found["codecs"] == Counter(batch["compression"] for batch in batches)
        assert found["leader_epochs"] == Counter(str(batch["partition_leader_epoch"]) for batch in batches)
        assert found["control_batches"] == sum(batch["control"] for batch in batches)
        assert found["transactional_batches"] == sum(batch["transactional"] for batch in batches)
        assert (found["first_offset"], found["last_offset"]) == (0, batches[-1]["last_offset"])
        assert found["last_timestamp"] == max(batch["max_timestamp"] for batch in batches)
        producers = Counter(str(batch["producer_id"]) for batch in batches if batch["producer_id"] >= 0)
        assert (found["producers"], found["producer_count"]) == (producers, len(producers))
        assert found["missing_offsets"] == batches[-1]["last_offset"] + 1 - found["records"]


def test_compression_is_measured(tmp_path: Path) -> None:
    path = tmp_path / NAME
    data = b"".join(
        encode_batch([Record(n, 0, None, b"x" * 5000)], BatchOptions(n, codec)) for n, codec in enumerate(Codec)
    )
    path.write_bytes(data)
    packed = plain = 0
    for position, size, _ in entries(data):
        header, body = decode_header(data, position), data[position + HEADER_SIZE : position + size]
        if header.codec is not Codec.NONE:
            packed += len(body)
            plain += len(decompress(header.codec, body))
    found, _ = summary(path)
    assert (found["compressed_bytes"], found["uncompressed_bytes"]) == (packed, plain)
    assert found["codec_ratio"] == round(plain / packed, 3)


def test_damage_is_counted_and_not_trusted(tmp_path: Path) -> None:
    batches = [encode_batch([Record(n, 5, b"k", b"v")], BatchOptions(n)) for n in range(4)]
    size = len(batches[0])
    data = bytearray(b"".join(batches) + b"\x00" * 50)
    data[size + 57] ^= 0x7F
    path = tmp_path / NAME
    path.write_bytes(data)
    found, code = summary(path)
    assert code == 1
    assert (found["batches"], found["records"]) == (3, 3)
    assert found["gaps"] == [{"after": 0, "next": 2}]
    reasons = [(place["start"], place["end"], place["bytes"], place["reason"]) for place in found["damage"]]
    assert reasons == [
        (size, 2 * size, size, "checksum does not hold"),
        (4 * size, 4 * size + 50, 50, "Found record size 0 smaller than minimum record overhead (14)"),
    ]


def test_damage_is_counted_in_words(tmp_path: Path) -> None:
    path = tmp_path / NAME
    batch = encode_batch([Record(0, 5, b"k", b"v")], BatchOptions(0))
    for data, said in ((batch, "none"), (batch + b"\xff" * 30, "1 place")):
        path.write_bytes(data)
        assert f"  Damage:        {said}\n".encode() in dumped(path, summary=True).stdout


def test_a_set_that_does_not_decompress_is_damage_and_not_counted(tmp_path: Path) -> None:
    path = tmp_path / NAME
    whole = wrap_messages([OldMessage(0, b"k", b"v", 7), OldMessage(1, b"k", b"v", 9)], Codec.GZIP, 1)
    broken = bytearray(whole)
    broken[-20:] = bytes(20)
    path.write_bytes(whole + repaired(bytes(broken)))
    found, code = summary(path)
    assert (code, found["batches"], found["records"], found["codecs"]) == (1, 1, 2, {"gzip": 1})
    assert (found["first_offset"], found["last_offset"], found["magics"]) == (0, 1, {"1": 1})
    assert found["damage"][0]["reason"].startswith("gzip: ")


def test_unreadable_bytes_end_it_and_resync_goes_on(tmp_path: Path) -> None:
    batches = [encode_batch([Record(n, 5, b"k", b"v")], BatchOptions(n)) for n in range(3)]
    path = tmp_path / NAME
    path.write_bytes(batches[0] + b"\xff" * 30 + batches[1] + batches[2])
    assert summary(path)[0]["records"] == 1
    found, code = summary(path, resync=True)
    assert (code, found["records"], len(found["damage"])) == (1, 3, 1)


def test_a_large_batch_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / NAME
    value = Random(1).randbytes(18 << 20)
    for codec in (Codec.NONE, Codec.ZSTD):
        path.write_bytes(encode_batch([Record(0, 5, b"k", value)], BatchOptions(0, codec)))
        found, code = summary(path)
        assert (code, found["records"], found["damage"]) == (0, 1, [])
        if codec is not Codec.NONE:
            assert found["uncompressed_bytes"] > len(value)


def test_text(tmp_path: Path) -> None:
    path = tmp_path / NAME
    options = BatchOptions(0, producer_id=7, producer_epoch=0, base_sequence=0, partition_leader_epoch=3)
    path.write_bytes(
        encode_batch([Record(0, 1_700_000_000_000, b"k", b"v"), Record(4, 1_700_000_000_500, b"k", b"v")], options)
    )
    done = dumped(path, summary=True)
    assert done.stdout.decode() == (
        f"Summary of {path}\n"
        "  Batches:       1 (none: 1)\n"
        "  Records:       2\n"
        f"  Bytes:         {path.stat().st_size}\n"
        "  Offsets:       0 to 4\n"
        "  Times:         1700000000000 (2023-11-14T22:13:20.000+00:00) to "
        "1700000000500 (2023-11-14T22:13:20.500+00:00)\n"
        "  Magic:         2: 1\n"
        "  Leader epochs: 3: 1\n"
        "  Producers:     1 (batches of id 7: 1)\n"
        "  Gaps:          3 offsets have no record; 0 between batches\n"
        "  Damage:        none\n"
    )
    assert (done.code, done.stderr) == (0, b"")


def test_an_empty_file_and_no_log_at_all(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_bytes(b"")
    found, code = summary(path)
    assert (code, found["batches"], found["first_offset"], found["damage"]) == (0, 0, None, [])
    index = path.with_suffix(".index")
    index.write_bytes(b"")
    done = dumped(index, summary=True)
    assert (done.code, done.stderr) == (1, b"kafkapy: --summary reads .log files, and none was given\n")
