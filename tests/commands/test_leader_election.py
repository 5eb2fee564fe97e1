"""leader-election on a cluster directory: each partition for itself, in the words of LeaderElectionCommand."""

import json
import re
from pathlib import Path

import pytest

from kafkapy.backends import failures
from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.backends.leader_election import elect_leaders
from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.errors import KafkaError
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic, Reassign, RemoveBroker
from kafkapy.metadata.elections import PREFERRED
from kafkapy.metadata.leader_election_file import EXAMPLE, parse_partitions
from tests.backends.contract import batch
from tests.commands.running import Done, dirs, printed, run

Capture = pytest.CaptureFixture[str]
ERRORS = "org.apache.kafka.common.errors"


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    """Of a-0, a-1 and b-0 the preferred replica is not the leader; c-0 is as it should be; d-0 has no leader."""
    directory = tmp_path / "cluster"
    make_cluster(str(directory), 3, files=Files(sync=False))
    opened = DirectoryCluster(str(directory), Files(sync=False))
    opened.apply(CreateTopic("d", assignments=((2,),)))
    opened.apply(RemoveBroker(2))
    opened.apply(CreateTopic("a", assignments=((1, 2), (2, 3))), CreateTopic("b", assignments=((3, 1),)))
    opened.apply(CreateTopic("c", assignments=((2, 1),)))
    opened.apply(Reassign("a", 0, (2, 1)), Reassign("a", 1, (3, 2)), Reassign("b", 0, (1, 3)))
    opened.close()
    return directory


def elect(capfd: Capture, cluster: Path, election: str, *args: str | Path) -> Done:
    return run(capfd, "leader-election", "--cluster", cluster, "--no-fsync", "--election-type", election, *args)


def leaders(cluster: Path) -> dict[str, int]:
    image = LogDirsCluster(*(str(path) for path in sorted(cluster.glob("broker-*")))).image()
    return {f"{topic.name}-{n}": each.leader for topic in image.topics.values() for n, each in topic.partitions.items()}


def test_where_it_begins(cluster: Path) -> None:
    assert leaders(cluster) == {"a-0": 1, "a-1": 2, "b-0": 3, "c-0": 2, "d-0": -1}


def test_all_partitions_that_need_it(capfd: Capture, cluster: Path, golden: Path) -> None:
    """As in the golden output, the line has no more than the partitions that changed."""
    done = elect(capfd, cluster, "preferred", "--all-topic-partitions")
    line = "Successfully completed leader election (PREFERRED) for partitions a-0, a-1, b-0, d-0"
    assert done == (0, line + "\n", "")
    assert leaders(cluster) == {"a-0": 2, "a-1": 3, "b-0": 1, "c-0": 2, "d-0": 2}
    (kafkas,) = printed(golden, "leader-election-preferred")
    assert re.sub(r"[\w.]+-\d+", "P", line).split(", ")[0] == re.sub(r"[\w.]+-\d+", "P", kafkas).split(", ")[0]
    assert elect(capfd, cluster, "preferred", "--all-topic-partitions") == (0, "", "")


def test_one_partition(capfd: Capture, cluster: Path) -> None:
    args = ("Preferred", "--topic", "a", "--partition", "1")
    assert elect(capfd, cluster, *args).lines == [
        "Successfully completed leader election (PREFERRED) for partitions a-1"
    ]
    assert elect(capfd, cluster, *args) == (0, "Valid replica already elected for partitions a-1\n", "")
    assert (leaders(cluster)["a-0"], leaders(cluster)["a-1"]) == (1, 3)


def test_unclean_elections_are_for_partitions_without_a_leader(capfd: Capture, cluster: Path) -> None:
    assert elect(capfd, cluster, "UNCLEAN", "--topic", "a", "--partition", "0").lines == [
        "Valid replica already elected for partitions a-0"
    ]
    assert elect(capfd, cluster, "unclean", "--all-topic-partitions").lines == [
        "Successfully completed leader election (UNCLEAN) for partitions d-0"
    ]
    assert leaders(cluster)["d-0"] == 2


def test_what_an_unclean_election_loses_is_told(capfd: Capture, tmp_path: Path) -> None:
    """Broker 3 comes back alone: offset 1, which 1 and 2 have, and offset 2, which only broker 2 has, are lost."""
    directory = tmp_path / "lossy"
    features = {"eligible.leader.replicas.version": 0}
    make_cluster(str(directory), 3, wanted=features, files=Files(sync=False))
    opened = DirectoryCluster(str(directory), Files(sync=False))
    opened.apply(CreateTopic("t", assignments=((1, 2, 3),)), CreateTopic("u", assignments=((1, 2, 3),)))
    partition = TopicPartition("t", 0)
    opened.append(partition, batch(b"a"))
    failures.stop_broker(opened, 3)
    opened.append(partition, batch(b"b"))
    failures.kill_broker(opened, 1)
    opened.append(partition, batch(b"c"))
    failures.kill_broker(opened, 2)
    failures.start_broker(opened, 3)
    opened.close()
    done = elect(capfd, directory, "unclean", "--all-topic-partitions")
    assert done == (
        0,
        "Successfully completed leader election (UNCLEAN) for partitions t-0, u-0\n",
        "kafkapy: t-0: lost 2 offsets, 1 to 2, which broker 1,2 has: broker 3, which was not in sync, now leads\n",
    )
    assert leaders(directory) == {"t-0": 3, "u-0": 3}


