"""log-dirs and delete-records against what Kafka's own tools printed."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from kafkapy.backends.directory_format import make_cluster
from kafkapy.errors import KafkaError
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.delete_records_file import EXAMPLE, parse_offsets
from tests.commands.running import dirs, printed, run

Capture = pytest.CaptureFixture[str]


def in_order(line: str) -> dict[str, Any]:
    """The JSON with partitions in order, and without the parents of the log dirs."""
    document: dict[str, Any] = json.loads(line)
    for broker in document["brokers"]:
        for log_dir in broker["logDirs"]:
            log_dir["partitions"].sort(key=lambda each: each["partition"])
            log_dir["logDir"] = Path(log_dir["logDir"]).name
    return document


@pytest.mark.parametrize(
    ("args", "name"),
    [([], "log-dirs"), (["--topic-list", "orders", "--broker-list", "1"], "log-dirs-topics")],
)
def test_the_lines_are_kafkas(capfd: Capture, golden: Path, args: list[str], name: str) -> None:
    """Of the topics that were not written to between Kafka's answer and the crash."""
    done = run(capfd, "log-dirs", "--log-dirs", dirs(golden, "crashed"), "--describe", *args)
    wanted = printed(golden, name)
    assert done.code == 0
    assert done.lines[:2] == wanted[:2]
    assert _settled(in_order(done.lines[2])) == _settled(in_order(wanted[2]))


def _settled(document: dict[str, Any]) -> dict[str, Any]:
    for broker in document["brokers"]:
        for log_dir in broker["logDirs"]:
            kept = [each for each in log_dir["partitions"] if not each["partition"].startswith(("__", "tx-"))]
            log_dir["partitions"] = kept
    return document


def test_the_text_of_the_json_is_kafkas(capfd: Capture, golden: Path) -> None:
    args = ("--describe", "--topic-list", "orders", "--broker-list", "1")
    done = run(capfd, "log-dirs", "--log-dirs", dirs(golden, "crashed"), *args)
    parent = str(golden / "crashed") + "/"
    assert done.out.replace(parent, "").splitlines() == printed(golden, "log-dirs-topics")


def test_an_unknown_broker(capfd: Capture, golden: Path) -> None:
    done = run(capfd, "log-dirs", "--log-dirs", dirs(golden), "--describe", "--broker-list", "9,1,8")
    error = "ERROR: The given brokers do not exist from --broker-list: 9,8. Current existent brokers: 1,2,3\n"
    assert done == (1, "", error)


def test_describe_is_required(capfd: Capture, golden: Path) -> None:
    done = run(capfd, "log-dirs", "--log-dirs", dirs(golden))
    assert done.code == 2
    assert 'Missing required argument "[describe]"' in done.err


def test_rows(capfd: Capture, golden: Path) -> None:
    args = ("--describe", "--topic-list", "orders", "--broker-list", "1", "--output", "jsonl")
    rows = run(capfd, "log-dirs", "--log-dirs", dirs(golden, "crashed"), *args).rows
    assert [(row["broker_id"], row["topic"], row["partition"], row["size"]) for row in rows] == [
        (1, "orders", 0, 7154),
        (1, "orders", 2, 9304),
    ]


def test_a_zookeeper_cluster_and_a_dir_without_its_meta_properties(
    capfd: Capture, zk_era: Path, tmp_path: Path
) -> None:
    saved = tmp_path / "saved"
    shutil.copytree(zk_era / "clean" / "broker-2", saved)
    (saved / "meta.properties").unlink()
    done = run(capfd, "log-dirs", "--log-dirs", f"{zk_era / 'clean' / 'broker-1'},{saved}", "--describe")
    assert done.lines[1] == "Received log directory information from brokers 1,unknown"
    assert [broker["broker"] for broker in json.loads(done.lines[2])["brokers"]] == [1, None]


def test_delete_records(capfd: Capture, tmp_path: Path) -> None:
    cluster, offsets = tmp_path / "cluster", tmp_path / "offsets.json"
    make_cluster(str(cluster), 1, files=Files(False))
    where = ("--cluster", cluster, "--no-fsync")
    run(capfd, "topics", *where, "--create", "--topic", "orders", "--partitions", "2")
    entries = [{"topic": "orders", "partition": 0, "offset": -1}, {"topic": "orders", "partition": 1, "offset": 7}]
    offsets.write_text(json.dumps({"partitions": entries, "version": 1}))
    done = run(capfd, "delete-records", *where, "--offset-json-file", offsets)
    assert done.code == 1
    assert done.lines[:3] == [
        "Executing records delete operation",
        "Records delete operation completed:",
        "partition: orders-0\tlow_watermark: 0",
    ]
    assert done.lines[3].startswith(
        "partition: orders-1\terror: org.apache.kafka.common.errors.OffsetOutOfRangeException: "
    )


def test_duplicates_stop_everything(capfd: Capture, golden: Path, tmp_path: Path) -> None:
    offsets = tmp_path / "offsets.json"
    offsets.write_text(json.dumps({"partitions": [{"topic": "t", "partition": 0, "offset": 1}] * 2}))
    done = run(capfd, "delete-records", "--log-dirs", dirs(golden), "--offset-json-file", offsets)
    assert (done.code, done.out) == (1, "")
    told = done.err.splitlines()
    assert told[0] == "Offset json file contains duplicate topic partitions: t-0"
    assert told[1:] == [f"kafkapy: {offsets}: the file should look like {EXAMPLE}"], "Kafka does not say which file"


def test_a_good_file() -> None:
    data = b'{"partitions": [{"topic": "t", "partition": 3, "offset": -1}]}'
    assert parse_offsets(data) == {TopicPartition("t", 3): -1}


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"{", "The input string is not a valid JSON"),
        (b"\xff", "The input string is not a valid JSON"),
        (b"[]", "not a JSON object"),
        (b"{}", "Missing partitions field"),
        (b'{"partitions": [], "version": 2}', "Not supported version field value 2"),
        (b'{"partitions": {}}', "not a list"),
        (b'{"partitions": [1]}', "topic is missing or wrong"),
        (b'{"partitions": [{"topic": "t", "partition": true, "offset": 1}]}', "partition is missing or wrong"),
        (b'{"partitions": [{"topic": "t", "partition": 0, "offset": "1"}]}', "offset is missing or wrong"),
    ],
)
def test_bad_files(data: bytes, error: str) -> None:
    with pytest.raises(KafkaError, match=error):
        parse_offsets(data)
