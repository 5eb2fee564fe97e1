"""The assignors against Kafka's own, over random groups, all in one JVM.

A group lives through several rebalances: members join and leave, partitions are added, topics vanish or come back
smaller, and some members tell of older generations or claim what others have. Each rebalance is divided by Kafka, too,
from the same subscriptions; the partitions of every member must be equal, and their order. For the assignors of
the coordinator also the order in which topics, partitions and members stand in the records.
"""

from __future__ import annotations

import json
import os
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

import pytest

from kafkapy.coordinator.assignors.member_subscription import MemberSubscription
from kafkapy.coordinator.assignors.registry import CLIENT, client_assign, server_assign, user_data
from kafkapy.coordinator.assignors.server_group import ServerMember, subscribed_topic_ids
from kafkapy.coordinator.consumer_protocol import Subscription, decode_subscription, encode_subscription
from kafkapy.errors import KafkaError
from kafkapy.formats.uuid import uuid_text
from kafkapy.log.topic_partition import TopicPartition
from tests.kafka_jars import kafka_libs
from tests.kafka_java import kafka_java

SEED = int(os.environ.get("KAFKAPY_TEST_SEED", "5"))
GROUPS = int(os.environ.get("KAFKAPY_TEST_GROUPS", "160"))
REBALANCES = 6
RACKS = ("r1", "r2", "r3")


class Case(NamedTuple):
    """A question for Kafka, and our answer in the same form."""

    job: dict[str, Any]
    ours: Any
    members: tuple[Subscription, ...] = ()


def topic_names(rng: Random) -> list[str]:
    count = rng.choice((1, 2, 3, 5, 20))
    return rng.sample([f"topic-{number}" for number in range(40)] + ["AaAa", "BBBB", "AaBB", "BBAa"], count)


def member_ids(rng: Random) -> Iterator[str]:
    short = rng.random() < 0.5
    number = 0
    while True:
        number += 1
        yield f"m{number}" if short else f"consumer-{bytes(rng.randbytes(16)).hex()}"


def partition_count(rng: Random, many: int) -> int:
    return rng.choice((1, 2, 3, 4, 6, rng.randrange(1, many)))


