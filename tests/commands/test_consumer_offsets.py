"""``kafkapy consumer-offsets``: what coordinators wrote, out of the internal topics' files."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.formats.coordinator_record import GROUP, CoordinatorRecord, encode_record
from kafkapy.formats.record_batch import Record, encode_batch
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic
from tests.commands.running import dirs, printed, run

OFFSETS = "__consumer_offsets"
Capture = pytest.CaptureFixture[str]


def commit(group: str, topic: str, partition: int, version: int = 4, **value: object) -> tuple[bytes, bytes | None]:
    key = {"group": group, "topic": topic, "partition": partition}
    given = {"offset": 20, "metadata": "", "commitTimestamp": 1598188355048, **value}
    return encode_record(GROUP, CoordinatorRecord("OffsetCommit", key, version, given))


def tombstone(group: str, topic: str, partition: int) -> tuple[bytes, bytes | None]:
    return commit(group, topic, partition)[0], None


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Commits of some groups in the two partitions that keep them, a batch a time, and records that nobody can read."""
    path = tmp_path_factory.mktemp("offsets") / "cluster"
    make_cluster(str(path), 1, files=Files(sync=False))
    cluster = DirectoryCluster(str(path), Files(sync=False))
    cluster.apply(CreateTopic(OFFSETS, 2, 1))
    batches: dict[int, list[list[tuple[bytes, bytes | None]]]] = {
        0: [
            [commit("d", "a", 0), commit("d", "a", 1, 1, expireTimestamp=1598274755048)],
            [commit("d", "b", 0, metadata="m"), commit("h", "a", 0)],
            [tombstone("d", "a", 0)],
        ],
        1: [[commit("i", "a", 1)], [(b"\x00\x63what", b"?"), (commit("i", "a", 2)[0], b"\x00\x04\x00")]],
    }
    for number, written in batches.items():
        for at, records in enumerate(written):
            encoded = encode_batch([Record(n, 1000 + at, *record) for n, record in enumerate(records)])
            cluster.append(TopicPartition(OFFSETS, number), encoded)
    cluster.close()
    return path


def shown(capfd: Capture, directory: Path, *args: str) -> list[tuple[str, str, int]]:
    done = run(capfd, "consumer-offsets", "--cluster", directory, *args)
    keys = (json.loads(line)["key"]["data"] for line in done.lines)
    return [(key["group"], key["topic"], key["partition"]) for key in keys]


def test_legacy_lines(capfd: Capture, directory: Path) -> None:
    done = run(capfd, "consumer-offsets", "--cluster", directory, "--format", "legacy", "--group", "d", "--topic", "a")
    line = (
        "[d,a,0]::OffsetAndMetadata(offset=20, leaderEpoch=Optional.empty, metadata=, commitTimestamp=1598188355048, "
        "expireTimestamp=None)"
    )
    assert done.lines[0] == line
    assert done.lines[1].endswith("expireTimestamp=Some(1598274755048))")
    assert done.lines[2:] == ["[d,a,0]::NULL"]


def test_lines_of_kafka_1_0(capfd: Capture, directory: Path) -> None:
    done = run(capfd, "consumer-offsets", "--cluster", directory, "--format", "1.0", "--group", "d", "--partition", "1")
    assert done.lines == [
        "[d,a,1]::[OffsetMetadata[20,NO_METADATA],CommitTime 1598188355048,ExpirationTime 1598274755048]"
    ]


def test_damage_is_told_and_stepped_over(capfd: Capture, directory: Path) -> None:
    done = run(capfd, "consumer-offsets", "--cluster", directory)
    assert done.code == 1
    assert len(done.lines) == 6
    assert done.err.splitlines() == [
        "kafkapy: __consumer_offsets-1 at offset 1: Found an unknown record type 99",
        "kafkapy: __consumer_offsets-1 at offset 2: Could not read record with version 4 from value's buffer due to: "
        "null.",
    ]


def test_rows_skip_the_same(capfd: Capture, directory: Path) -> None:
    done = run(capfd, "consumer-offsets", "--cluster", directory, "--output", "jsonl")
    assert done.code == 1
    assert len(done.err.splitlines()) == 2
    assert [(row["group"], row["topic"], row["partition"], row["deleted"]) for row in done.rows] == [
        ("d", "a", 0, False), ("d", "a", 1, False), ("d", "b", 0, False), ("h", "a", 0, False), ("d", "a", 0, True),
        ("i", "a", 1, False),
    ]  # fmt: skip
    assert done.rows[2]["metadata"] == "m"
    assert done.rows[4]["offset"] is None
    assert [(row["log_partition"], row["log_offset"]) for row in done.rows[-2:]] == [(0, 4), (1, 0)]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (("--group", "h"), [("h", "a", 0)]),
        (("--group", "h", "--group", "i", "--partition", "1"), [("i", "a", 1)]),
        (("--topic", "b"), [("d", "b", 0)]),
        (("--topic", "a", "--partition", "0", "--group", "d"), [("d", "a", 0), ("d", "a", 0)]),
        (("--from-time", "1002", "--group", "d"), [("d", "a", 0)]),
        (("--from-time", "1001", "--to-time", "1001", "--group", "d"), [("d", "b", 0)]),
        (("--to-time", "1970-01-01T00:00:01Z", "--group", "i"), [("i", "a", 1)]),
        (("--group", "nobody"), []),
    ],
)
def test_filters(capfd: Capture, directory: Path, args: tuple[str, ...], expected: list[tuple[str, str, int]]) -> None:
    assert shown(capfd, directory, *args) == expected


