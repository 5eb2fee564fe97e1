"""The small files of identity and election: meta.properties, partition.metadata, quorum-state and the marks."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.errors import FormatError
from kafkapy.formats import clean_shutdown, meta_properties, partition_metadata, quorum_state, snapshot_id
from kafkapy.formats.java_parsing import parse_int, parse_long
from kafkapy.formats.meta_properties import MetaProperties
from kafkapy.formats.partition_metadata import PartitionMetadata
from kafkapy.formats.quorum_state import QuorumState
from kafkapy.formats.snapshot_id import SnapshotId
from kafkapy.formats.uuid import ONE_UUID, ZERO_UUID, uuid_text

DATE = datetime(2026, 11, 16, 3, 16, 33, tzinfo=UTC)
HEADER = b"#\n#Mon Nov 16 03:16:33 UTC 2026\n"
INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
uuids = st.binary(min_size=16, max_size=16).map(uuid_text)
ascii_text = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=30)


@pytest.mark.parametrize(
    ("meta", "text"),
    [
        (
            MetaProperties(1, "c", 1, ONE_UUID),
            b"node.id=1\ndirectory.id=AAAAAAAAAAAAAAAAAAAAAQ\nversion=1\ncluster.id=c\n",
        ),
        (MetaProperties(1, "c", 1), b"node.id=1\nversion=1\ncluster.id=c\n"),
        (MetaProperties(0, "c", 1), b"broker.id=1\nversion=0\ncluster.id=c\n"),
        (MetaProperties(0, None, None), b"version=0\n"),
    ],
)
def test_meta_properties_in_kafkas_order(meta: MetaProperties, text: bytes) -> None:
    assert meta_properties.encode(meta, DATE) == HEADER + text
    assert meta_properties.decode(text) == meta


@given(st.builds(MetaProperties, st.sampled_from([0, 1]), ascii_text, INT32, st.none() | uuids))
def test_meta_properties_round_trip(meta: MetaProperties) -> None:
    assert meta_properties.decode(meta_properties.encode(meta, DATE)) == meta


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"version=2", "Unknown meta.properties version number 2"),
        (b"version=x", "Invalid meta.properties version string 'x'"),
        (b"version=1", "Failed to find node.id"),
        (b"version=1\nnode.id=x", "Unable to read node.id as a base-10 number."),
        (b"version=1\nnode.id=1", "cluster.id was not found."),
        (
            b"directory.id=abc",
            "Unable to read directory.id as a Uuid: Input string `abc` decoded as 2 bytes, which is not equal to the "
            "expected 16 bytes of a base64-encoded UUID",
        ),
    ],
)
def test_meta_properties_says_what_kafka_says(text: bytes, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        meta_properties.decode(text)
    assert str(caught.value) == message


def test_a_version_may_have_blanks_around_it() -> None:
    assert meta_properties.decode(b"version=\\ 1 \nnode.id=3\ncluster.id=x").node_id == 3


def test_every_real_meta_properties_reencodes_to_its_bytes(golden: Path, zk_era: Path) -> None:
    paths = [*golden.rglob("meta.properties"), *zk_era.rglob("meta.properties")]
    versions = set()
    for path in paths:
        data = path.read_bytes()
        written_at = datetime.strptime(data.decode().splitlines()[1], "#%a %b %d %H:%M:%S UTC %Y").replace(tzinfo=UTC)
        meta = meta_properties.decode(data)
        assert meta_properties.encode(meta, written_at) == data
        assert f"broker-{meta.node_id}" == path.parent.name
        versions.add(meta.version)
    assert len(paths) == 8
    assert versions == {0, 1}


@given(uuids.filter(lambda text: text != ZERO_UUID))
def test_partition_metadata_round_trip(topic_id: str) -> None:
    data = partition_metadata.encode(PartitionMetadata(topic_id))
    assert len(data) == 43
    assert partition_metadata.decode(data, "f") == (topic_id, 0)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "Malformed line in partition metadata file [/d/f]: "),
        (b"version: 0", "Malformed line in partition metadata file [/d/f]: "),
        (b"version 0 1\n", "Malformed line in partition metadata file [/d/f]: version 0 1"),
        (b"version: x\n", "Malformed line in partition metadata file [/d/f]: version: x"),
        (b"version: -1\n", "Unrecognized version of partition metadata file (/d/f): -1"),
        (
            b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA",
            "Invalid topic ID in partition metadata file (/d/f)",
        ),
    ],
)
def test_partition_metadata_says_what_kafka_says(data: bytes, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        partition_metadata.decode(data, "/d/f")
    assert str(caught.value) == message


def test_a_later_version_of_partition_metadata_is_read() -> None:
    data = b"version: 7\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ\nmore"
    assert partition_metadata.decode(data, "f") == (ONE_UUID, 7)


def test_every_real_partition_metadata_reencodes_to_its_bytes(golden: Path, zk_era: Path) -> None:
    paths = [*golden.rglob("partition.metadata"), *zk_era.rglob("partition.metadata")]
    for path in paths:
        metadata = partition_metadata.decode(path.read_bytes(), str(path))
        assert partition_metadata.encode(metadata) == path.read_bytes()
        if path.parent.name == "__cluster_metadata-0":
            assert metadata.topic_id == ONE_UUID
    assert len(paths) > 100


quorum_states = st.one_of(
    st.builds(QuorumState, st.just(0), INT32, INT32, INT32, current_voters=st.lists(INT32).map(tuple)),
    st.builds(QuorumState, st.just(1), INT32, INT32, INT32, voted_directory_id=uuids),
)


@given(quorum_states)
def test_quorum_state_round_trip(state: QuorumState) -> None:
    assert quorum_state.decode(quorum_state.encode(state)) == state


def test_quorum_state_of_both_versions() -> None:
    assert quorum_state.encode(QuorumState(0, 1, 1, current_voters=(1,))) == (
        b'{"clusterId":"","leaderId":1,"leaderEpoch":1,"votedId":-1,"appliedOffset":0,'
        b'"currentVoters":[{"voterId":1}],"data_version":0}'
    )
    assert quorum_state.encode(QuorumState(1, 1, 1)) == (
        b'{"leaderId":1,"leaderEpoch":1,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}'
    )


GOOD_STATE = b'{"leaderId":1,"leaderEpoch":2,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}'


def test_only_the_first_line_of_a_quorum_state_is_read() -> None:
    assert quorum_state.decode(GOOD_STATE + b"\ngarbage") == QuorumState(1, 1, 2)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "File ended prematurely."),
        (b"[]", "Deserialized node [] is not an object node"),
        (b"{}", "Deserialized node {} does not have data_version field"),
        (b'{"data_version":2}', "data_version (2) is not within the min (0) and max (1) supported version"),
        (b'{"data_version":0}', "QuorumStateData: unable to locate field 'leaderId'"),
        (GOOD_STATE.replace(b":2,", b":2147483648,"), "QuorumStateData: field 'leaderEpoch' is not an int32"),
        (GOOD_STATE.replace(b":2,", b":true,"), "QuorumStateData: field 'leaderEpoch' is not an int32"),
    ],
)
def test_quorum_state_says_what_is_wrong(data: bytes, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        quorum_state.decode(data)
    assert str(caught.value) == message


def test_every_real_quorum_state_reencodes_to_its_bytes(golden: Path) -> None:
    paths = list(golden.rglob("quorum-state"))
    for path in paths:
        assert quorum_state.encode(quorum_state.decode(path.read_bytes())) == path.read_bytes()
    assert len(paths) == 6


@given(INT64)
def test_clean_shutdown_round_trip(broker_epoch: int) -> None:
    assert clean_shutdown.decode(clean_shutdown.encode(broker_epoch)) == broker_epoch


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[1]", b'{"brokerEpoch":null}', b'{"brokerEpoch":true}', b"\xff", b"[" * 9999]
)
def test_a_clean_shutdown_file_need_not_tell_an_epoch(data: bytes) -> None:
    assert clean_shutdown.decode(data) is None


def test_every_real_clean_shutdown_file(golden: Path) -> None:
    paths = list(golden.glob("clean/*/.kafka_cleanshutdown"))
    for path in paths:
        epoch = clean_shutdown.decode(path.read_bytes())
        assert epoch is not None
        assert clean_shutdown.encode(epoch) == path.read_bytes()
    assert len(paths) == 3


DECODERS: list[Callable[[bytes], object]] = [
    meta_properties.decode,
    quorum_state.decode,
    clean_shutdown.decode,
    lambda data: partition_metadata.decode(data, "f"),
]
damaged_texts = st.sampled_from(
    [GOOD_STATE, b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ", b"version=1\nnode.id=1\ncluster.id=c\n", b"[" * 9999]
).flatmap(lambda text: st.tuples(st.just(text), st.integers(0, len(text) - 1), st.binary(max_size=3)))


@given(
    st.one_of(st.binary(max_size=80), damaged_texts.map(lambda cut: cut[0][: cut[1]] + cut[2] + cut[0][cut[1] + 1 :]))
)
def test_hostile_bytes_raise_only_format_errors(data: bytes) -> None:
    for decode in DECODERS:
        try:
            decode(data)
        except FormatError:
            continue


@given(st.integers(0, 2**63 - 1), st.integers(0, 2**31 - 1))
def test_snapshot_names_round_trip(end_offset: int, epoch: int) -> None:
    named = SnapshotId(end_offset, epoch)
    assert snapshot_id.parse(named.file_name()) == (named, False, False)
    assert snapshot_id.parse(named.file_name("-123456.checkpoint.part")) == (named, True, False)
    assert snapshot_id.parse(named.file_name(snapshot_id.DELETE_SUFFIX)) == (named, False, True)


def test_snapshot_names() -> None:
    assert SnapshotId(707, 1).file_name() == "00000000000000000707-0000000001.checkpoint"
    assert snapshot_id.parse("00000000000000000707.log") is None
    for name in ("bootstrap.checkpoint", ".checkpoint", "0000000000000000070x-0000000001.checkpoint"):
        with pytest.raises(FormatError):
            snapshot_id.parse(name)


@pytest.mark.parametrize(("text", "value"), [("+5", 5), ("-5", -5), ("007", 7), ("٣", 3), ("-2147483648", -(2**31))])
def test_integers_as_java_reads_them(text: str, value: int) -> None:
    assert parse_int(text) == parse_long(text) == value


@pytest.mark.parametrize("text", ["5_0", " 5", "", "2147483648", "0x1", "-", "+", "²", "9" * 5000])
def test_what_is_no_integer_for_java(text: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse_int(text)
    assert str(caught.value) == f'For input string: "{text}"'