class ClientScenario:
    """A classic group from rebalance to rebalance."""

    def __init__(self, rng: Random, name: str) -> None:
        self.rng = rng
        self.name = name
        self.generation = 0
        self.names = topic_names(rng)
        self.topics = {topic: partition_count(rng, 30) for topic in self.names}
        self.ids = member_ids(rng)
        self.equal = rng.random() < 0.5
        self.with_racks = rng.random() < 0.4
        self.old_clients = rng.random() < 0.2
        self.members: dict[str, tuple[tuple[str, ...], str | None, str | None]] = {}
        self.owned: dict[str, tuple[tuple[TopicPartition, ...], int]] = {}
        for _ in range(rng.choice((1, 2, 3, 5, 12, 30))):
            self.join()

    def join(self) -> None:
        rng = self.rng
        topics = self.names if self.equal else rng.sample(self.names, rng.randrange(len(self.names) + 1))
        member_id = next(self.ids)
        instance_id = f"static-{rng.randrange(10**6)}" if rng.random() < 0.3 else None
        rack = rng.choice((*RACKS, None)) if self.with_racks else None
        self.members[member_id] = (tuple(sorted(topics)), instance_id, rack)

    def change(self) -> None:
        rng = self.rng
        for _ in range(rng.randrange(1, 3)):
            what = rng.choice(("join", "leave", "grow", "topic", "subscribe"))
            if what == "join":
                self.join()
            elif what == "leave" and len(self.members) > 1:
                self.members.pop(rng.choice(list(self.members)))
            elif what == "grow" and self.topics:
                topic = rng.choice(list(self.topics))
                self.topics[topic] += rng.randrange(1, 5)
            elif what == "topic":
                topic = rng.choice(self.names)
                if self.topics.pop(topic, None) is None or rng.random() < 0.3:
                    self.topics[topic] = partition_count(rng, 10)
            elif what == "subscribe" and not self.equal:
                member_id = rng.choice(list(self.members))
                topics = tuple(sorted(rng.sample(self.names, rng.randrange(len(self.names) + 1))))
                self.members[member_id] = topics, *self.members[member_id][1:]

    def subscription(self, member_id: str) -> Subscription:
        """As it comes out of its bytes. Now and then a member is behind, or claims what is not its own."""
        rng = self.rng
        topics, _, rack = self.members[member_id]
        partitions, generation = self.owned.get(member_id, (None, -1))
        if partitions is not None and rng.random() < 0.1:
            generation = max(-1, generation - rng.randrange(1, 3))
        if partitions is not None and rng.random() < 0.1:
            claimed = [TopicPartition(topic, rng.randrange(count)) for topic, count in self.topics.items()]
            partitions = tuple(dict.fromkeys((*partitions, *claimed)))
        data = user_data(self.name, partitions, generation)
        if data and rng.random() < 0.05:
            data = data[: rng.randrange(len(data))]
        version = rng.randrange(4) if self.old_clients else 3
        owned = (partitions or ()) if self.name == "cooperative-sticky" else ()
        made = Subscription(topics, data, owned, generation, rack)
        return decode_subscription(encode_subscription(made, version))

    def racks(self) -> dict[TopicPartition, frozenset[str]]:
        return {
            TopicPartition(topic, number): frozenset(self.rng.sample(RACKS, self.rng.choice((1, 2, 2, 3))))
            for topic, count in self.topics.items()
            for number in range(count)
            if self.with_racks
        }

    def rebalance(self) -> Case:
        self.generation += 1
        racks = self.racks()
        members = {
            member_id: MemberSubscription(self.subscription(member_id), told[1])
            for member_id, told in self.members.items()
        }
        job = {
            "side": "client",
            "name": self.name,
            "generation": self.generation,
            "topics": {
                topic: [sorted(racks.get(TopicPartition(topic, number), ())) or [None] for number in range(count)]
                for topic, count in self.topics.items()
            },
            "members": [
                {
                    "id": member_id,
                    "instance": member.group_instance_id,
                    "subscription": b64encode(encode_subscription(member.subscription)).decode(),
                }
                for member_id, member in members.items()
            ],
        }
        subscriptions = tuple(member.subscription for member in members.values())
        try:
            assigned = client_assign(self.name, self.topics, members, racks)
        except KafkaError as error:
            self.owned = {}
            return Case(job, {"error": error.name}, subscriptions)
        self.owned = {member_id: (found, self.generation) for member_id, found in assigned.items()}
        ours = {member_id: self.told(found) for member_id, found in assigned.items()}
        return Case(job, ours, subscriptions)

    def told(self, found: tuple[TopicPartition, ...]) -> dict[str, Any]:
        data = user_data(self.name, found, self.generation)
        return {
            "partitions": [list(partition) for partition in found],
            "user_data": None if data is None else b64encode(data).decode(),
        }


class ServerScenario:
    """A consumer group from target assignment to target assignment."""

    def __init__(self, rng: Random, name: str) -> None:
        self.rng = rng
        self.name = name
        self.names = topic_names(rng)
        many = rng.choice((10, 40, 400))
        self.topics = {topic: (uuid_text(rng.randbytes(16)), partition_count(rng, many)) for topic in self.names}
        self.ids = member_ids(rng)
        self.equal = rng.random() < 0.5
        self.members: dict[str, tuple[list[str], str | None]] = {}
        self.current: dict[str, dict[str, tuple[int, ...]]] = {}
        for _ in range(rng.choice((1, 2, 3, 5, 12, 30))):
            self.join()

    def subscribed(self) -> list[str]:
        return self.names if self.equal else self.rng.sample(self.names, self.rng.randrange(len(self.names) + 1))

    def join(self) -> str:
        member_id = next(self.ids)
        instance_id = f"static-{self.rng.randrange(10**6)}" if self.rng.random() < 0.3 else None
        self.members[member_id] = self.subscribed(), instance_id
        return member_id

    def change(self) -> str | None:
        """The member that joins just now, if one does."""
        rng = self.rng
        what = rng.choice(("join", "leave", "grow", "topic", "subscribe", "equal"))
        if what == "join":
            return self.join()
        if what == "leave" and len(self.members) > 1:
            gone = rng.choice(list(self.members))
            self.members.pop(gone)
            self.current.pop(gone, None)
        elif what == "grow" and self.topics:
            topic = rng.choice(list(self.topics))
            self.topics[topic] = self.topics[topic][0], self.topics[topic][1] + rng.randrange(1, 5)
        elif what == "topic":
            topic = rng.choice(self.names)
            if self.topics.pop(topic, None) is None:
                self.topics[topic] = uuid_text(rng.randbytes(16)), partition_count(rng, 10)
        elif what == "subscribe" and not self.equal:
            member_id = rng.choice(list(self.members))
            self.members[member_id] = self.subscribed(), self.members[member_id][1]
        elif what == "equal":
            self.equal = not self.equal
            self.members = {each: (self.subscribed(), told[1]) for each, told in self.members.items()}
        return None

    def rebalance(self, joining: str | None) -> Case:
        is_homogeneous = len({frozenset(names) for names, _ in self.members.values()}) == 1
        job = {
            "side": "server",
            "name": self.name,
            "joining": joining,
            "type": "HOMOGENEOUS" if is_homogeneous else "HETEROGENEOUS",
            "topics": dict(self.topics),
            "members": [
                {
                    "id": member_id,
                    "instance": instance_id,
                    "topics": names,
                    "current": list(self.current[member_id].items()) if member_id in self.current else None,
                }
                for member_id, (names, instance_id) in self.members.items()
            ],
        }
        return Case(job, self.assign(joining, is_homogeneous))

    def assign(self, joining: str | None, is_homogeneous: bool) -> dict[str, Any]:
        ids = {name: topic_id for name, (topic_id, _) in self.topics.items()}
        members = {
            each: ServerMember(subscribed_topic_ids(names, ids), instance_id, self.current.get(each, {}), len(names))
            for each, (names, instance_id) in self.members.items()
        }
        assigned = server_assign(self.name, dict(self.topics.values()), members, joining, is_homogeneous)
        before = {each: as_sets(told) for each, told in self.current.items()}
        self.current = assigned
        return {
            "assigned": {
                each: [[topic, list(found)] for topic, found in told.items()] for each, told in assigned.items()
            },
            "written": [each for each, told in assigned.items() if as_sets(told) != before.get(each)],
        }


