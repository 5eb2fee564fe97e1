"""Resets of the offsets of groups: the plan, which ``--execute`` commits and ``--dry-run`` only shows.

All groups are planned before the first is changed, and their logs are looked up together. A group that has members is
left alone; one that is not there yet is made by its first commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from kafkapy import near_misses
from kafkapy.backends.cluster import Cluster
from kafkapy.backends.group_selection import list_consumer_groups
from kafkapy.backends.offset_targets import Commits, OffsetTargets, Reset, Target
from kafkapy.coordinator.group import GroupState
from kafkapy.coordinator.group_description import GroupDescription
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.errors import KafkaError
from kafkapy.formats.java_exceptions import execution_failure
from kafkapy.log.topic_partition import TopicPartition

INACTIVE = (GroupState.EMPTY, GroupState.DEAD)


class Scope(NamedTuple):
    """Which partitions: those of ``topics`` (``t`` or ``t:0,1``), or all that the group committed."""

    topics: Sequence[str] = ()
    all_topics: bool = False


class GroupReset:
    """What resets of groups of any type share. ``warnings`` is what Kafka's tool tells beside the plan, ``errors`` is
    about the groups that have none; ``notes`` is what Kafka's tool keeps to itself."""

    def __init__(self, cluster: Cluster, scope: Scope, target: Target) -> None:
        self._groups = cluster.groups()
        self._scope = scope
        self._target = target
        self._targets = OffsetTargets(cluster, target)
        self.errors: list[str] = []

    @property
    def warnings(self) -> list[str]:
        return self._targets.warnings

    @property
    def notes(self) -> list[str]:
        return self._targets.notes


class OffsetReset(GroupReset):
    """Plans resets of groups of consumers; ``errors`` names those that have members."""

    def plans(self, group_ids: Iterable[str]) -> dict[str, list[Reset]]:
        """Every partition of each group that would be reset, sorted; none of a group that has members."""
        described = self._groups.describe_consumer_groups(group_ids)
        inactive = [group_id for group_id, each in described.items() if self._is_inactive(group_id, each)]
        self._note_unknown([group_id for group_id, each in described.items() if isinstance(each, KafkaError)])
        committed = {each: checked(offsets) for each, offsets in self._groups.committed_offsets(inactive).items()}
        partitions = {group_id: self._partitions(group_id, committed[group_id]) for group_id in inactive}
        self._targets.look_up(partition for each in partitions.values() for partition in each)
        return {
            group_id: self._plan(group_id, partitions[group_id], committed[group_id]) if group_id in partitions else []
            for group_id in described
        }

    def _note_unknown(self, group_ids: Sequence[str]) -> None:
        """Which groups were probably meant by those that are only made by being reset."""
        known = self._known() if group_ids else []
        found = (near_misses.hint("group", group_id, known) for group_id in group_ids)
        self.notes.extend(each for each in found if each is not None)

    def _known(self) -> list[str]:
        return [listing.group_id for listing in list_consumer_groups(self._groups)]

    def _is_inactive(self, group_id: str, described: GroupDescription | KafkaError) -> bool:
        if isinstance(described, KafkaError):
            if described.name != "GroupIdNotFoundException":
                raise execution_failure(described)
            return True
        if described.state not in INACTIVE:
            self.errors.append(still_active(group_id, described.state))
        return described.state in INACTIVE

    def _plan(self, group_id: str, partitions: Iterable[TopicPartition], committed: Commits) -> list[Reset]:
        if self._target.scenario == "from-file":
            wanted = self._from_file(group_id)
        elif self._target.scenario == "to-group":
            wanted = {partition: self._copied[partition] for partition in partitions}
        else:
            wanted = self._targets.moved(partitions, committed)
        return self._targets.resets(wanted, committed)

    def _partitions(self, group_id: str, committed: Commits) -> list[TopicPartition]:
        """What is reset. With --all-topics, what was committed; a file and another group name partitions, too."""
        named = list(committed) if self._scope.all_topics else self._targets.named(self._scope.topics)
        if self._target.scenario == "from-file":
            self._targets.check_exist(named)
            return list(self._target.offsets.get(group_id, ()))
        if self._target.scenario == "to-group":
            self._targets.check_exist(named)
            scope = set(named) if self._scope.topics else self._copied
            return [partition for partition in self._copied if partition in scope]
        return named

    def _from_file(self, group_id: str) -> Commits:
        found = self._target.offsets.get(group_id)
        if found is None:
            self.errors.append(f"No reset plan for group {group_id} found")
            return {}
        return {each: OffsetAndMetadata(self._targets.clamped(each, offset)) for each, offset in found.items()}

    @cached_property
    def _copied(self) -> Commits:
        """What the group that is copied has committed."""
        other = self._target.group
        found = checked(self._groups.committed_offsets([other])[other])
        if not found:  # a group that is not there is told apart from one that has nothing to copy
            described = self._groups.describe_consumer_groups([other])[other]
            if isinstance(described, KafkaError):
                raise near_misses.hinting(described, "group", other, self._known())
        return found


def still_active(group_id: str, state: GroupState) -> str:
    """Why a group has no plan."""
    return f"Assignments can only be reset if the group '{group_id}' is inactive, but the current state is {state}."


def checked(offsets: Mapping[TopicPartition, OffsetAndMetadata] | KafkaError) -> Commits:
    """What a group has committed; the error in its place is raised as Kafka's tools do."""
    if isinstance(offsets, KafkaError):
        raise execution_failure(offsets)
    return offsets
