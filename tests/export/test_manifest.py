"""The manifest's bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.errors import KafkapyError
from kafkapy.export.manifest import FileEntry, Manifest, PartitionEntry, decode, encode
from kafkapy.log.topic_partition import TopicPartition

counts = st.integers(0, 2**63 - 1)
files = st.lists(st.builds(FileEntry, st.text(), counts, counts)).map(tuple)
entries = st.builds(
    PartitionEntry, st.none() | st.text(), counts, st.lists(st.tuples(counts, counts)).map(tuple), files
)
partitions = st.dictionaries(st.builds(TopicPartition, st.text(), st.integers(0, 2**31 - 1)), entries)
options = st.dictionaries(st.text(), st.none() | st.text() | st.lists(st.text()) | st.integers())


@given(st.builds(Manifest, options, partitions, files))
def test_round_trip(manifest: Manifest) -> None:
    assert decode(encode(manifest), "m") == manifest


@given(st.binary() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(lambda x: repr(x).encode()))
def test_what_is_no_manifest_is_one_line(data: bytes) -> None:
    with pytest.raises(KafkapyError, match=r"^m is not a manifest of an export"):
        decode(data, "m")


def test_a_later_version_is_refused() -> None:
    with pytest.raises(KafkapyError, match="of version 2, which this kafkapy does not know"):
        decode(encode(Manifest({}, {})).replace(b'"kafkapy_export": 1', b'"kafkapy_export": 2'), "m")