def test_each_partition_of_a_file_is_answered_for_itself(capfd: Capture, cluster: Path, tmp_path: Path) -> None:
    file = tmp_path / "partitions.json"
    wanted = [("b", 0), ("none", 0), ("a", 7), ("c", 0), ("a", 0)]
    file.write_text(json.dumps({"partitions": [{"topic": topic, "partition": number} for topic, number in wanted]}))
    done = elect(capfd, cluster, "preferred", "--path-to-json-file", file)
    error = f"{ERRORS}.UnknownTopicOrPartitionException: No such"
    assert done.code == 1
    assert done.lines == [
        "Successfully completed leader election (PREFERRED) for partitions a-0, b-0",
        "Valid replica already elected for partitions c-0",
        f"Error completing leader election (PREFERRED) for partition: a-7: {error} partition as a-7",
        f"Error completing leader election (PREFERRED) for partition: none-0: {error} topic as none",
    ]
    assert done.err == "kafkapy: there is no partition a-7; there are 0, 1\n2 replica(s) could not be elected\n"
    assert (leaders(cluster)["a-0"], leaders(cluster)["b-0"]) == (2, 1)


def test_rows(capfd: Capture, cluster: Path) -> None:
    done = elect(capfd, cluster, "preferred", "--all-topic-partitions", "--output", "jsonl")
    assert done.code == 0
    assert done.rows[0] == {
        "type": "leader_election",
        "topic": "a",
        "partition": 0,
        "election": "preferred",
        "result": "elected",
        "leader": 2,
        "error": None,
    }
    done = elect(capfd, cluster, "preferred", "--topic", "x", "--partition", "0", "--output", "jsonl")
    assert (done.code, done.rows[0]["result"], done.rows[0]["leader"]) == (1, "failed", None)


def test_a_preferred_leader_that_is_not_in_sync(cluster: Path) -> None:
    """Of many elections in one, what is refused does not keep the others back."""
    opened = DirectoryCluster(str(cluster), Files(sync=False))
    opened.apply(RemoveBroker(1))
    results = elect_leaders(opened, PREFERRED)
    opened.close()
    assert [(str(each.partition), each.leader, each.is_failure) for each in results] == [
        ("a-1", 3, False),
        ("b-0", 3, True),
        ("d-0", 2, False),
    ]
    (failed,) = [each.error for each in results if each.error is not None]
    assert (failed.name, str(failed)) == (
        "PreferredLeaderNotAvailableException",
        "The preferred leader was not available.",
    )


def test_log_dirs_are_read_only(capfd: Capture, golden: Path) -> None:
    args = ("--election-type", "preferred", "--topic", "orders", "--partition", "0")
    done = run(capfd, "leader-election", "--log-dirs", dirs(golden, "crashed"), *args)
    assert done.code == 1
    assert "is not supported by --log-dirs" in done.err


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (["--topic", "a"], "Missing required option(s): election-type"),
        (["--election-type", "preferred"], "One and only one of the following options is required: topic, all-topic-"),
        (["--election-type", "preferred", "--topic", "a"], "Missing required option(s): partition"),
        (
            ["--election-type", "preferred", "--all-topic-partitions", "--partition", "0"],
            "Option partition is only allowed if topic is used",
        ),
        (["--election-type", "preferred", "--all-topic-partitions", "--topic", "a"], "One and only one of the foll"),
        (["--election-type", "dirty", "--all-topic-partitions"], "dirty"),
    ],
)
def test_usage(capfd: Capture, args: list[str], error: str) -> None:
    done = run(capfd, "leader-election", *args)
    assert done.code == 2
    assert error in done.err


def test_a_bad_file_changes_nothing(capfd: Capture, cluster: Path, tmp_path: Path) -> None:
    file = tmp_path / "partitions.json"
    file.write_text(json.dumps({"partitions": [{"topic": "a", "partition": 0}] * 2}))
    done = elect(capfd, cluster, "preferred", "--path-to-json-file", file)
    assert (done.code, done.out) == (1, "")
    told = done.err.splitlines()
    assert told[0] == "Replica election data contains duplicate partitions: [a-0]"
    assert told[1:] == [f"kafkapy: {file}: the file should look like {EXAMPLE}"]


def test_a_good_file() -> None:
    data = b'{"partitions": [{"topic": "b", "partition": 1}, {"topic": "a", "partition": 3}]}'
    assert parse_partitions(data) == [TopicPartition("a", 3), TopicPartition("b", 1)]


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", "Replica election data is empty"),
        (b" \n", "Replica election data is empty"),
        (
            b"{",
            "Replica election data is not JSON: Expecting property name enclosed in double quotes: line 1 column 2 "
            "(char 1)",
        ),
        (b"[1, 2]", "Expected JSON object, received [1,2]"),
        (b"{}", 'Replica election data is missing "partitions" field'),
        (b'{"partitions": 1}', "Expected JSON array, received 1"),
        (b'{"partitions": [1]}', "Expected JSON object, received 1"),
        (b'{"partitions": [{"topic": "t"}]}', "No such field exists: `partition`"),
        (b'{"partitions": [{"topic": 1, "partition": 0}]}', "Expected `String` value, received 1"),
        (b'{"partitions": [{"topic": "t", "partition": "0"}]}', 'Expected `Integer` value, received "0"'),
        (b'{"partitions": [{"topic": "t", "partition": 3000000000}]}', "Expected `Integer` value, received 3000000000"),
    ],
)
def test_bad_files(data: bytes, error: str) -> None:
    with pytest.raises(KafkaError) as refused:
        parse_partitions(data)
    assert str(refused.value) == error