def test_a_filter_spares_what_it_leaves_out(capfd: Capture, directory: Path) -> None:
    """A record of another group is not looked into, so its damage is none of ours."""
    done = run(capfd, "consumer-offsets", "--cluster", directory, "--group", "d")
    assert "offset 2" not in done.err


def test_a_batch_that_fails_its_checksum_is_stepped_over(capfd: Capture, directory: Path, tmp_path: Path) -> None:
    copy = tmp_path / "cluster"
    shutil.copytree(directory, copy)
    (log,) = copy.glob(f"*/{OFFSETS}-0/*.log")
    data = bytearray(log.read_bytes())
    data[data.index(b"a", 61)] ^= 1
    log.write_bytes(data)
    log.with_name(f"{5:020d}.log").touch()  # a later segment: in the last one, damage is where the log ends
    done = run(capfd, "consumer-offsets", "--cluster", copy, "--format", "legacy")
    assert done.code == 1
    assert f"kafkapy: {log}: damaged at byte 0: Record is corrupt" in done.err
    assert done.lines[0].startswith("[d,b,0]::")


def test_nothing_was_ever_committed(capfd: Capture, tmp_path: Path) -> None:
    make_cluster(str(tmp_path / "cluster"), 1, files=Files(sync=False))
    assert run(capfd, "consumer-offsets", "--cluster", tmp_path / "cluster", "--records", "all") == (0, "", "")


@pytest.mark.parametrize("kind", ["offsets", "groups", "transactions"])
def test_what_kafka_2_8_printed(capfd: Capture, zk_era: Path, kind: str) -> None:
    done = run(capfd, "consumer-offsets", "--log-dirs", dirs(zk_era), "--records", kind, "--format", "legacy")
    expected = printed(zk_era, f"format-{kind}")
    assert (done.code, done.err) == (0, "")
    # the tools' own groups were written to after they had printed
    later = {line for line in done.lines if line.startswith("console-consumer-")} - set(expected)
    assert sorted(set(done.lines) - later) == sorted(expected)


def test_all_records_in_one_run(capfd: Capture, zk_era: Path) -> None:
    lines: list[str] = []
    for kind in ("offsets", "groups", "transactions"):
        lines += run(capfd, "consumer-offsets", "--log-dirs", dirs(zk_era), "--records", kind).lines
    done = run(capfd, "consumer-offsets", "--log-dirs", dirs(zk_era), "--records", "all")
    assert sorted(done.lines) == sorted(lines)
    rows = run(capfd, "consumer-offsets", "--log-dirs", dirs(zk_era), "--records", "all", "--output", "jsonl").rows
    assert len(rows) == len(lines)
    assert {row["type"] for row in rows} == {"offset_commit", "group_metadata", "transaction"}


def test_records_of_every_kind_of_group(capfd: Capture, golden: Path) -> None:
    done = run(capfd, "consumer-offsets", "--log-dirs", dirs(golden), "--records", "groups", "--output", "jsonl")
    assert done.code == 0
    names = {row["record"] for row in done.rows if row["type"] == "group_record"}
    assert {"ConsumerGroupMetadata", "ShareGroupMetadata", "ShareGroupStatePartitionMetadata"} <= names
    member = next(row for row in done.rows if row.get("record") == "ConsumerGroupMemberMetadata" and not row["deleted"])
    assert member["part"]
    assert member["value"]["subscribedTopicNames"]


