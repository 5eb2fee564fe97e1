"""What real controllers wrote, loaded: topics as TopicCommand described them, snapshots as the log says, crashes."""

import re
import shutil
from pathlib import Path

import pytest

from kafkapy.errors import DamagedFileError
from kafkapy.formats.metadata_record import MetadataRecord, decode, encode
from kafkapy.formats.snapshot_id import SnapshotId
from kafkapy.log.files import Files
from kafkapy.metadata.delta import replay
from kafkapy.metadata.image import EMPTY, Provenance
from kafkapy.metadata.metadata_batch import encode_control, encode_records, leader_change
from kafkapy.metadata.metadata_directory import DIRECTORY_NAME
from kafkapy.metadata.metadata_file import load_file
from kafkapy.metadata.metadata_log import load_metadata, salvage_metadata
from kafkapy.metadata.metadata_snapshot import (
    Snapshot,
    decode_snapshot,
    encode_snapshot,
    read_snapshot,
    voter,
    voters_value,
    write_snapshot,
)
from kafkapy.metadata.topics_image import topic_record

LOG = "00000000000000000000.log"
NODES = (1, 2, 3)
ID = "x1FvxV5tS-CzvP5OVrXOIw"


@pytest.fixture
def crashed(golden: Path, tmp_path: Path) -> Path:
    """A copy of a crashed node's log dir, only its metadata."""
    source = golden / "crashed" / "broker-1"
    shutil.copytree(source / DIRECTORY_NAME, tmp_path / DIRECTORY_NAME)
    shutil.copy(source / "bootstrap.checkpoint", tmp_path)
    return tmp_path


def drop_snapshots(log_dir: Path) -> None:
    for path in (log_dir / DIRECTORY_NAME).glob("*.checkpoint"):
        path.unlink()


def described_partitions(text: str) -> dict[tuple[str, int], tuple[str, str, str, str, str]]:
    fields = ("Topic", "Partition", "Leader", "Replicas", "Isr", "Elr", "LastKnownElr")
    pattern = "^" + "".join(rf"\t{field}: (\S*)" for field in fields) + "$"
    return {(found[0], int(found[1])): found[2:] for found in re.findall(pattern, text, re.MULTILINE)}


def joined(ids: tuple[int, ...]) -> str:
    return ",".join(map(str, ids))


@pytest.mark.parametrize("node", NODES)
def test_the_image_describes_the_topics_as_kafka_does(golden, node):
    loaded = load_metadata(str(golden / "crashed" / f"broker-{node}"))
    text = (golden / "tools" / "topics-describe.out").read_text()
    described = {
        (topic.name, number): (
            str(partition.leader),
            joined(partition.replicas),
            joined(partition.isr),
            joined(partition.elr),
            joined(partition.last_known_elr),
        )
        for topic in loaded.image.topics.values()
        for number, partition in topic.partitions.items()
    }
    assert described == described_partitions(text)
    ids = dict(re.findall(r"^Topic: (\S+)\tTopicId: (\S+)", text, re.MULTILINE))
    assert {topic.name: topic.id for topic in loaded.image.topics.values()} == ids


@pytest.mark.parametrize("stopped", ["clean", "crashed"])
def test_every_snapshot_is_what_the_log_says(golden, stopped):
    directory = golden / stopped / "broker-2" / DIRECTORY_NAME
    image = load_file(str(directory / LOG)).image
    log = (directory / LOG).read_bytes()
    for path in sorted(directory.glob("*.checkpoint")):
        end, epoch = int(path.name[:20]), int(path.name[21:31])
        snapshot = read_snapshot(str(path))
        provenance = Provenance(end - 1, epoch, snapshot.last_contained_log_timestamp)
        assert replay(EMPTY, snapshot.records, provenance) == image_at(log, end, provenance), path.name
    assert image.topics


def image_at(log: bytes, end: int, provenance: Provenance):
    from kafkapy.formats.record_batch import HEADER_SIZE, decode_header
    from kafkapy.metadata.metadata_batch import decode_metadata

    records, position = [], 0
    while position < len(log):
        header = decode_header(log, position)
        if header.base_offset < end and not header.is_control:
            records += [
                record for _, record in decode_metadata(header, log[position + HEADER_SIZE : position + header.size])
            ]
        position += header.size
    return replay(EMPTY, records, provenance)


def test_with_and_without_snapshots_the_image_is_the_same(golden, crashed):
    with_snapshots = load_metadata(str(crashed))
    drop_snapshots(crashed)
    assert load_metadata(str(crashed)) == with_snapshots


