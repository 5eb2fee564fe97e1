"""The copies of partitions that running brokers have, fetched from each of them and compared.

Where a copy begins and ends any replica tells (replica_ends.py). What lies above the high watermark is not read, and
neither is what brokers that are down have: both are told. A replica that follows hears of the high watermark with its
next fetch, so one that has not yet is asked again for a moment.

A broker tells no more of its leader epochs than the last one, and nothing of how far compaction has come: a topic that
is compacted is compared by its records, wherever batches differ.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kafkapy.backends.cluster import EARLIEST_LOCAL, LATEST
from kafkapy.backends.live.client import Call
from kafkapy.backends.live.live_log_dirs import describe_log_dirs
from kafkapy.backends.live.replica_ends import Held, ReplicaEnd, replica_ends
from kafkapy.backends.live.replica_fetching import Extent, FetchedLog
from kafkapy.backends.replica_diff import Advance, Copy, PartitionReport, diff_copies
from kafkapy.backends.replicas import Replica
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.formats.error_codes import NONE, kafka_error
from kafkapy.formats.message import Value
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.image import TOPIC
from kafkapy.metadata.topics_image import NO_LEADER, PartitionRegistration, TopicImage

if TYPE_CHECKING:
    from kafkapy.backends.live.live_cluster import LiveCluster

CLEANUP_POLICY = "cleanup.policy"
HEARS_S = 1.5  # twice replica.fetch.wait.max.ms, and some more
PAUSE_S = 0.05


class LiveReplicaDiff:
    """Asks about all partitions that are made ready at once, one request a broker."""

    where = "the running cluster"

    def __init__(self, cluster: LiveCluster) -> None:
        self._cluster = cluster
        self._client = cluster.client
        self._ends: dict[int, dict[Held, ReplicaEnd | KafkapyError]] = {}
        self._high_watermarks: dict[Held, int | KafkapyError] = {}
        self._places: dict[Held, tuple[str, int]] = {}
        self._compacted: set[str] = set()

    def partitions(self) -> list[TopicPartition]:
        topics = self._cluster.image().topics
        return sorted(TopicPartition(name, number) for name, topic in topics.items() for number in topic.partitions)

    def prepare(self, partitions: Sequence[TopicPartition]) -> int:
        """All copies but the leader's are read once; that one is read beside each of them."""
        held = [(partition, broker) for partition in partitions for broker in self._registration(partition).replicas]
        live = self._cluster.live_brokers
        asked = [each for each in held if each[1] in live]
        self._ends = {spec: replica_ends(self._client, asked, spec) for spec in (EARLIEST_LOCAL, LATEST)}
        self._high_watermarks = self._fetch_high_watermarks(asked)
        brokers = {broker for (_, broker), found in self._high_watermarks.items() if isinstance(found, int)}
        for log_dir in describe_log_dirs(self._client, brokers, partitions) if brokers else []:
            for replica in log_dir.replicas:
                if log_dir.broker_id is not None and not replica.is_future:
                    self._places[replica.partition, log_dir.broker_id] = (log_dir.path, replica.size)
        self._compacted = self._compacted_topics(sorted({partition.topic for partition in partitions}))
        leaders = {partition: self._registration(partition).leader for partition in partitions}
        return sum(size for (each, broker), (_, size) in self._places.items() if leaders.get(each) != broker)

    def diff(self, partition: TopicPartition, advance: Advance) -> PartitionReport:
        registration = self._registration(partition)
        not_read = {broker: why for broker in registration.replicas if (why := self._why_not(partition, broker))}
        brokers = [broker for broker in registration.replicas if broker not in not_read]
        if not brokers:
            raise KafkaError("ReplicaNotAvailableException", f"no replica of {partition} can be read")
        logs = [self._log(partition, broker) for broker in brokers]
        led = next((log.log_end_offset for log in logs if log.broker_id == registration.leader), None)
        for log in logs:  # who was asked later than the leader may have more by then
            log.log_end_offset = log.log_end_offset if led is None else min(log.log_end_offset, led)
        copies = [self._copy(log, registration) for log in logs]
        end = max(log.log_end_offset for log in logs)
        reports = diff_copies(copies, None, end if partition.topic in self._compacted else 0, advance)
        leader = None if registration.leader == NO_LEADER else registration.leader
        return PartitionReport(partition, reports, leader, not_read=not_read)

    def _why_not(self, partition: TopicPartition, broker: int) -> str | None:
        """Why a copy cannot be read."""
        if broker not in self._cluster.live_brokers:
            return "its broker is down"
        held = (partition, broker)
        for found in (self._ends[EARLIEST_LOCAL][held], self._ends[LATEST][held], self._high_watermarks[held]):
            if isinstance(found, KafkapyError):
                return str(found)
        return None

    def _log(self, partition: TopicPartition, broker: int) -> FetchedLog:
        start, end = (self._ends[spec][partition, broker] for spec in (EARLIEST_LOCAL, LATEST))
        assert isinstance(start, ReplicaEnd)
        assert isinstance(end, ReplicaEnd)
        high_watermark = self._high_watermarks[partition, broker]
        assert isinstance(high_watermark, int)
        path, size = self._places.get((partition, broker), (f"broker {broker}", 0))
        topic_id = self._cluster.image().topics[partition.topic].id
        extent = Extent(start.offset, max(start.offset, high_watermark), max(start.offset, end.offset), size)
        return FetchedLog(self._client, partition, topic_id, broker, f"{path}/{partition}", extent)

    def _copy(self, log: FetchedLog, registration: PartitionRegistration) -> Copy:
        broker, partition = log.broker_id, log.partition
        end = self._ends[LATEST][partition, broker]
        assert isinstance(end, ReplicaEnd)
        log_dir = self._places.get((partition, broker), ("", 0))[0]
        return Copy(
            Replica(partition, log_dir, log.path),
            broker,
            log,
            topic_id=None,
            epochs=(),
            cleaned_to=None,
            is_leader=broker == registration.leader,
            in_isr=broker in registration.isr,
            in_elr=broker in registration.elr,
            is_assigned=True,
            torn_bytes=0,
            once_to=0,
            committed_to=0,
            readable_to=log.readable_to,
            told_epoch=end.epoch,
        )

    def _registration(self, partition: TopicPartition) -> PartitionRegistration:
        return self._cluster.image().topics[partition.topic].partitions[partition.partition]

    def _compacted_topics(self, topics: list[str]) -> set[str]:
        found = self._cluster.config_entries(TOPIC, topics)
        return {
            topic
            for topic, entries in found.items()
            if not isinstance(entries, KafkapyError)
            for entry in entries
            if entry.name == CLEANUP_POLICY and "compact" in (entry.value or "")
        }

    def _fetch_high_watermarks(self, held: Sequence[Held]) -> dict[Held, int | KafkapyError]:
        """How far copies can be read; who lags behind its leader is asked again for a while."""
        ends = {each: end for each in held if isinstance(end := self._ends[LATEST][each], ReplicaEnd)}
        found: dict[Held, int | KafkapyError] = {}
        asked, until = dict(ends), time.monotonic() + HEARS_S
        while asked:
            found |= self._ask_high_watermarks(asked)
            asked = {each: end for each, end in asked.items() if self._lags(each, end.offset, found)}
            if time.monotonic() > until:
                break
            time.sleep(PAUSE_S if asked else 0)
        return {each: found.get(each, KafkapyError("the broker did not report its high watermark")) for each in held}

    def _lags(self, held: Held, end: int, found: Mapping[Held, int | KafkapyError]) -> bool:
        own, led = found.get(held), found.get((held[0], self._registration(held[0]).leader))
        return isinstance(own, int) and isinstance(led, int) and own < min(led, end)

    def _ask_high_watermarks(self, ends: Mapping[Held, ReplicaEnd]) -> dict[Held, int | KafkapyError]:
        """Fetches at the ends of logs, where there is nothing to get but what stands beside the records."""
        topics = self._cluster.image().topics
        names = {topics[partition.topic].id: partition.topic for partition, _ in ends}
        brokers: dict[int, dict[str, list[Value]]] = {}
        for (partition, broker), end in ends.items():
            wanted = {"partition": partition.partition, "fetchOffset": end.offset, "partitionMaxBytes": 1}
            brokers.setdefault(broker, {}).setdefault(partition.topic, []).append(wanted)
        calls = [Call("Fetch", _fetch(topics, wanted), broker) for broker, wanted in brokers.items()]
        found: dict[Held, int | KafkapyError] = {}
        for broker, response in zip(brokers, self._client.call_all(calls), strict=True):
            if isinstance(response, KafkapyError):
                found.update((each, response) for each in ends if each[1] == broker)
                continue
            for topic in response["responses"]:
                name = names.get(topic.get("topicId"), topic.get("topic"))
                for each in topic["partitions"]:
                    code, mark = each["errorCode"], each["highWatermark"]
                    partition = TopicPartition(name, each["partitionIndex"])
                    found[partition, broker] = mark if code == NONE else kafka_error(code)
        return found


def _fetch(topics: Mapping[str, TopicImage], wanted: Mapping[str, list[Value]]) -> Value:
    fields = [{"topic": name, "topicId": topics[name].id, "partitions": each} for name, each in wanted.items()]
    return {"maxWaitMs": 0, "minBytes": 0, "maxBytes": 1, "topics": fields}
