"""The running cluster that the other tests stand on: Kafka's tools, clients that stay, and brokers that go."""

from __future__ import annotations

import re

import pytest

from tests.live_clients import GroupKind, Sent
from tests.live_kafka import LiveKafka
from tests.live_pairs import Pair, check, pair, same
from tests.tool_server import tool_class

DESCRIBERS = {
    "classic": "ConsumerGroupCommand",
    "consumer": "ConsumerGroupCommand",
    "share": "ShareGroupCommand",
    "streams": "StreamsGroupCommand",
}


def on(live: LiveKafka, *args: str) -> tuple[str, ...]:
    return ("--bootstrap-server", live.bootstrap, *args)


def test_a_tool_prints_to_stdout_and_exits(live: LiveKafka) -> None:
    topic = live.create_topic(partitions=2, replicas=3, configs={"retention.ms": "-1"})
    done = live.kafka("TopicCommand", *on(live, "--describe", "--topic", topic))
    assert (done.code, done.err) == (0, "")
    assert f"Topic: {topic}\t" in done.out
    assert len(done.lines) == 3


def test_a_tool_that_fails_has_its_exit_code_and_its_errors(live: LiveKafka) -> None:
    done = live.kafka("TopicCommand", *on(live, "--describe", "--topic", "not-there"))
    assert done.code == 1
    assert "Error while executing topic command" in done.out + done.err


def test_what_a_tool_prints_once_it_has_exited_is_dropped(live: LiveKafka) -> None:
    """ConfigCommand catches every error, also the one by which it is stopped when it exits."""
    done = live.kafka("ConfigCommand", *on(live, "--describe", "--alter"))
    assert done.code == 1
    assert "Error while executing" not in done.err


def test_a_tool_that_ends_the_jvm_itself_has_its_exit_code(live: LiveKafka) -> None:
    done = live.kafka("ClusterTool", "no-such-thing")
    assert done.code == 1
    assert "no-such-thing" in done.err
    assert live.kafka("ClusterTool", "cluster-id", *on(live)).out.startswith("Cluster ID: ")


def test_a_tool_that_takes_too_long_is_ended_and_the_next_one_runs(live: LiveKafka) -> None:
    topic = live.create_topic()
    live.produce(topic, ["first"])
    options = on(live, "--topic", topic, "--from-beginning")
    endless = live.kafka("ConsoleConsumer", *options, timeout_s=8)
    assert endless.timed_out
    assert endless.out == "first\n"
    assert live.kafka("ConsoleConsumer", *options, "--max-messages", "1").code == 0


def test_a_tool_reads_its_standard_input(live: LiveKafka) -> None:
    topic = live.create_topic()
    assert live.kafka("ConsoleProducer", *on(live, "--topic", topic), stdin="one\ntwö\n").code == 0
    done = live.kafka("ConsoleConsumer", *on(live, "--topic", topic, "--from-beginning", "--max-messages", "2"))
    assert done.out == "one\ntwö\n"
    assert "Processed a total of 2 messages" in done.err


@pytest.mark.parametrize(
    "tool",
    [
        "AclCommand", "BrokerApiVersionsCommand", "ClientMetricsCommand", "ClusterTool", "ConfigCommand",
        "ConsoleConsumer", "ConsoleProducer", "ConsumerGroupCommand", "DelegationTokenCommand", "DeleteRecordsCommand",
        "FeatureCommand", "GetOffsetShell", "GroupsCommand", "LeaderElectionCommand", "LogDirsCommand",
        "MetadataQuorumCommand", "ReassignPartitionsCommand", "ReplicaVerificationTool", "ShareGroupCommand",
        "StreamsGroupCommand", "TopicCommand", "TransactionsCommand",
    ],
)  # fmt: skip
def test_every_tool_is_found(live: LiveKafka, tool: str) -> None:
    done = live.kafka(tool, "--help")
    assert not done.timed_out
    assert "--" in done.out + done.err
    assert tool_class(tool).endswith(tool)


def test_the_controllers_answer(live: LiveKafka) -> None:
    done = live.kafka("MetadataQuorumCommand", "--bootstrap-controller", live.controllers, "describe", "--status")
    assert (done.code, done.err) == (0, "")
    assert "LeaderId:" in done.out


def test_the_cluster_is_as_freshly_formatted(live: LiveKafka) -> None:
    told = live.kafka("FeatureCommand", *on(live, "describe")).out
    levels = dict(re.findall(r"^Feature: (\S+).*FinalizedVersionLevel: (\S+)", told, re.MULTILINE))
    assert levels["eligible.leader.replicas.version"] == "1"
    assert levels["share.version"] == "1"
    assert levels["streams.version"] == "1"


@pytest.mark.parametrize("kind", ["classic", "consumer", "share", "streams"])
def test_members_live_until_they_are_stopped(live: LiveKafka, kind: GroupKind) -> None:
    topic, group = live.create_topic(partitions=4), live.name(kind)
    describe = on(live, "--describe", "--group", group, "--members")
    with live.members(kind, group, [topic], members=2):
        told = live.kafka(DESCRIBERS[kind], *describe).out
        assert f"{group}-0" in told
        assert f"{group}-1" in told
    left = live.kafka(DESCRIBERS[kind], *describe)
    assert left.code == 0
    assert f"{group}-0" not in left.out