def as_sets(told: dict[str, tuple[int, ...]]) -> dict[str, set[int]]:
    return {topic: set(found) for topic, found in told.items()}


def any_cases(rng: Random) -> Iterator[Case]:
    for _ in range(GROUPS):
        for name in CLIENT:
            client = ClientScenario(rng, name)
            for _ in range(REBALANCES):
                yield client.rebalance()
                client.change()
        for name in ("uniform", "range"):
            server = ServerScenario(rng, name)
            joining = None
            for _ in range(REBALANCES):
                yield server.rebalance(joining)
                joining = server.change()


@pytest.fixture(scope="module")
def divided(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Case, Any]]:
    kafka_libs()
    root = tmp_path_factory.mktemp("assignors")
    cases = list(any_cases(Random(SEED)))
    jobs, results = root / "jobs", root / "results"
    jobs.write_text("".join(json.dumps(case.job) + "\n" for case in cases))
    subprocess.run([*kafka_java("AssignMany", "-ea"), str(jobs), str(results)], check=True, timeout=600)
    return list(zip(cases, map(json.loads, results.read_text().splitlines()), strict=True))


Divided = list[tuple[Case, Any]]


@pytest.mark.parametrize("name", CLIENT)
def test_client_assignors_divide_as_kafkas_do(divided: Divided, name: str) -> None:
    for case, theirs in divided:
        if case.job["side"] == "client" and case.job["name"] == name:
            assert case.ours == theirs, case.job


@pytest.mark.parametrize("name", ["uniform", "range"])
def test_the_coordinators_assignors_divide_as_kafkas_do(divided: Divided, name: str) -> None:
    for case, theirs in divided:
        if case.job["side"] == "server" and case.job["name"] == name:
            ours = case.ours
            if not theirs.get("assigned", True):
                ours = {"assigned": {}, "written": ours["written"]}
            assert ours == theirs, case.job


def test_the_groups_cover_much(divided: Divided) -> None:
    jobs = [case.job for case, _ in divided]
    answers = {json.dumps(theirs) for _, theirs in divided}
    assert len(answers) > len(divided) // 2
    assert {theirs["error"] for _, theirs in divided if "error" in theirs} == {
        "IllegalStateException",
        "NullPointerException",
    }
    assert {job["type"] for job in jobs if job["side"] == "server"} == {"HOMOGENEOUS", "HETEROGENEOUS"}
    assert any(job["joining"] for job in jobs if job["side"] == "server")
    held_back = 0
    for case, theirs in divided:
        if case.job["name"] == "cooperative-sticky" and "error" not in theirs:
            subscribed = {topic for each in case.members for topic in each.topics} & case.job["topics"].keys()
            partitions = sum(len(case.job["topics"][topic]) for topic in subscribed)
            held_back += partitions > sum(len(told["partitions"]) for told in theirs.values())
    assert held_back > GROUPS // 2
