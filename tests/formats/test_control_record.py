"""Control records: bytes as Kafka 4.3.1 writes them, and the words DumpLogSegments puts behind them."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.errors import CorruptRecordError, FormatError, SchemaError
from kafkapy.formats.control_record import (
    ControlRecordType,
    EndTransactionMarker,
    decode_kraft,
    decode_marker,
    decode_type_id,
    describe,
    encode_key,
    encode_kraft,
    encode_marker,
)
from kafkapy.formats.message import Value

VOTERS = {
    "version": 0,
    "voters": [
        {
            "voterId": 1,
            "voterDirectoryId": "f0q8Mym1Wp_p4Mw8fXfFEw",
            "endpoints": [{"name": "CONTROLLER", "host": "127.0.0.1", "port": 7011}],
            "kRaftVersionFeature": {"minSupportedVersion": 0, "maxSupportedVersion": 1},
        }
    ],
}


@pytest.mark.parametrize(
    ("control_type", "value", "encoded", "text"),
    [
        (
            ControlRecordType.LEADER_CHANGE,
            {"version": 0, "leaderId": 3, "voters": [{"voterId": 3}], "grantingVoters": []},
            "0000000000030200000003000100",
            'LeaderChange: {"version":0,"leaderId":3,"voters":[{"voterId":3}],"grantingVoters":[]}',
        ),
        (
            ControlRecordType.SNAPSHOT_HEADER,
            {"version": 0, "lastContainedLogTimestamp": 5},
            "0000000000000000000500",
            'SnapshotHeader {"version":0,"lastContainedLogTimestamp":5}',
        ),
        (ControlRecordType.SNAPSHOT_FOOTER, {"version": 0}, "000000", 'SnapshotFooter {"version":0}'),
        (
            ControlRecordType.KRAFT_VERSION,
            {"version": 0, "kRaftVersion": 1},
            "0000000100",
            'KRaftVersion {"version":0,"kRaftVersion":1}',
        ),
        (
            ControlRecordType.KRAFT_VOTERS,
            VOTERS,
            "0000"
            "02"
            "00000001"
            "7f4abc3329b55a9fe9e0cc3c7d77c513"
            "02"
            "0b434f4e54524f4c4c4552"
            "0a3132372e302e302e31"
            "1b63"
            "00"
            "00000001"
            "00"
            "00"
            "00",
            'KRaftVoters {"version":0,"voters":[{"voterId":1,"voterDirectoryId":"f0q8Mym1Wp_p4Mw8fXfFEw",'
            '"endpoints":[{"name":"CONTROLLER","host":"127.0.0.1","port":7011}],'
            '"kRaftVersionFeature":{"minSupportedVersion":0,"maxSupportedVersion":1}}]}',
        ),
    ],
)
def test_kraft_control_records(control_type: ControlRecordType, value: Value, encoded: str, text: str) -> None:
    data = bytes.fromhex(encoded)
    assert encode_kraft(control_type, value) == data
    assert encode_kraft(control_type, decode_kraft(control_type, data)) == data
    assert describe(encode_key(control_type), data) == text


def test_the_version_field_decides_only_how_a_leader_change_is_printed() -> None:
    data = encode_kraft(ControlRecordType.LEADER_CHANGE, {"version": 1, "voters": [{"voterId": 2}]})
    assert describe(b"\x00\x00\x00\x02", data) == (
        'LeaderChange: {"version":1,"leaderId":0,'
        '"voters":[{"voterId":2,"voterDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA"}],"grantingVoters":[]}'
    )


@pytest.mark.parametrize("control_type", [ControlRecordType.ABORT, ControlRecordType.COMMIT])
@given(epoch=st.integers(-(2**31), 2**31 - 1))
def test_end_transaction_marker(control_type: ControlRecordType, epoch: int) -> None:
    marker = EndTransactionMarker(control_type, epoch)
    encoded = encode_marker(marker)
    assert len(encoded) == 6
    assert decode_marker(control_type, encoded) == marker
    assert decode_marker(control_type, b"\x00\x07" + encoded[2:] + b"later fields") == marker
    assert describe(encode_key(control_type), encoded) == (
        f"endTxnMarker: {control_type.name} coordinatorEpoch: {epoch}"
    )


def test_a_key_of_a_later_version_is_read_as_the_first() -> None:
    assert decode_type_id(b"\x00\x05\x00\x01 more") == ControlRecordType.COMMIT


def test_an_unknown_type_is_no_error() -> None:
    assert ControlRecordType(77) is ControlRecordType.UNKNOWN
    assert describe(b"\x00\x00\x00\x4d", None) == "controlType: UNKNOWN(77)"
    with pytest.raises(CorruptRecordError):
        encode_key(ControlRecordType.UNKNOWN)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (None, "Invalid value size found for control record key. Must have at least 4 bytes, but found only 0"),
        (
            b"\x00\x00\x00",
            "Invalid value size found for control record key. Must have at least 4 bytes, but found only 3",
        ),
        (b"\xff\xff\x00\x00", "Invalid version found for control record: -1. May indicate data corruption"),
    ],
)
def test_broken_keys(key: bytes | None, text: str) -> None:
    with pytest.raises(CorruptRecordError) as caught:
        decode_type_id(key)
    assert str(caught.value) == text


def test_broken_values() -> None:
    with pytest.raises(CorruptRecordError, match="Invalid version found for end transaction marker: -2"):
        decode_marker(ControlRecordType.COMMIT, b"\xff\xfe\x00\x00\x00\x00")
    with pytest.raises(SchemaError):
        decode_marker(ControlRecordType.COMMIT, b"\x00\x00\x00")
    with pytest.raises(
        CorruptRecordError, match="Invalid control record type for end transaction marker KRAFT_VERSION"
    ):
        decode_marker(ControlRecordType.KRAFT_VERSION, b"\x00\x00\x00\x00\x00\x00")
    with pytest.raises(CorruptRecordError):
        decode_kraft(ControlRecordType.COMMIT, b"")


@given(key=st.binary(max_size=6), value=st.none() | st.binary(max_size=40))
def test_noise_gives_text_or_a_format_error(key: bytes, value: bytes | None) -> None:
    with contextlib.suppress(FormatError):
        assert describe(key, value)
