"""Metadata logs of several brokers: brought to the same bytes, appended to together, at an epoch nobody cuts off."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from kafkapy.backends.directory_format import make_cluster
from kafkapy.backends.metadata_writer import MetadataWriter
from kafkapy.errors import DamagedFileError, KafkapyError
from kafkapy.log.files import Files
from kafkapy.metadata.image import TOPIC, config_record
from kafkapy.metadata.metadata_batch import encode_records
from kafkapy.metadata.metadata_log import load_metadata
from kafkapy.metadata.records import new_record
from kafkapy.metadata.topics_image import topic_record
from tests.backends.contract import NOW, metadata_logs

FIRST_SEGMENT = "00000000000000000000.log"
TOPIC_ID = "4L6g3nShT-eMCtK--X86sw"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    make_cluster(str(tmp_path / "cluster"), 3, files=Files(sync=False))
    return tmp_path / "cluster"


def dirs(directory: Path) -> list[str]:
    return [str(path) for path in sorted(directory.glob("broker-*"))]


def writer(directory: Path) -> MetadataWriter:
    return MetadataWriter(dirs(directory), Files())


def log(directory: Path, broker: int) -> Path:
    return directory / f"broker-{broker}" / "__cluster_metadata-0" / FIRST_SEGMENT


def test_a_batch_goes_to_all_and_into_the_image(directory: Path) -> None:
    writing = writer(directory)
    assert writing.recovered == []
    writing.append([topic_record("t", TOPIC_ID), config_record(TOPIC, "t", "retention.ms", "5")], NOW)
    loaded = load_metadata(*dirs(directory))
    assert loaded is not None
    assert loaded.image == writing.image
    assert loaded.image.config(TOPIC, "t") == {"retention.ms": "5"}
    assert len(metadata_logs(directory)) == 1


@pytest.mark.parametrize("behind", [1, 2, 3])
def test_who_is_behind_is_brought_up(directory: Path, behind: int) -> None:
    before = log(directory, behind).read_bytes()
    writer(directory).append([topic_record("t", TOPIC_ID)], NOW)
    after = log(directory, behind).read_bytes()
    for size in (0, len(before), len(before) + 7):
        log(directory, behind).write_bytes(after[:size])
        again = writer(directory)
        assert "t" in again.image.topics
        assert len(again.recovered) == 1
        assert f"broker-{behind}" in again.recovered[0]
        assert metadata_logs(directory) == {after}


def test_a_batch_that_only_one_has_counts(directory: Path) -> None:
    """It was not acknowledged, but the quorum could elect the one that has it."""
    before = log(directory, 1).read_bytes()
    writer(directory).append([topic_record("t", TOPIC_ID)], NOW)
    for broker in (1, 3):
        log(directory, broker).write_bytes(before)
    again = writer(directory)
    assert "t" in again.image.topics
    assert len(metadata_logs(directory)) == 1


def test_a_torn_end_is_cut_off_everywhere(directory: Path) -> None:
    for mark in directory.glob("broker-*/.kafka_cleanshutdown"):
        mark.unlink()
    before = log(directory, 1).read_bytes()
    for broker in (1, 2, 3):
        (log(directory, broker).with_suffix(".index")).write_bytes(b"\x00\x00\x00\x09\x00\x00\x99\x99")
        with log(directory, broker).open("ab") as file:
            file.write(b"torn" * broker)
    writing = writer(directory)
    assert metadata_logs(directory) == {before}
    assert len(writing.recovered) == 3
    assert "4 bytes of an unfinished batch cut off" in writing.recovered[0]
    assert not list(directory.glob("broker-*/__cluster_metadata-0/*.index")), "they may point behind the end"


def test_a_torn_end_after_a_clean_stop_is_damage(directory: Path) -> None:
    """Nobody was writing: the batch was whole, and somebody was told that the change is done."""
    writer(directory).append([topic_record("t", TOPIC_ID)], NOW)
    for broker in (1, 2, 3):
        os.truncate(log(directory, broker), log(directory, broker).stat().st_size - 9)
    assert [*directory.glob("broker-*/.kafka_cleanshutdown")]
    with pytest.raises(DamagedFileError, match="the last batch is not whole, though nobody was writing"):
        writer(directory)


@pytest.mark.parametrize("damage", [b"\xaa", bytes(5000)])
def test_a_copy_that_is_damaged_in_the_middle_is_mended(directory: Path, damage: bytes) -> None:
    """Also far before its end: it would be of no use when the others are lost."""
    writing = writer(directory)
    for number in range(100):
        writing.append([config_record(TOPIC, f"t{number}", "retention.ms", "5")], NOW)
    whole = log(directory, 1).read_bytes()
    log(directory, 1).write_bytes(whole[:2000] + damage + whole[2000 + len(damage) :])
    (told,) = writer(directory).recovered
    assert told == f"{log(directory, 1)}: brought to the same {len(whole)} bytes as the others"
    assert metadata_logs(directory) == {whole}


def test_what_others_do_not_have_goes(directory: Path) -> None:
    stray = log(directory, 2).with_name("00000000000000000900.log")
    stray.write_bytes(b"")
    diverged = log(directory, 3)
    diverged.write_bytes(diverged.read_bytes() + bytes(5000))
    writer(directory)
    assert not stray.exists()
    assert len(metadata_logs(directory)) == 1


def test_the_epoch_is_the_highest_that_anybody_heard_of(directory: Path) -> None:
    state = '{"leaderId":2,"leaderEpoch":9,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}'
    log(directory, 2).with_name("quorum-state").write_text(state)
    writing = writer(directory)
    writing.append([topic_record("t", TOPIC_ID)], NOW)
    loaded = load_metadata(*dirs(directory))
    assert loaded is not None
    assert loaded.last_epoch == 9
    for broker in (1, 2, 3):
        epochs = log(directory, broker).with_name("leader-epoch-checkpoint").read_text().split("\n")
        assert epochs[-2] == f"9 {loaded.end_offset - 1}"


def test_an_unreadable_epoch_file_is_made_anew(directory: Path) -> None:
    log(directory, 1).with_name("leader-epoch-checkpoint").write_text("nonsense")
    writer(directory).append([topic_record("t", TOPIC_ID)], NOW)
    assert "nonsense" not in log(directory, 1).with_name("leader-epoch-checkpoint").read_text()


def test_an_open_transaction_is_aborted_first(directory: Path) -> None:
    loaded = load_metadata(*dirs(directory))
    assert loaded is not None
    records = [new_record("BeginTransactionRecord", 0, {}), topic_record("half", TOPIC_ID)]
    for broker in (1, 2, 3):
        with log(directory, broker).open("ab") as file:
            file.write(encode_records(records, loaded.end_offset, loaded.last_epoch, NOW))
    writing = writer(directory)
    writing.append([topic_record("whole", "AUludzFyTL24_qM6xSi5iQ")], NOW)
    assert set(writing.image.topics) == {"whole"}
    again = load_metadata(*dirs(directory))
    assert again is not None
    assert set(again.image.topics) == {"whole"}
    assert not again.in_transaction


def test_a_snapshot_without_a_log_is_gone_on_from(golden: Path, tmp_path: Path) -> None:
    directory = Path(shutil.copytree(golden / "clean", tmp_path / "cluster"))
    newest = sorted((directory / "broker-1" / "__cluster_metadata-0").glob("*.checkpoint"))[-1]
    for path in directory.glob("broker-*/__cluster_metadata-0/*"):
        if path.name != newest.name:
            path.unlink()
    os.unlink(directory / "broker-3" / "__cluster_metadata-0" / newest.name)
    writing = writer(directory)
    writing.append([topic_record("new", TOPIC_ID)], NOW)
    loaded = load_metadata(*dirs(directory))
    assert loaded is not None
    assert loaded.image == writing.image
    assert {"new", "orders"} <= set(loaded.image.topics)
    alone = load_metadata(str(directory / "broker-3"))
    assert alone is not None
    assert alone.image == writing.image, "who had no snapshot got it"


@pytest.mark.parametrize("leave", ["bootstrap.checkpoint", "nothing"])
def test_without_a_log_there_is_nothing_to_write_to(directory: Path, leave: str) -> None:
    for path in directory.glob("broker-*/__cluster_metadata-0"):
        shutil.rmtree(path)
    if leave == "nothing":
        for path in directory.glob("broker-*/bootstrap.checkpoint"):
            path.unlink()
    with pytest.raises(KafkapyError, match="there is no metadata log to write to"):
        writer(directory)
