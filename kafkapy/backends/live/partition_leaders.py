"""Asking the leaders of partitions: one request a broker, all in parallel.

Who leads what is taken from what a Metadata response told before (``Client.leaders``), else asked for. A leader that
has moved, or cannot be reached, is looked for again until default.api.timeout.ms is over; what the others answered is
kept. A partition that nobody leads is not waited for: a KRaft cluster says so only where no replica may lead, which
lasts until a broker is back. A request has a partition only once, so what is asked twice of one goes into a second
request.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from kafkapy.backends.live.client import Call, Client, is_passing, nodes_of
from kafkapy.backends.live.library.network import ConnectionLost
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.formats.error_codes import NONE, code_of, kafka_error
from kafkapy.formats.message import Value
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.topics_image import NO_LEADER
from kafkapy.near_misses import listed

A = TypeVar("A")
R = TypeVar("R")


class NoLeader(KafkaError):
    """Nobody leads a partition, by the cluster's own word. Kafka's words tell of an election, the hint who is away."""

    def __init__(self, offline: Sequence[int] = ()) -> None:
        known = kafka_error(code_of("LEADER_NOT_AVAILABLE"))
        super().__init__(known.name, str(known))
        if offline:
            whose = (
                f"the replica on broker {offline[0]} is" if len(offline) == 1 else f"replicas on {listed(offline)} are"
            )
            self.hint = f"no election is under way: {whose} offline; 'kafkapy doctor' explains what to do"


def learn_leaders(client: Client, response: Value) -> None:
    """Take note of the brokers and leaders that a Metadata response tells of."""
    client.learn(nodes_of(response))
    client.leaders.update(
        (TopicPartition(topic["name"], partition["partitionIndex"]), partition["leaderId"])
        for topic in response["topics"]
        if topic["errorCode"] == NONE
        for partition in topic["partitions"]
    )


def find_leaders(client: Client, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int | KafkaError]:
    """The broker that leads each partition; an error where there is no such partition, or nobody leads it."""
    wanted = list(dict.fromkeys(partitions))
    unknown = {each.topic for each in wanted if client.leaders.get(each, NO_LEADER) == NO_LEADER}
    errors: dict[str | TopicPartition, KafkaError] = {}
    if unknown:
        asked = [{"name": name} for name in sorted(unknown)]
        response = client.call("Metadata", {"topics": asked, "allowAutoTopicCreation": False})
        learn_leaders(client, response)
        errors = dict(_errors(response))
    return {each: _leader(client, each, errors) for each in wanted}


def _errors(response: Value) -> Iterator[tuple[str | TopicPartition, KafkaError]]:
    """Why topics cannot be told of, and partitions have no leader."""
    for topic in response["topics"]:
        if topic["errorCode"]:
            yield topic["name"], kafka_error(topic["errorCode"])
        for each in topic["partitions"]:
            if each["leaderId"] == NO_LEADER:
                yield TopicPartition(topic["name"], each["partitionIndex"]), NoLeader(each["offlineReplicas"])


def _leader(
    client: Client, partition: TopicPartition, errors: dict[str | TopicPartition, KafkaError]
) -> int | KafkaError:
    for key in (partition.topic, partition):
        if key in errors:
            return errors[key]
    leader = client.leaders.get(partition)
    return kafka_error(code_of("UNKNOWN_TOPIC_OR_PARTITION")) if leader is None else leader


class LeaderRequest(Generic[A, R]):
    """A request whose fields are topics with their partitions, as is its response.

    ``fields`` are those of one partition, ``result`` reads one that has no error, ``common`` are the fields beside the
    topics. ``refusal`` may say why a broker cannot be asked that at all.
    """

    def __init__(
        self,
        api: str,
        common: Value,
        fields: Callable[[A], Value],
        result: Callable[[Value], R],
        refusal: Callable[[int, A], KafkaError | None] = lambda node, asked: None,
    ) -> None:
        self._api = api
        self._common = common
        self._fields = fields
        self._result = result
        self._refusal = refusal

    def ask(self, client: Client, asked: Sequence[tuple[TopicPartition, A]]) -> list[R | KafkapyError]:
        """What the leaders answer, in the order of what is asked; an error in the place of what failed."""
        answers: dict[int, R | KafkapyError] = {}

        def attempt() -> None:
            passing = None
            for number, answer in self._ask_once(client, asked, [n for n in range(len(asked)) if not done(n)]):
                answers[number] = answer
                passing = answer if _is_passing(answer) else passing
            if passing is not None:
                raise passing if isinstance(passing, ConnectionLost) else _later()

        def done(number: int) -> bool:
            return number in answers and not _is_passing(answers[number])

        try:
            client.retrying(attempt)
        except (ConnectionLost, KafkaError):
            if len(answers) < len(asked):
                raise
        return [answers[number] for number in range(len(asked))]

    def _ask_once(
        self, client: Client, asked: Sequence[tuple[TopicPartition, A]], numbers: Sequence[int]
    ) -> Iterable[tuple[int, R | KafkapyError]]:
        leaders = find_leaders(client, (asked[number][0] for number in numbers))
        requests: dict[tuple[int, int], dict[TopicPartition, int]] = defaultdict(dict)
        times: Counter[TopicPartition] = Counter()
        for number in numbers:
            partition, wanted = asked[number]
            leader = leaders[partition]
            refused = leader if isinstance(leader, KafkaError) else self._refusal(leader, wanted)
            if refused is not None:
                yield number, refused
            elif not isinstance(leader, KafkaError):
                requests[leader, times[partition]][partition] = number
                times[partition] += 1
        calls = [
            Call(self._api, self._common | {"topics": self._topics(asked, request)}, leader)
            for (leader, _), request in requests.items()
        ]
        for request, response in zip(requests.values(), client.call_all(calls), strict=True):
            yield from self._read(request, response)

    def _topics(self, asked: Sequence[tuple[TopicPartition, A]], request: dict[TopicPartition, int]) -> list[Value]:
        topics: dict[str, list[Value]] = defaultdict(list)
        for (topic, partition), number in request.items():
            topics[topic].append({"partitionIndex": partition, **self._fields(asked[number][1])})
        return [{"name": topic, "partitions": partitions} for topic, partitions in topics.items()]

    def _read(
        self, request: dict[TopicPartition, int], response: Value | KafkapyError
    ) -> Iterable[tuple[int, R | KafkapyError]]:
        if isinstance(response, KafkapyError):
            yield from ((number, response) for number in request.values())
            return
        left = dict(request)
        for topic in response["topics"]:
            for partition in topic["partitions"]:
                number = left.pop(TopicPartition(topic["name"], partition["partitionIndex"]), None)
                if number is not None:
                    code = partition["errorCode"]
                    yield number, (self._result(partition) if code == NONE else _moved(code))
        for partition, number in left.items():
            yield number, KafkaError("ApiException", f"The response did not contain a result for {partition}")


def _moved(code: int) -> KafkaError:
    """An error of a leader's. Who was named as leader and does not know the partition has not heard of it yet."""
    if code == code_of("UNKNOWN_TOPIC_OR_PARTITION"):
        return kafka_error(code_of("NOT_LEADER_OR_FOLLOWER"))
    return kafka_error(code)


def _is_passing(answer: object) -> bool:
    return is_passing(answer) and not isinstance(answer, NoLeader)


def _later() -> KafkaError:
    return kafka_error(code_of("LEADER_NOT_AVAILABLE"))