def test_of_several_log_dirs_the_longest_log_of_the_last_epoch_wins(golden, crashed):
    log = crashed / DIRECTORY_NAME / LOG
    log.write_bytes(log.read_bytes() + encode_records([topic_record("new", ID)], 707, 2, 5))
    loaded = load_metadata(*(str(golden / "crashed" / f"broker-{node}") for node in NODES), str(crashed))
    assert (loaded.log_dir, loaded.end_offset, loaded.last_epoch) == (str(crashed), 708, 2)
    assert loaded.image.topics["new"].id == ID
    assert loaded.image.provenance == Provenance(707, 2, 5)


def test_the_epoch_to_write_with_is_the_highest_that_anyone_heard_of(golden, crashed):
    assert load_metadata(str(crashed)).write_epoch == 1
    state = crashed / DIRECTORY_NAME / "quorum-state"
    state.write_text(state.read_text().replace('"leaderEpoch":1', '"leaderEpoch":6'))
    assert load_metadata(str(golden / "crashed" / "broker-2"), str(crashed)).write_epoch == 6
    (crashed / DIRECTORY_NAME / "leader-epoch-checkpoint").write_text("0\n2\n1 0\n9 707\n")
    assert load_metadata(str(crashed)).write_epoch == 9


@pytest.mark.parametrize("cut", [1, 30, 70])
def test_a_torn_tail_ends_the_log(crashed, cut):
    whole = load_metadata(str(crashed))
    path = crashed / DIRECTORY_NAME / LOG
    batch = encode_records([topic_record("torn", ID)], whole.end_offset, 1, 0)
    path.write_bytes(path.read_bytes() + batch[:-cut])
    torn = load_metadata(str(crashed))
    assert torn == whole._replace(torn_bytes=len(batch) - cut)


def test_zeros_at_the_end_are_a_torn_tail(crashed):
    path = crashed / DIRECTORY_NAME / LOG
    path.write_bytes(path.read_bytes() + bytes(500))
    assert load_metadata(str(crashed)).torn_bytes == 500


def test_leftovers_of_a_crash_are_not_read(crashed):
    whole = load_metadata(str(crashed))
    directory = crashed / DIRECTORY_NAME
    (directory / "00000000000000000900-0000000009-123.checkpoint.part").write_bytes(b"half")
    (directory / "00000000000000000900-0000000009.checkpoint.deleted").write_bytes(b"gone")
    (directory / "00000000000000000700-0000000001.checkpoint").write_bytes(
        (directory / "00000000000000000680-0000000001.checkpoint").read_bytes()[:-20]
    )
    assert load_metadata(str(crashed)) == whole


def test_a_snapshot_ahead_of_the_log_replaces_it(crashed):
    image = load_metadata(str(crashed)).image
    records = (*image.to_records(), topic_record("only-here", ID))
    data = encode_snapshot(Snapshot(records, 123), 4, 456)
    write_snapshot(Files(sync=False), str(crashed / DIRECTORY_NAME), SnapshotId(700, 4), data)
    loaded = load_metadata(str(crashed))
    assert (loaded.end_offset, loaded.last_epoch, loaded.write_epoch) == (700, 4, 4)
    assert loaded.image.provenance == Provenance(699, 4, 123)
    assert "only-here" in loaded.image.topics
    assert (crashed / DIRECTORY_NAME / "00000000000000000700-0000000004.checkpoint").stat().st_mode & 0o777 == 0o400


def test_a_hole_between_snapshot_and_log_is_damage(crashed):
    drop_snapshots(crashed)
    path = crashed / DIRECTORY_NAME / LOG
    path.rename(path.with_name("00000000000000000900.log"))
    path.with_name("00000000000000000900.log").write_bytes(encode_records([topic_record("t", ID)], 900, 1, 0))
    with pytest.raises(DamagedFileError, match="offsets 0 to 900 are missing"):
        load_metadata(str(crashed))


def test_damage_before_the_last_segment_is_an_error(crashed):
    drop_snapshots(crashed)
    path = crashed / DIRECTORY_NAME / LOG
    path.write_bytes(path.read_bytes()[:-5])
    path.with_name("00000000000000000707.log").write_bytes(encode_records([topic_record("t", ID)], 707, 1, 0))
    with pytest.raises(DamagedFileError, match="torn or damaged, and segments follow"):
        load_metadata(str(crashed))


def test_a_record_that_does_not_fit_names_its_offset(crashed):
    path = crashed / DIRECTORY_NAME / LOG
    removal = MetadataRecord("RemoveTopicRecord", 0, {"topicId": ID})
    path.write_bytes(path.read_bytes() + encode_records([topic_record("t", "A" * 21 + "Q"), removal], 707, 1, 0))
    with pytest.raises(DamagedFileError, match="from offset 708: Unable to delete topic"):
        load_metadata(str(crashed))


