"""Consumer groups against Kafka's own coordinator, in one JVM.

A random walk over a cluster directory: members join, change their minds, give partitions back sooner or later, leave
and come back; topics come, grow and go; time passes, and coordinators change. Kafka's coordinator is asked the same,
with the same metadata, and must write the same records and give the same answers.

Two things that a coordinator goes by are in no record, so the walk steps around them. Who comes first among members of
a group that was once larger depends on how large Kafka's hash table became: groups have two members at most, but for
one that nobody ever leaves. And whether all members subscribe alike is found out before an expression that nobody
subscribes to any more is forgotten: expressions are for that one group, and for one of a single member.

Beneath it, cases that such a walk hardly reaches: the reconciliation of any member, the hashes of topics, and the names
that expressions match.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.coordinator.consumer_group_member import ConsumerGroupMember, MemberState
from kafkapy.coordinator.consumer_groups import ConsumerGroups, Heartbeat, HeartbeatAnswer
from kafkapy.coordinator.current_assignment import CurrentAssignmentBuilder
from kafkapy.coordinator.group_metadata_records import offset_commit_record
from kafkapy.coordinator.group_store import GroupStore
from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.coordinator.re2_pattern import compile_re2
from kafkapy.coordinator.topic_hash import TopicHashes
from kafkapy.coordinator.transaction_state import ProducerIdAndEpoch
from kafkapy.errors import FormatError, KafkaError
from kafkapy.formats.coordinator_record import GROUP, CoordinatorRecord, decode, encode_record
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import AlterConfigs, CreatePartitions, CreateTopic, DeleteTopic
from kafkapy.metadata.image import BROKER, MetadataImage
from tests.kafka_java import kafka_java

SEED = int(os.environ.get("KAFKAPY_TEST_SEED", "5"))
STEPS = int(os.environ.get("KAFKAPY_TEST_STEPS", "900"))
NOW = 1_794_800_000_000
GROUPS = ("alpha", "beta", "gamma", "delta")
CROWD = "crowd"
ALONE = "delta"
TOPICS = ("orders", "payments", "pay-outs", "t1", "t2", "audit.log")
REGEXES = ("pay.*", "t[12]", "(?i)ORDERS|audit\\.log", "none-such", "[a-z]+")
INSTANCES = ("i1", "i2")
CLIENT = {"client_id": "walker", "client_host": "/127.0.0.1"}

Questions = list[dict[str, Any]]


class Cluster(DirectoryCluster):
    """One whose clock stands still until it is told."""

    clock = NOW

    def _time(self) -> int:
        return self.clock


class RecordingStore(GroupStore):
    """One that remembers what was written."""

    def __init__(self, cluster: DirectoryCluster) -> None:
        super().__init__(cluster)
        self.batches: list[list[CoordinatorRecord]] = []

    def append(
        self, group_id: str, records: Sequence[CoordinatorRecord], producer: ProducerIdAndEpoch | None = None
    ) -> None:
        super().append(group_id, records, producer)
        self.batches.append(list(records))


class Member:
    """A client: what it was told it has, and what it has given back or taken so far."""

    def __init__(self, group: str, beat: Heartbeat) -> None:
        self.group = group
        self.id = beat.member_id
        self.instance = beat.instance_id
        self.epoch = 0
        self.told: tuple[TopicPartition, ...] = ()
        self.owned: tuple[TopicPartition, ...] = ()


class Walk:
    """What happens, as questions to Kafka, and what came of it here."""

    def __init__(self, directory: Path, rng: Random, interval: int) -> None:
        racks = ("r1", "r2", "räck-3")
        make_cluster(str(directory), 3, racks, files=Files(sync=False))
        self.cluster = Cluster(str(directory), Files(sync=False), NOW, seed=1)
        self.rng = rng
        self.questions: Questions = [{"ask": "begin", "interval": interval, "now": NOW}]
        self.answers: list[Any] = [{}]
        self.members: list[Member] = []
        self.left: list[Member] = []
        self.unseen: set[str] = set()
        self._made = 0
        interval_config = {"group.consumer.assignment.interval.ms": str(interval)}
        self.cluster.apply(CreateTopic(CONSUMER_OFFSETS, 1, 1), AlterConfigs(BROKER, "", interval_config))
        self._reopen()
        self.change_topics(CreateTopic("orders", 3, 2), CreateTopic("t1", 17, 1), CreateTopic("pay-outs", 1, 3))

    def run(self, steps: int) -> None:
        actions = [self.join] * 5 + [self.beat] * 30 + [self.resubscribe] * 4 + [self.leave] * 3
        actions += (
            [self.misbehave] * 2 + [self.topics] * 2 + [self.wait] * 4 + [self.fail_over, self.expire, self.rejoin]
        )
        for _ in range(steps):
            self.rng.choice(actions)()
        self.cluster.close()

    def change_topics(self, *changes: CreateTopic | CreatePartitions | DeleteTopic) -> None:
        self.cluster.apply(*changes)
        self.unseen.update(change.name for change in changes if isinstance(change, CreateTopic))
        self.questions.append(metadata_question(self.cluster.image()))
        self.answers.append({})

    def join(self) -> None:
        self._made += 1
        group = self.rng.choice((*GROUPS, CROWD))
        instance = self.rng.choice((None, None, None, *INSTANCES))
        beat = Heartbeat(
            f"member-{self._made:03}", 0, instance, owned=(), rebalance_timeout_ms=self.rng.choice((1000, 2000)),
            rack_id=self.rng.choice((None, "r1")), server_assignor=self.rng.choice((None, None, "range", "uniform")),
            **self._subscription(group), **CLIENT,
        )  # fmt: skip
        stored = self.store.group(group)
        if stored is None or len(stored.members) < {CROWD: 8, ALONE: 1}.get(group, 2):
            self._ask_to_join(Member(group, beat), beat)

    def rejoin(self) -> None:
        if self.left:
            self._made += 1
            gone = self.left.pop()
            beat = Heartbeat(
                f"member-{self._made:03}", 0, gone.instance, owned=(), rebalance_timeout_ms=1000,
                **self._subscription(gone.group), **CLIENT,
            )  # fmt: skip
            self._ask_to_join(Member(gone.group, beat), beat)

    def beat(self, is_changed: bool = False) -> None:
        if not self.members:
            return
        member = self.rng.choice(self.members)
        changes = self._subscription(member.group) if is_changed else {}
        if self.rng.random() < 0.7:
            member.owned = member.told
        told = self.rng.choice((None, member.owned, member.owned))
        self._ask(member, Heartbeat(member.id, member.epoch, member.instance, owned=told, **changes, **CLIENT))

    def resubscribe(self) -> None:
        self.beat(is_changed=True)

    def leave(self) -> None:
        if member := self._who_leaves():
            epoch = self.rng.choice((-1, -2)) if member.instance else -1
            if self._ask(member, Heartbeat(member.id, epoch, member.instance, **CLIENT)) and epoch == -2:
                self.left.append(member)

    def misbehave(self) -> None:
        if self.members:
            member = self.rng.choice(self.members)
            group = self.rng.choice((member.group, self.rng.choice(GROUPS), "unknown"))
            epoch = self.rng.choice((member.epoch - 1, member.epoch - 2, member.epoch + 1))
            member_id = self.rng.choice((member.id, "stranger"))
            if epoch > 0:
                beat = Heartbeat(member_id, epoch, member.instance, owned=member.owned, **CLIENT)
                self._ask(member, beat, group)

    def topics(self) -> None:
        name = self.rng.choice(TOPICS)
        topic = self.cluster.image().topics.get(name)
        if topic is None:
            self.change_topics(CreateTopic(name, self.rng.choice((1, 2, 5)), self.rng.choice((1, 2, 3))))
        elif self.rng.random() < 0.5:
            self.change_topics(CreatePartitions(name, len(topic.partitions) + self.rng.choice((1, 3))))
        elif name not in self.unseen:
            # one that came and went between two heartbeats nobody here has heard of, while Kafka is told
            self.change_topics(DeleteTopic(name))

    def wait(self) -> None:
        self.cluster.clock += self.rng.choice((1, 500, 1001, 11_000, 700_000))
        self._say({"ask": "clock", "now": self.cluster.clock})

    def fail_over(self) -> None:
        self._reopen()
        self._say({"ask": "reload"})

    def expire(self) -> None:
        if member := self._who_leaves():
            stored = self.store.group(member.group)
            keep = set(stored.members) - {member.id} if stored is not None else set()
            if stored is not None and member.id in stored.members:
                self.store.batches.clear()
                assert self.groups.evict(member.group, keep) == [member.id]
                self.questions.append({"ask": "timeout", "group": member.group, "member": member.id})
                self.answers.append({"batches": normalized(self.store.batches)})

    def commit_of_nobody(self, group: str) -> None:
        """A group that has offsets and no members is a classic one, until a consumer joins."""
        record = offset_commit_record(group, TopicPartition("orders", 0), OffsetAndMetadata(7, commit_timestamp=NOW))
        self.store.append(group, [record])
        key, value = encode_record(GROUP, record)
        assert value is not None
        self._say({"ask": "replay", "records": [[key.hex(), value.hex()]]})

    def _who_leaves(self) -> Member | None:
        some = [member for member in self.members if member.group != CROWD]
        if not some:
            return None
        member = self.rng.choice(some)
        self.members.remove(member)
        return member

    def _ask_to_join(self, member: Member, beat: Heartbeat) -> None:
        if self._ask(member, beat):
            self.members.append(member)

    def _reopen(self) -> None:
        self.store = RecordingStore(self.cluster)
        self.groups = ConsumerGroups(self.cluster, self.store)

    def _say(self, question: dict[str, Any]) -> None:
        self.questions.append(question)
        self.answers.append({})

    def _subscription(self, group: str) -> dict[str, Any]:
        topics = self.rng.choice((("orders",), ("orders", "t1"), (), None, tuple(self.rng.sample(TOPICS, 3))))
        regex = self.rng.choice((None, None, "", *REGEXES)) if group in (CROWD, ALONE) else None
        return {"subscribed_topic_names": topics if topics or regex else ("orders",), "subscribed_topic_regex": regex}

    def _ask(self, member: Member, beat: Heartbeat, group: str | None = None) -> bool:
        """Whether the heartbeat was accepted."""
        group = group or member.group
        self.unseen.clear()
        self.questions.append(heartbeat_question(group, beat, self.cluster.image()))
        self.store.batches.clear()
        try:
            answer = self.groups.heartbeat(group, beat)
        except KafkaError as error:
            self.answers.append({"batches": [], "error": error.name, "message": str(error)})
            return False
        self.answers.append(
            {
                "batches": normalized(self.store.batches),
                "epoch": answer.member_epoch,
                "assigned": self._assigned(answer),
            }
        )
        if group == member.group and beat.member_id == member.id:
            member.epoch = answer.member_epoch
            if answer.assignment is not None:
                member.told = answer.assignment
        return True

    def _assigned(self, answer: HeartbeatAnswer) -> dict[str, list[int]] | None:
        if answer.assignment is None:
            return None
        found: dict[str, list[int]] = {}
        for topic, partition in answer.assignment:
            found.setdefault(self.cluster.image().topics[topic].id, []).append(partition)
        return found


def metadata_question(image: MetadataImage) -> dict[str, Any]:
    topics = [
        {
            "name": topic.name,
            "id": topic.id,
            "replicas": [topic.partitions[number].replicas for number in sorted(topic.partitions)],
        }
        for topic in image.topics.values()
    ]
    brokers = {str(broker.id): broker.rack for broker in image.brokers.values()}
    return {"ask": "metadata", "offset": image.provenance.offset, "topics": topics, "brokers": brokers}


def heartbeat_question(group: str, beat: Heartbeat, image: MetadataImage) -> dict[str, Any]:
    owned: dict[str, list[int]] | None = None
    if beat.owned is not None:
        owned = {}
        for topic, partition in beat.owned:
            if topic in image.topics:
                owned.setdefault(image.topics[topic].id, []).append(partition)
    return {
        "ask": "heartbeat", "group": group, "member": beat.member_id, "epoch": beat.member_epoch,
        "instance": beat.instance_id, "rack": beat.rack_id, "timeout": beat.rebalance_timeout_ms,
        "names": beat.subscribed_topic_names, "regex": beat.subscribed_topic_regex,
        "assignor": beat.server_assignor, "owned": owned, "client": beat.client_id,
    }  # fmt: skip


def normalized(batches: Sequence[Sequence[CoordinatorRecord]]) -> list[list[Any]]:
    """Batches with what Kafka leaves to its hash tables in order: partitions, and records of several members."""
    return [_in_order([_normalized(record) for record in batch]) for batch in batches]


def _normalized(record: CoordinatorRecord) -> tuple[str, Any, Any]:
    # through bytes, since a value that was decoded has every field
    again = decode(GROUP, *encode_record(GROUP, record))
    value = json.loads(json.dumps(again.value))
    for field in ("topicPartitions", "assignedPartitions", "partitionsPendingRevocation"):
        if value is not None and field in value:
            value[field] = sorted(map(_topic, value[field]))
    return again.name, again.key, value


def _topic(topic: dict[str, Any]) -> tuple[str, list[tuple[int, int | None]]]:
    epochs = topic.get("assignmentEpochs") or [None] * len(topic["partitions"])
    return topic["topicId"], sorted(zip(topic["partitions"], epochs, strict=True))


def _in_order(records: list[Any]) -> list[Any]:
    """Runs of records of one kind, by key."""
    places: dict[str, int] = {}
    for name, _, _ in records:
        places.setdefault(name, len(places))
    is_leaving = any(value is None for _, _, value in records)
    return records if is_leaving else sorted(records, key=lambda each: (places[each[0]], str(each[1])))


def any_reconciliation(rng: Random, topics: Sequence[tuple[str, str]]) -> dict[str, Any]:
    def partitions(top: int = 3) -> list[int]:
        return sorted(rng.sample(range(4), rng.randint(0, top)))

    def epochs() -> dict[str, dict[str, int]]:
        found = {topic_id: {str(each): rng.randint(1, 5) for each in partitions()} for _, topic_id in topics}
        return {topic_id: each for topic_id, each in found.items() if each}

    assigned, pending = epochs(), epochs() if rng.random() < 0.5 else {}
    mine = {(topic_id, each) for found in (assigned, pending) for topic_id in found for each in found[topic_id]}
    taken = epochs()
    for topic_id, each in mine:
        taken.setdefault(topic_id, {})[each] = 5
    names = [name for name, _ in topics if rng.random() < 0.7]
    owned: Any = {topic_id: partitions() for _, topic_id in topics if rng.random() < 0.5}
    return {
        "ask": "reconcile", "epoch": rng.randint(4, 5), "previous": rng.randint(3, 5),
        "state": rng.choice((0, 0, 1, 1, 2, 127)), "names": names, "assigned": assigned, "pending": pending,
        "target": {topic_id: partitions() for _, topic_id in topics if rng.random() < 0.8},
        "target_epoch": rng.randint(4, 6), "taken": taken, "changed": rng.random() < 0.5,
        "owned": rng.choice((None, {}, owned, owned)),
    }  # fmt: skip


def reconcile(question: dict[str, Any], image: MetadataImage) -> dict[str, Any]:
    def epochs(found: dict[str, dict[str, int]]) -> dict[str, dict[int, int]]:
        return {topic_id: {int(key): epoch for key, epoch in each.items()} for topic_id, each in found.items()}

    def told(found: Any) -> dict[str, dict[str, int]]:
        return {topic_id: {str(key): epoch for key, epoch in each.items()} for topic_id, each in found.items()}

    member = ConsumerGroupMember(
        "member", question["epoch"], question["previous"], MemberState(question["state"]),
        assigned=epochs(question["assigned"]), pending_revocation=epochs(question["pending"]),
    )  # fmt: skip
    taken = epochs(question["taken"])
    builder = CurrentAssignmentBuilder(
        member, question["target_epoch"], question["target"], question["names"], image,
        lambda topic_id, partition: partition in taken.get(topic_id, {}), question["owned"],
    )  # fmt: skip
    try:
        after = builder.build(question["changed"])
    except KafkaError as error:
        return {"error": error.name, "message": str(error)}
    return {
        "epoch": after.member_epoch, "previous": after.previous_member_epoch, "state": int(after.state),
        "assigned": told(after.assigned), "pending": told(after.pending_revocation),
    }  # fmt: skip


REGEX_PARTS = (
    "a", "b", "A", "0", "-", "_", r"\.", ".", "[ab]", "[^a]", "[a-c]", "[[:alpha:]]", "[[:^digit:]_]", r"\d", r"\W",
    r"\w", r"[\d-]", "(a|b0)", "(?:ab)", "(?P<n>a)", "(?i)", "(?-i)", "(?i:aB)", "(?U)", "^", "$", r"\A", r"\z",
    r"\b", r"\B",
    r"\Qa.b\E", r"\x61", r"\x{62}", r"\141", r"\pL", r"\p{Lu}", r"\PN", r"\p{Greek}", r"\p{^Latin}", r"[\pN\p{Lu}]",
    "{", "a{,2}", "[]a]", "[a-]", "[^]b]", "|", "(|a)", "(?s:.)", "[[:word:]-]", r"\-", r"\_", r"[\.\-]", r"\P{Any}",
    "(?s)",
)  # fmt: skip
OPERATORS = ("", "", "", "*", "+", "?", "{2}", "{1,}", "{0,3}", "*?", "+?")
NAMES = (
    "",
    "a",
    "b",
    "A",
    "ab",
    "aB",
    "aab",
    "a.b",
    "a0",
    "0",
    "a-b",
    "a_b",
    "bb",
    "ba",
    "abc",
    "b0",
    "a{,2}",
    "a{",
    "AB",
    "--",
)


def any_regex(rng: Random) -> str:
    return "".join(rng.choice(REGEX_PARTS) + rng.choice(OPERATORS) for _ in range(rng.randint(1, 4)))


class Judged(NamedTuple):
    questions: Questions
    ours: list[Any]
    kafkas: list[Any]

    def of(self, *asked: str) -> Iterator[tuple[dict[str, Any], Any, Any]]:
        for question, ours, kafkas in zip(self.questions, self.ours, self.kafkas, strict=True):
            if question["ask"] in asked:
                yield question, ours, kafkas


def ask_kafka(questions: Questions, scratch: Path) -> list[Any]:
    asked, answered = scratch / "questions", scratch / "answers"
    asked.write_text("".join(json.dumps(question) + "\n" for question in questions))
    subprocess.run([*kafka_java("JudgeGroupCoordinator"), str(asked), str(answered)], check=True, timeout=600)
    return [json.loads(line) for line in answered.read_text().splitlines()]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    scratch = tmp_path_factory.mktemp("consumer-groups")
    rng = Random(SEED)
    questions: Questions = []
    ours: list[Any] = []
    for number, interval in enumerate((0, 0, 1000)):
        walk = Walk(scratch / f"cluster-{number}", rng, interval)
        walk.commit_of_nobody("delta")
        walk.run(STEPS // 3)
        questions += walk.questions
        ours += walk.answers
    image = walk.cluster.image()
    topics = [(topic.name, topic.id) for topic in image.topics.values()][:3]
    for _ in range(STEPS):
        question = any_reconciliation(rng, topics)
        questions.append(question)
        ours.append(reconcile(question, image))
    for _ in range(20):
        names = rng.sample((*TOPICS, CONSUMER_OFFSETS, "none"), 4)
        questions.append({"ask": "hash", "topics": names})
        ours.append({"hash": TopicHashes().group_hash(image, names)})
    for regex in filter(is_valid, (any_regex(rng) for _ in range(STEPS))):
        questions.append({"ask": "match", "regex": regex, "names": NAMES})
        ours.append({"matches": [name for name in NAMES if compile_re2(regex).fullmatch(name)]})
    return Judged(questions, ours, ask_kafka(questions, scratch))


def is_valid(regex: str) -> bool:
    try:
        compile_re2(regex)
    except FormatError:
        return False
    return True


def kafka_batches(answer: dict[str, Any]) -> list[list[Any]]:
    return normalized(
        [
            [decode(GROUP, bytes.fromhex(key), None if value is None else bytes.fromhex(value)) for key, value in batch]
            for batch in answer["batches"]
        ]
    )


def test_the_same_records_and_answers(judged: Judged) -> None:
    for question, ours, kafkas in judged.of("heartbeat", "timeout"):
        assert ours["batches"] == kafka_batches(kafkas), question
        assert ours.get("error") == kafkas.get("error"), (question, ours, kafkas)
        assert ours.get("message") == kafkas.get("message"), question
        if "epoch" in ours:
            there = {topic: sorted(found) for topic, found in (kafkas["assigned"] or {}).items()}
            assert ours["epoch"] == kafkas["epoch"], question
            assert (ours["assigned"] is None) == (kafkas["assigned"] is None), question
            # those of a deleted topic are told by Kafka, which speaks of ids
            assert all(there[topic] == found for topic, found in (ours["assigned"] or {}).items()), question


def test_the_walk_covers_much(judged: Judged) -> None:
    errors = {ours.get("error") for _, ours, _ in judged.of("heartbeat")}
    assert errors >= {
        None, "FencedMemberEpochException", "UnknownMemberIdException", "GroupIdNotFoundException",
        "UnreleasedInstanceIdException",
    }  # fmt: skip
    records = [
        record for _, ours, _ in judged.of("heartbeat", "timeout") for batch in ours["batches"] for record in batch
    ]
    states = {value["state"] for name, _, value in records if name.endswith("CurrentMemberAssignment") and value}
    assert states == {0, 1, 2}
    assert {name for name, _, _ in records} >= {"ConsumerGroupRegularExpression", "GroupMetadata"}


def test_the_same_reconciliation(judged: Judged) -> None:
    asked = list(judged.of("reconcile"))
    for question, ours, kafkas in asked:
        assert ours == kafkas, question
    assert {ours.get("state") for _, ours, _ in asked} == {0, 1, 2, None}


def test_the_same_hashes(judged: Judged) -> None:
    for question, ours, kafkas in judged.of("hash"):
        assert ours["hash"] == kafkas["hash"], question


def test_the_same_topics_match(judged: Judged) -> None:
    asked = list(judged.of("match"))
    for question, ours, kafkas in asked:
        assert ours == kafkas, question["regex"]
    assert sum(bool(ours["matches"]) for _, ours, _ in asked) > len(asked) // 4