@pytest.mark.parametrize("kind", ["classic", "consumer"])
def test_members_that_vanish_stay_in_the_group(live: LiveKafka, kind: GroupKind) -> None:
    topic, group = live.create_topic(), live.name(kind)
    live.members(kind, group, [topic], properties={"group.instance.id": "box-{n}"}).vanish()
    assert "box-0" in live.kafka("ConsumerGroupCommand", *on(live, "--describe", "--group", group, "--members")).out


def test_members_commit(live: LiveKafka) -> None:
    topic, group = live.create_topic(), live.name("g")
    live.produce(topic, ["a", "b", "c"])
    with live.members("consumer", group, [topic], commit=True):
        live.until(lambda: offsets_of(live, group) == ["3"])


def test_offsets_are_committed_for_a_group_without_members(live: LiveKafka) -> None:
    topic, group = live.create_topic(partitions=2), live.name("g")
    live.produce(topic, ["a", "b"], partition=1)
    live.commit(group, topic, {0: 0, 1: 1})
    assert offsets_of(live, group) == ["0", "1"]


def offsets_of(live: LiveKafka, group: str) -> list[str]:
    lines = live.kafka("ConsumerGroupCommand", *on(live, "--describe", "--group", group)).lines
    return sorted(line.split()[3] for line in lines if line.startswith(group))


def test_a_transaction_stays_open_until_it_is_ended(live: LiveKafka) -> None:
    topic, transactional_id = live.create_topic(), live.name("tx")
    with live.begin_transaction(transactional_id, Sent(topic, "pending", partition=0)) as open_transaction:
        assert open_transaction.written == [(0, 0)]
        assert state_of(live, transactional_id) == "Ongoing"
        open_transaction.commit()
    live.until(lambda: state_of(live, transactional_id) == "CompleteCommit")


def test_a_transaction_is_left_open(live: LiveKafka) -> None:
    topic, transactional_id = live.create_topic(), live.name("tx")
    live.begin_transaction(transactional_id, Sent(topic, "pending", partition=0)).leave_open()
    assert state_of(live, transactional_id) == "Ongoing"
    live.begin_transaction(transactional_id).abort()  # its producer fences the one before, so that nothing stays open


def state_of(live: LiveKafka, transactional_id: str) -> str:
    listed = live.kafka("TransactionsCommand", *on(live, "list")).lines
    return next(line.split()[-1] for line in listed if line.startswith(transactional_id))


def test_records_keep_what_they_were_given(live: LiveKafka) -> None:
    topic = live.create_topic(partitions=2)
    assert live.send(Sent(topic, None, "k", 1, 1_700_000_000_000, [("h", "x"), ("n", None)])) == [(1, 0)]
    shown = [f"print.{name}=true" for name in ("timestamp", "partition", "headers", "key")]
    options = [part for each in shown for part in ("--formatter-property", each)]
    done = live.kafka(
        "ConsoleConsumer", *on(live, "--topic", topic, "--from-beginning", "--max-messages", "1", *options)
    )
    assert done.out == "CreateTime:1700000000000\tPartition:1\th:x,n:null\tk\tnull\n"


def test_topics_go(live: LiveKafka) -> None:
    topic = live.create_topic(assignment=[[3, 1], [2, 3]])
    assert [each.replicas for each in live.wait_until_in_sync() if each.topic == topic] == [[3, 1], [2, 3]]
    live.delete_topics(topic)
    assert topic not in live.kafka("TopicCommand", *on(live, "--list")).lines


def test_brokers_stop_are_killed_and_come_back(live: LiveKafka) -> None:
    topic = live.create_topic(assignment=[[3, 1, 2]])
    describe = on(live, "--describe", "--topic", topic)
    try:
        live.stop_broker(3)
        assert "Leader: 1\tReplicas: 3,1,2\tIsr: 1,2\t" in live.kafka("TopicCommand", *describe).out
        live.start_broker(3)
        assert "Leader: 3\t" in live.kafka("TopicCommand", *describe).out
        live.kill_broker(3)
        assert "Leader: 1\t" in live.kafka("TopicCommand", *describe).out
    finally:
        live.start_all()
    assert "Leader: 3\t" in live.kafka("TopicCommand", *describe).out


def test_kafkapy_runs_in_this_process(live: LiveKafka) -> None:
    done = live.kafkapy("--version")
    assert done.code == 0
    assert done.out.startswith("kafkapy ")
    wrong = live.kafkapy("no-such-command")
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong.err.startswith("kafkapy: ")


def test_a_pair_that_differs_fails_with_both_outputs(live: LiveKafka) -> None:
    with pytest.raises(pytest.fail.Exception) as failed:
        same(live, kafka=("ClusterTool", "cluster-id"), kafkapy=("topics", "--help"), code=1)
    text = str(failed.value)
    assert text.startswith("exit codes and outputs differ")
    assert "Cluster ID: " in text
    assert "Usage: kafkapy topics" in text


def test_a_pair_is_the_same_once_what_may_differ_is_scrubbed(live: LiveKafka) -> None:
    case = Pair(("ClusterTool", "cluster-id"), ("topics", "--help"), code=0, stderr=True, scrub=[(r"(?s).+", "x")])
    assert check(live, case).out.startswith("Cluster ID: ")


def test_a_pair_of_a_command_and_its_tool() -> None:
    assert pair("topics", "--list") == Pair(("TopicCommand", "--list"), ("topics", "--list"))
    assert pair("cluster-id") == Pair(("ClusterTool", "cluster-id"), ("cluster-id",))