@pytest.mark.parametrize(("group", "partition"), [("console-consumer-90277", 26), ("console-consumer-49366", 19)])
def test_which_partition_without_a_cluster(
    capfd: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: str, partition: int
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KAFKAPY_CLUSTER", raising=False)
    assert run(capfd, "consumer-offsets", "--which-partition", group) == (0, f"{partition}\n", "")


def test_which_partition_of_a_cluster(capfd: Capture, golden: Path, directory: Path) -> None:
    rows = run(capfd, "consumer-offsets", "--log-dirs", dirs(golden), "--group", "billing", "--output", "jsonl").rows
    places = {row["log_partition"] for row in rows}
    asked = run(capfd, "consumer-offsets", "--log-dirs", dirs(golden), "--which-partition", "billing")
    assert {int(asked.out)} == places
    two = run(capfd, "consumer-offsets", "--cluster", directory, "--which-partition", "a", "--which-partition", "b")
    assert two.lines == ["1", "0"]


def test_which_partition_of_so_many(capfd: Capture) -> None:
    args = ("--which-partition", "hspec-cons", "--partition-count", "4", "--output", "jsonl")
    assert run(capfd, "consumer-offsets", *args).rows == [
        {"type": "group_partition", "group": "hspec-cons", "topic": OFFSETS, "partition": 1}
    ]


def test_a_group_is_looked_for_in_its_partition_only(capfd: Capture, directory: Path) -> None:
    """The damage of the other partition is not met, and not told."""
    done = run(capfd, "consumer-offsets", "--cluster", directory, "--group", "d", "--group", "h")
    assert (done.code, done.err, len(done.lines)) == (0, "", 5)
    assert run(capfd, "consumer-offsets", "--cluster", directory, "--group", "d", "--group", "i").code == 1


def test_without_a_metadata_log_a_group_may_be_anywhere(capfd: Capture, zk_era: Path) -> None:
    """The directories of some brokers do not tell how many partitions there are."""
    every = run(capfd, "consumer-offsets", "--log-dirs", dirs(zk_era), "--output", "jsonl").rows
    for group in {row["group"] for row in every}:
        done = run(capfd, "consumer-offsets", "--log-dirs", dirs(zk_era), "--group", group, "--output", "jsonl")
        assert done.rows == [row for row in every if row["group"] == group]


def test_each_group_of_real_brokers_is_found(capfd: Capture, golden: Path) -> None:
    every = run(capfd, "consumer-offsets", "--log-dirs", dirs(golden), "--records", "all", "--output", "jsonl").rows
    for option, field in (("--group", "group"), ("--transactional-id", "transactional_id")):
        for found in {row[field] for row in every if field in row}:
            args = ("--log-dirs", dirs(golden), "--records", "all", option, found, "--output", "jsonl")
            done = run(capfd, "consumer-offsets", *args)
            assert (done.code, done.rows) == (0, [row for row in every if row.get(field) == found])


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (("--group", "nobody"), "--group nobody"),
        (("--topic", "a", "--topic", "z", "--partition", "9"), "--topic a --topic z --partition 9"),
        (("--from-time", "9000", "--to-time", "8000", "--group", "d"), "--group d --from-time 9000 --to-time 8000"),
        (("--records", "transactions", "--transactional-id", "t"), "--transactional-id t"),
        (("--records", "groups", "--group", "h"), "--group h"),
    ],
)
def test_what_fits_nothing_is_told(capfd: Capture, golden: Path, args: tuple[str, ...], text: str) -> None:
    note = f"kafkapy: no record matches {text}\n"
    assert run(capfd, "consumer-offsets", "--log-dirs", dirs(golden), *args) == (0, "", note)
    csv = run(capfd, "consumer-offsets", "--log-dirs", dirs(golden), *args, "--output", "csv")
    assert (csv.code, len(csv.lines), csv.out[:5], csv.err) == (0, 1, "type,", note)
    table = run(capfd, "consumer-offsets", "--log-dirs", dirs(golden), *args, "--output", "table")
    assert table == (0, "(no rows)\n", note)


def test_each_kind_has_one_header(capfd: Capture, golden: Path) -> None:
    args = ("consumer-offsets", "--log-dirs", dirs(golden), "--records", "all", "--output")
    kinds = [line.split(",")[0] for line in run(capfd, *args, "csv").lines]
    runs = [kind for number, kind in enumerate(kinds) if number == 0 or kind != kinds[number - 1]]
    assert runs == ["type", "offset_commit", "type", "group_metadata", "type", "group_record", "type", "transaction"]
    rows = run(capfd, *args, "jsonl").rows
    assert sorted(row["type"] for row in rows) == sorted(kind for kind in kinds if kind != "type")


def bad_usages() -> Iterator[tuple[str, ...]]:
    yield "--format", "legacy", "--output", "json"
    yield "--records", "transactions", "--group", "d"
    yield "--from-time", "yesterday"
    yield "--which-partition", "g", "--partition-count", "0"
    yield "--which-partition", "g", "--group", "h"
    yield "--which-partition", "g", "--format", "legacy"
    yield "--which-partition", ""
    yield "--partition-count", "50"
    yield "--transactional-id", "t"
    yield "--records", "groups", "--transactional-id", "t"


@pytest.mark.parametrize("args", list(bad_usages()))
def test_bad_usage(capfd: Capture, args: tuple[str, ...]) -> None:
    done = run(capfd, "consumer-offsets", *args)
    assert (done.code, done.out) == (2, "")
