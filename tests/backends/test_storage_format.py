"""Formatting one broker's log dirs from its server.properties."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkapy.backends.storage_format import FormatOptions, format_storage, read_server_properties
from kafkapy.errors import KafkaError
from kafkapy.formats import meta_properties
from kafkapy.formats.snapshot_id import BOOTSTRAP_FILE_NAME, SnapshotId
from kafkapy.log.files import Files
from kafkapy.metadata.metadata_directory import DIRECTORY_NAME
from kafkapy.metadata.metadata_snapshot import read_snapshot

CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"
FILES = Files(sync=False)


def properties(tmp_path: Path, *lines: str) -> str:
    path = tmp_path / "server.properties"
    dirs = f"log.dirs={tmp_path}/a,{tmp_path}/b"
    path.write_text("\n".join(("process.roles=broker,controller", "node.id=7", dirs, *lines)))
    return str(path)


def test_a_standalone_voter(tmp_path: Path) -> None:
    server = read_server_properties(
        properties(tmp_path, "controller.listener.names=CTL", "listeners=X://h:1,CTL://localhost:9093")
    )
    lines = format_storage(server, FormatOptions(CLUSTER_ID, standalone=True), FILES)
    assert lines[1:] == [
        f"Formatting dynamic metadata voter directory {tmp_path}/a with metadata.version 4.3-IV0.",
        f"Formatting data directory {tmp_path}/b with metadata.version 4.3-IV0.",
    ]
    meta = meta_properties.decode((tmp_path / "a" / meta_properties.FILE_NAME).read_bytes())
    assert (meta.cluster_id, meta.node_id) == (CLUSTER_ID, 7)
    assert (tmp_path / "b" / BOOTSTRAP_FILE_NAME).stat().st_size == 411
    voters = read_snapshot(str(tmp_path / "a" / DIRECTORY_NAME / SnapshotId(0, 0).file_name())).voters
    assert voters is not None
    assert [(each["voterId"], each["voterDirectoryId"]) for each in voters["voters"]] == [(7, meta.directory_id)]


def test_initial_controllers_give_this_node_its_directory_id(tmp_path: Path) -> None:
    own, other = "AAAAAAAAAAAAAAAAAAAAAw", "AAAAAAAAAAAAAAAAAAAABA"
    options = FormatOptions(CLUSTER_ID, initial_controllers=f"7@h:9093:{own},8@i:9093:{other}")
    format_storage(read_server_properties(properties(tmp_path)), options, FILES)
    assert meta_properties.decode((tmp_path / "a" / meta_properties.FILE_NAME).read_bytes()).directory_id == own


def test_formatted_dirs_are_refused_or_left(tmp_path: Path) -> None:
    server = read_server_properties(properties(tmp_path, "controller.quorum.voters=7@localhost:9093"))
    first = format_storage(server, FormatOptions(CLUSTER_ID), FILES)
    assert f"Formatting metadata directory {tmp_path}/a with metadata.version 4.3-IV0." in first
    with pytest.raises(KafkaError, match=r"/a is already formatted\. Use --ignore-formatted"):
        format_storage(server, FormatOptions(CLUSTER_ID), FILES)
    again = format_storage(server, FormatOptions(CLUSTER_ID, ignore_formatted=True), FILES)
    assert again == ["All of the log directories are already formatted."]


@pytest.mark.parametrize(
    ("lines", "options", "message"),
    [
        ((), FormatOptions(CLUSTER_ID), "you must specify one of the following: --standalone"),
        (("controller.quorum.voters=7@h:1",), FormatOptions(CLUSTER_ID, standalone=True), "You cannot specify"),
        (("process.roles=",), FormatOptions(CLUSTER_ID), "legacy cluster"),
    ],
)
def test_what_is_refused_writes_nothing(
    tmp_path: Path, lines: tuple[str, ...], options: FormatOptions, message: str
) -> None:
    with pytest.raises(KafkaError, match=message):
        format_storage(read_server_properties(properties(tmp_path, *lines)), options, FILES)
    assert not (tmp_path / "a").exists()
