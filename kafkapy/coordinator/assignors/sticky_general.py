"""The sticky assignors where members subscribe to different topics.

Everyone keeps what it owned and may still have. What is left goes, partition by partition, to the least loaded member
that subscribes: topics with fewest subscribers first, near racks first. Then partitions move from members to others
that have at least two fewer, round after round until no move is left. A move back to the owner of an older generation
goes before others. If all that made the whole no more balanced than before, it is undone.

Kafka does not check that the owner of an older generation still subscribes to the topic, or takes part at all: it may
get a partition that it does not want, and where it already has all that it can have, Kafka's assignor fails.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafkapy.coordinator.assignors.client_group import Assignment, ClientGroup
from kafkapy.coordinator.assignors.consumers_by_load import ConsumersByLoad
from kafkapy.coordinator.assignors.partition_movements import PartitionMovements
from kafkapy.coordinator.assignors.previous_owners import DEFAULT_GENERATION, PreviousOwners
from kafkapy.coordinator.assignors.rack_info import RackInfo
from kafkapy.errors import KafkaError
from kafkapy.log.topic_partition import TopicPartition


class GeneralAssignment:
    """One assignment in the making."""

    def __init__(self, group: ClientGroup, previous: PreviousOwners) -> None:
        self.group = group
        self.racks = RackInfo(group)
        self.former = _former_owners(previous)
        self.current: Assignment = previous.owned
        self.topics = {
            member_id: [topic for topic in member.subscription.topics if topic in group.partitions]
            for member_id, member in group.members.items()
        }
        self.consumers: dict[str, list[str]] = {topic: [] for topic in group.partitions}
        for member_id, topics in self.topics.items():
            for topic in topics:
                self.consumers[topic].append(member_id)
        self.partitions = {topic: group.topic_partitions((topic,)) for topic in group.partitions}
        self.owner = {partition: member_id for member_id, found in self.current.items() for partition in found}
        self.movements = PartitionMovements()
        self.is_revoking = False

    def build(self) -> Assignment:
        """Keep, fill, then balance."""
        self._keep_owned()
        unassigned = self._unassigned()
        self.by_load = ConsumersByLoad(self.current, self.current)
        is_new = self.by_load.most == 0
        self._assign(unassigned)
        fixed = self._take_out_fixed()
        before = {member_id: list(found) for member_id, found in self.current.items()}
        if not self.is_revoking:
            self._reassign(self._movable(unassigned))
        is_moved = self._reassign(self._movable(self._sorted_partitions()))
        if not is_new and is_moved and _balance_score(self.current) >= _balance_score(before):
            self.current = before
        return {**self.current, **fixed}

    def _keep_owned(self) -> None:
        for member_id, found in self.current.items():
            kept = [
                partition
                for partition in found
                if partition.topic in self.topics[member_id] and not self.racks.mismatch(member_id, partition)
            ]
            if len(kept) < len(found):
                self.current[member_id] = kept
                self.is_revoking = True

    def _sorted_partitions(self) -> list[TopicPartition]:
        topics = sorted(self.consumers, key=lambda topic: (len(self.consumers[topic]), topic))
        return self.group.topic_partitions(topics)

    def _unassigned(self) -> list[TopicPartition]:
        """Kafka walks through both sorted lists at once, so an owned partition that is no more stops it here, too."""
        owned = (partition for found in self.current.values() for partition in found)
        assigned = iter(sorted(owned, key=lambda each: (len(self.consumers[each.topic]), each)))
        wanted = next(assigned, None)
        unassigned = []
        for partition in self._sorted_partitions():
            if partition == wanted:
                wanted = next(assigned, None)
            else:
                unassigned.append(partition)
        return unassigned

    def _assign(self, unassigned: list[TopicPartition]) -> None:
        if self.racks.consumer_racks:
            unassigned = [partition for partition in unassigned if not self._assign_one(partition, near=True)]
        for partition in unassigned:
            self._assign_one(partition, near=False)

    def _assign_one(self, partition: TopicPartition, near: bool) -> bool:
        for consumer in self.by_load:
            if partition.topic in self.topics[consumer] and not (near and self.racks.mismatch(consumer, partition)):
                self.by_load.remove(consumer)
                self.current[consumer].append(partition)
                self.owner[partition] = consumer
                self.by_load.add(consumer)
                return True
        return False

    def _take_out_fixed(self) -> Assignment:
        """Members that have all they can have and share no topic stay out of the balancing."""
        fixed = {
            member_id: found
            for member_id, found in self.current.items()
            if len(found) >= self._most_possible(member_id)
            and not any(len(self.consumers[partition.topic]) >= 2 for partition in found)
        }
        for member_id in fixed:
            self.by_load.remove(member_id)
            del self.current[member_id]
        return fixed

    def _most_possible(self, member_id: str) -> int:
        return sum(self.group.partitions[topic] for topic in self.topics[member_id])

    def _movable(self, partitions: list[TopicPartition]) -> list[TopicPartition]:
        return [partition for partition in partitions if len(self.consumers[partition.topic]) >= 2]

    def _reassign(self, partitions: Sequence[TopicPartition]) -> bool:
        """Whether a partition moved."""
        is_moved_at_all = False
        is_moved = True
        while is_moved:
            is_moved = False
            for partition in partitions:
                if self._is_balanced():
                    break
                target = self._better_consumer(partition)
                if target is not None:
                    self._move(self.movements.actual(partition, self.owner[partition], target), target)
                    is_moved = is_moved_at_all = True
        return is_moved_at_all

    def _better_consumer(self, partition: TopicPartition) -> str | None:
        load = len(self.current[self.owner[partition]])
        former = self.former.get(partition)
        if former is not None:
            if former not in self.current:
                raise KafkaError("NullPointerException", f"{former} owned {partition} once but takes no part any more")
            if load > len(self.current[former]) + 1:
                return former
        # near consumers are among these, so Kafka's first look at them alone changes nothing
        if any(load > len(self.current[other]) + 1 for other in self.consumers[partition.topic]):
            return next(consumer for consumer in self.by_load if partition.topic in self.topics[consumer])
        return None

    def _move(self, partition: TopicPartition, target: str) -> None:
        source = self.owner[partition]
        self.by_load.remove(source)
        self.by_load.remove(target)
        self.movements.move(partition, source, target)
        self.current[source].remove(partition)
        self.current[target].append(partition)
        self.owner[partition] = target
        self.by_load.add(target)
        self.by_load.add(source)

    def _is_balanced(self) -> bool:
        """Whether nobody could take a partition from someone with at least two more."""
        if self.by_load.least >= self.by_load.most - 1:
            return True
        owners = {partition: member_id for member_id, found in self.current.items() for partition in found}
        for consumer in self.by_load:
            load = len(self.current[consumer])
            if load + 1 >= self.by_load.most:
                break
            if load != self._most_possible(consumer) and self._can_take(consumer, load, owners):
                return False
        return True

    def _can_take(self, consumer: str, load: int, owners: dict[TopicPartition, str]) -> bool:
        return any(
            load + 1 < len(self.current[owners[partition]]) and partition not in self.current[consumer]
            for topic in self.topics[consumer]
            for partition in self.partitions[topic]
        )


def _former_owners(previous: PreviousOwners) -> dict[TopicPartition, str]:
    """Who owned a partition in the newest generation before the last one."""
    former: dict[TopicPartition, tuple[str, int]] = {}
    for member_id, (partitions, claimed) in previous.data.items():
        generation = DEFAULT_GENERATION if claimed is None else claimed
        if generation < previous.max_generation:
            for partition in partitions:
                if partition not in former or generation > former[partition][1]:
                    former[partition] = member_id, generation
    return {partition: member_id for partition, (member_id, _) in former.items()}


def _balance_score(assignment: Assignment) -> int:
    """The differences in load of all pairs of members, added up."""
    loads = sorted(map(len, assignment.values()))
    return sum(load * (2 * position - len(loads) + 1) for position, load in enumerate(loads))
