"""The coordinator's side of ConsumerGroupHeartbeat (KIP-848): the coordinator divides the partitions of a group.

A heartbeat changes the group by one batch of records that is on disk before the answer is given, so that what a
member was told survives; the group that the next heartbeat finds is what those records tell. A process that takes over
goes on where the one before stopped, as a broker does that becomes the group's coordinator: the members of the dead one
are in the group until ``evict`` takes them out, since there is no clock between processes to time them out.

A broker waits a second between two assignments of a group, to spare itself the work when many members join at once.
Here that is done only where ``consumer.assignment.interval.ms`` (of the group) or, for all groups,
``group.consumer.assignment.interval.ms`` is set: the members of a group are in one process, and would wait for nobody.

A non-empty classic group is not turned into a consumer group, and a consumer group with members of the classic
protocol not back into a classic one: as with ``group.consumer.migration.policy=disabled``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kafkapy.coordinator import consumer_group_records as records
from kafkapy.coordinator.consumer_group import ConsumerGroup, consumer_group
from kafkapy.coordinator.consumer_group_heartbeat import Heartbeat, HeartbeatAnswer, by_topic_name, check_heartbeat
from kafkapy.coordinator.consumer_group_member import LEAVE_STATIC_EPOCH, ConsumerGroupMember
from kafkapy.coordinator.consumer_group_regexes import regex_change, resolution_records, resolve
from kafkapy.coordinator.consumer_group_update import GroupUpdate, Surroundings, check_static_member
from kafkapy.coordinator.coordinator_cluster import CoordinatorCluster
from kafkapy.coordinator.group import INITIAL_EPOCH, ClassicGroup, ModernGroup
from kafkapy.coordinator.group_metadata_records import group_tombstones
from kafkapy.coordinator.group_store import GroupStore
from kafkapy.coordinator.topic_hash import TopicHashes
from kafkapy.errors import KafkaError
from kafkapy.formats.coordinator_record import CoordinatorRecord
from kafkapy.formats.uuid import random_uuid
from kafkapy.metadata.image import BROKER, GROUP, MetadataImage
from kafkapy.metadata.topics_image import TopicImage

__all__ = ["ConsumerGroups", "Heartbeat", "HeartbeatAnswer"]


class ConsumerGroups:
    """The consumer groups of a cluster."""

    def __init__(self, cluster: CoordinatorCluster, store: GroupStore) -> None:
        self._cluster = cluster
        self._store = store
        self._hashes = TopicHashes()
        image = cluster.image()
        self._seen = image.topics
        self._new_topics_at = image.provenance.offset
        self._refreshed: dict[str, Mapping[str, TopicImage]] = {}

    def heartbeat(self, group_id: str, beat: Heartbeat) -> HeartbeatAnswer:
        """A member joins, goes on or leaves. A joining member without an id is given one."""
        check_heartbeat(group_id, beat)
        if beat.is_leaving:
            return self._leave(group_id, beat)
        group, made = self._group_for(group_id, beat.is_joining)
        if not beat.member_id:
            beat = beat._replace(member_id=random_uuid())
        image = self._image()
        update = GroupUpdate(group, beat, self._surroundings(group, image))
        new = update.updated_member()
        regexes = regex_change(group, update.member, new, self._cluster.now, self._new_topics_at)
        member = update.run(regexes)
        self._append(group_id, [*made, *update.records])
        self._note_refresh(group, image)
        if regexes.to_resolve:
            self._resolve(group_id, regexes.to_resolve)
        is_told = beat.is_joining or beat.is_full or member.assigned != update.member.assigned
        assignment = by_topic_name(image, member.assigned) if is_told else None
        return HeartbeatAnswer(member.member_id, member.member_epoch, assignment)

    def evict(self, group_id: str, keep: Collection[str]) -> list[str]:
        """Take all members but ``keep`` out of a group, those of a process that died; the member ids. A static member
        that left for a while is one of them, unless it is kept."""
        stored = self._store.group(group_id)
        if not isinstance(stored, ModernGroup):
            return []
        group = consumer_group(stored)
        gone = [member for member in group.members.values() if member.member_id not in keep]
        self._fence(group, gone)
        return sorted(member.member_id for member in gone)

    def _leave(self, group_id: str, beat: Heartbeat) -> HeartbeatAnswer:
        stored = self._store.group(group_id)
        if stored is None:
            raise KafkaError("GroupIdNotFoundException", f"Group {group_id} not found.")
        group = self._consumer_group(stored)
        if beat.instance_id is None:
            self._fence(group, [group.member(beat.member_id)])
            return HeartbeatAnswer(beat.member_id, beat.member_epoch)
        member = check_static_member(group.static_member(beat.instance_id), beat.member_id, beat.instance_id)
        if beat.member_epoch == LEAVE_STATIC_EPOCH:
            self._append(group_id, [records.current_assignment(group_id, _left_for_a_while(member))])
        else:
            self._fence(group, [member])
        return HeartbeatAnswer(beat.member_id, beat.member_epoch)

    def _fence(self, group: ConsumerGroup, members: list[ConsumerGroupMember]) -> None:
        """Take members out of a group: its epoch rises, and the others share what they had."""
        if not members:
            return
        after = group.without_members({member.member_id for member in members})
        remaining = after.regex_subscribers()
        deleted = sorted(regex for regex in group.regex_subscribers() if regex not in remaining)
        after = after.without_regexes(deleted)
        image = self._image()
        if not self._is_fresh(group, image):
            # what has changed may change back before the next heartbeat, and the hash below would be wrong
            self._refreshed.pop(group.group_id, None)
        metadata_hash = self._hashes.group_hash(image, after.topic_names())
        made: list[CoordinatorRecord] = []
        for member in members:
            made += records.member_tombstones(group.group_id, member.member_id)
        made += [records.regular_expression_tombstone(group.group_id, regex) for regex in deleted]
        made.append(records.group_epoch(group.group_id, group.epoch + 1, metadata_hash))
        self._append(group.group_id, made)

    def _resolve(self, group_id: str, regexes: Collection[str]) -> None:
        image, stored = self._image(), self._store.group(group_id)
        if stored is None:
            return
        resolved = resolve(image, regexes, self._cluster.now)
        made = resolution_records(self._consumer_group(stored), resolved, image, self._hashes)
        self._append(group_id, made)
        if any(record.name == records.METADATA for record in made):
            self._refreshed[group_id] = image.topics

    def _group_for(self, group_id: str, is_joining: bool) -> tuple[ConsumerGroup, list[CoordinatorRecord]]:
        """The group of a heartbeat, and what makes way for it."""
        stored = self._store.group(group_id)
        if stored is None and not is_joining:
            raise KafkaError("GroupIdNotFoundException", f"Consumer group {group_id} not found.")
        if stored is None:
            return ConsumerGroup(group_id), []
        if is_joining and isinstance(stored, ClassicGroup):
            if stored.members:
                message = (
                    f"Cannot upgrade classic group {group_id} to consumer group because online upgrade is disabled."
                )
                raise KafkaError("GroupIdNotFoundException", message)
            return ConsumerGroup(group_id), group_tombstones(stored)
        return self._consumer_group(stored), []

    def _consumer_group(self, stored: ClassicGroup | ModernGroup) -> ConsumerGroup:
        if isinstance(stored, ClassicGroup):
            raise KafkaError("GroupIdNotFoundException", f"Group {stored.group_id} is not a consumer group.")
        return consumer_group(stored)

    def _append(self, group_id: str, made: list[CoordinatorRecord]) -> None:
        if made:
            self._store.append(group_id, made)

    def _image(self) -> MetadataImage:
        """The metadata; it is noted where topics have come since it was last asked for."""
        image = self._cluster.image()
        if self._seen is not image.topics:
            known = {topic.id for topic in self._seen.values()}
            if any(topic.id not in known for topic in image.topics.values()):
                self._new_topics_at = image.provenance.offset
            self._seen = image.topics
        return image

    def _surroundings(self, group: ConsumerGroup, image: MetadataImage) -> Surroundings:
        interval = image.config(GROUP, group.group_id).get("consumer.assignment.interval.ms")
        if interval is None:
            interval = image.config(BROKER, "").get("group.consumer.assignment.interval.ms", "0")
        return Surroundings(image, self._cluster.now, self._hashes, self._is_fresh(group, image), int(interval))

    def _is_fresh(self, group: ConsumerGroup, image: MetadataImage) -> bool:
        """Whether the topics of a group are as they were when its metadata hash was last compared with them."""
        seen = self._refreshed.get(group.group_id)
        return seen is not None and all(seen.get(name) is image.topics.get(name) for name in group.topic_names())

    def _note_refresh(self, group: ConsumerGroup, image: MetadataImage) -> None:
        """The group's metadata hash is that of these topics; of a group that was just made Kafka does not note it."""
        if group.members or group.epoch > INITIAL_EPOCH:
            self._refreshed[group.group_id] = image.topics
        else:
            self._refreshed.pop(group.group_id, None)


def _left_for_a_while(member: ConsumerGroupMember) -> ConsumerGroupMember:
    """It keeps its partitions; that it got them in epoch 0 makes commits of the one who left stale."""
    assigned = {topic_id: dict.fromkeys(partitions, 0) for topic_id, partitions in member.assigned.items()}
    return member._replace(member_epoch=LEAVE_STATIC_EPOCH, pending_revocation={}, assigned=assigned)