def test_bootstrap_is_the_image_until_something_is_written(golden, tmp_path):
    shutil.copy(golden / "clean" / "broker-1" / "bootstrap.checkpoint", tmp_path)
    loaded = load_metadata(str(tmp_path))
    assert loaded.from_bootstrap
    assert (loaded.end_offset, loaded.last_epoch, loaded.write_epoch) == (0, 0, 0)
    assert loaded.image.features["metadata.version"] == 30
    (tmp_path / DIRECTORY_NAME).mkdir()
    (tmp_path / DIRECTORY_NAME / LOG).write_bytes(encode_control([leader_change(1, NODES, NODES)], 0, 3, 0))
    loaded = load_metadata(str(tmp_path))
    assert loaded.from_bootstrap
    assert (loaded.end_offset, loaded.last_epoch, loaded.write_epoch) == (1, 3, 3)


def test_no_metadata_is_none(tmp_path):
    assert load_metadata(str(tmp_path)) is None


def test_the_end_in_an_open_transaction_is_told(crashed):
    before = load_metadata(str(crashed))
    path = crashed / DIRECTORY_NAME / LOG
    begin = MetadataRecord("BeginTransactionRecord", 0, {"name": None})
    path.write_bytes(path.read_bytes() + encode_records([begin, topic_record("t", ID)], 707, 1, 0))
    loaded = load_metadata(str(crashed))
    assert (loaded.in_transaction, loaded.end_offset, loaded.image) == (True, 709, before.image)


def test_snapshots_keep_the_voters():
    voters = voters_value([voter(1, ID, "CONTROLLER", "localhost", 9093)])
    snapshot = Snapshot((topic_record("t", ID),), 77, 1, voters)
    assert decode_snapshot(encode_snapshot(snapshot, 3, 99)) == snapshot


def test_a_long_snapshot_has_several_batches():
    records = tuple(decode(encode(topic_record(f"t{number}", ID))) for number in range(2500))
    assert decode_snapshot(encode_snapshot(Snapshot(records), 0, 0)).records == records


def test_real_control_batches_come_out_byte_for_byte(golden):
    log = (golden / "crashed" / "broker-1" / DIRECTORY_NAME / LOG).read_bytes()
    assert log.startswith(encode_control([leader_change(1, NODES, [3, 1])], 0, 1, 1794799007716))


def test_a_batch_that_whole_ones_follow_is_damage_and_not_torn(crashed):
    whole = load_metadata(str(crashed))
    path = crashed / DIRECTORY_NAME / LOG
    behind = [encode_records([topic_record(name, ID)], 707 + at, 1, 0) for at, name in enumerate(("x", "y"))]
    position = path.stat().st_size
    path.write_bytes(path.read_bytes() + behind[0][:-1] + b"!" + behind[1])
    with pytest.raises(DamagedFileError, match=f"at byte {position}: .* whole ones follow it, up to offset 708$"):
        load_metadata(str(crashed))
    salvaged = salvage_metadata(str(crashed))
    assert (salvaged.image, salvaged.end_offset) == (whole.image, 707)


@pytest.mark.parametrize("batches", [1, 2])
def test_damage_is_found_also_behind_that_which_a_snapshot_makes_good(crashed, batches):
    """Of the last segment nothing can be read, and the one before it is damaged, too."""
    image = load_metadata(str(crashed)).image
    directory = crashed / DIRECTORY_NAME
    data = encode_snapshot(Snapshot(tuple(image.to_records()), 123), 1, 456)
    write_snapshot(Files(sync=False), str(directory), SnapshotId(707, 1), data)
    behind = [encode_records([topic_record(f"t{at}", ID)], 707 + at, 1, 0) for at in range(batches)]
    (directory / "00000000000000000707.log").write_bytes(behind[0][:-1] + b"!" + b"".join(behind[1:]))
    before = bytearray((directory / LOG).read_bytes())
    before[len(before) // 2] ^= 0xFF
    (directory / LOG).write_bytes(before)
    with pytest.raises(DamagedFileError, match=r"0707.log: damaged at byte 0: "):
        load_metadata(str(crashed))
    assert salvage_metadata(str(crashed)).image.topics == image.topics


def test_damage_is_no_loss_where_another_log_has_the_rest(golden, crashed):
    whole = load_metadata(str(golden / "crashed" / "broker-2"))
    drop_snapshots(crashed)
    path = crashed / DIRECTORY_NAME / LOG
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    assert load_metadata(str(crashed), str(golden / "crashed" / "broker-2")).image == whole.image


def test_a_snapshot_that_is_not_whole_tells_that_the_log_was_longer(crashed):
    (crashed / DIRECTORY_NAME / "00000000000000000900-0000000001.checkpoint").write_bytes(b"half")
    with pytest.raises(DamagedFileError, match="this snapshot is not whole, and without it the log ends at offset 707"):
        load_metadata(str(crashed))
