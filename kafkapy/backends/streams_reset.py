"""Resets of streams groups: the plan for the topics that they read from outside.

A topic that is named has to be one that the group has committed for. The topics of a group's own are not reset but
deleted; which these are is told by the topology, and by their names.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkapy.backends.offset_reset import INACTIVE, GroupReset, checked, still_active
from kafkapy.backends.offset_targets import Commits, Reset
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.coordinator.streams_group_description import StreamsGroupDescription
from kafkapy.errors import KafkaError
from kafkapy.formats.java_exceptions import execution_failure
from kafkapy.log.topic_partition import TopicPartition

_OWN_ENDINGS = (
    "-changelog",
    "-repartition",
    "-subscription-registration-topic",
    "-subscription-response-topic",
)
_OWN_JOINS = r".+-KTABLE-FK-JOIN-SUBSCRIPTION-(?:REGISTRATION|RESPONSE)-[0-9]+-topic"


class StreamsReset(GroupReset):
    """Plans resets of streams groups. ``errors`` is what Kafka's tool tells of groups that have none."""

    def plans(self, group_ids: Iterable[str]) -> dict[str, list[Reset]]:
        """Every partition of each group that would be reset, sorted; none of a group that has members."""
        described = self._groups.describe_streams_groups(group_ids)
        inactive = [group_id for group_id, each in described.items() if self._is_inactive(group_id, each)]
        committed = {each: checked(offsets) for each, offsets in self._groups.committed_offsets(inactive).items()}
        wanted = {each: self._partitions(each, described[each], committed[each]) for each in inactive}
        self._targets.look_up(partition for each in wanted.values() for partition in each)
        return {each: self._plan(each, wanted.get(each), committed.get(each, {})) for each in described}

    def _is_inactive(self, group_id: str, described: StreamsGroupDescription | KafkaError) -> bool:
        if isinstance(described, KafkaError):
            if described.name != "GroupIdNotFoundException":
                raise execution_failure(described)
            return True
        if described.group.state not in INACTIVE:
            self.errors.append(still_active(group_id, described.group.state))
        return described.group.state in INACTIVE

    def _partitions(
        self, group_id: str, described: StreamsGroupDescription | KafkaError, committed: Commits
    ) -> list[TopicPartition]:
        if self._target.scenario == "from-file" and not self._scope.topics and not self._scope.all_topics:
            return list(self._target.offsets.get(group_id, ()))
        if self._scope.all_topics:
            return input_partitions(described, committed)
        named = self._targets.named(self._scope.topics)
        self._targets.check_exist(named)
        if all(partition in committed for partition in named):
            return named
        self.errors.append(f"One or more topics are not part of the group '{group_id}'.")
        return []

    def _plan(self, group_id: str, partitions: list[TopicPartition] | None, committed: Commits) -> list[Reset]:
        if partitions is None:
            return []
        if self._target.scenario != "from-file":
            return self._targets.resets(self._targets.moved(partitions, committed), committed)
        found = self._target.offsets.get(group_id)
        if found is None:
            self.errors.append(f"No reset plan for group {group_id} found")
            return []
        wanted = {each: OffsetAndMetadata(self._targets.clamped(each, offset)) for each, offset in found.items()}
        return self._targets.resets(wanted, committed)


def input_partitions(described: StreamsGroupDescription | KafkaError, committed: Commits) -> list[TopicPartition]:
    """What a group has committed for the topics that it reads from outside."""
    if isinstance(described, KafkaError):
        raise execution_failure(described)
    return [partition for partition in committed if partition.topic in described.source_topics]


def is_own_topic(topic: str, group_id: str) -> bool:
    """Whether a topic has the name of one of the group's own."""
    import re

    is_named = topic.endswith(_OWN_ENDINGS) or re.fullmatch(_OWN_JOINS, topic) is not None
    return topic.startswith(f"{group_id}-") and is_named
