"""What a group coordinator refuses, by Kafka's names and in Kafka's words."""

from __future__ import annotations

from kafkapy.errors import KafkaError

_MESSAGES = {
    "FencedInstanceIdException": "The broker rejected this static consumer since another consumer with the same "
    "group.instance.id has registered with a different member.id.",
    "FencedMemberEpochException": "The member epoch is fenced by the group coordinator. The member must abandon all "
    "its partitions and rejoin.",
    "GroupIdNotFoundException": "The group id does not exist.",
    "GroupMaxSizeReachedException": "The group has reached its maximum size.",
    "GroupNotEmptyException": "The group is not empty.",
    "GroupSubscribedToTopicException": "Deleting offsets of a topic is forbidden while the consumer group is actively "
    "subscribed to it.",
    "IllegalGenerationException": "Specified group generation id is not valid.",
    "InconsistentGroupProtocolException": "The group member's supported protocols are incompatible with those of "
    "existing members or first group member tried to join with empty protocol type or empty protocol list.",
    "InvalidGroupIdException": "The group id is invalid.",
    "InvalidSessionTimeoutException": "The session timeout is not within the range allowed by the broker (as "
    "configured by group.min.session.timeout.ms and group.max.session.timeout.ms).",
    "OffsetMetadataTooLarge": "The metadata field of the offset request was too large.",
    "RebalanceInProgressException": "The group is rebalancing, so a rejoin is needed.",
    "StaleMemberEpochException": "The member epoch is stale. The member must retry after receiving its updated member "
    "epoch via the ConsumerGroupHeartbeat API.",
    "UnknownMemberIdException": "The coordinator is not aware of this member.",
    "UnknownTopicOrPartitionException": "This server does not host this topic-partition.",
    "UnreleasedInstanceIdException": "The instance ID is still used by another member in the consumer group. That "
    "member must leave first.",
    "UnsupportedAssignorException": "The assignor or its version range is not supported by the consumer group.",
}


def refusal(name: str) -> KafkaError:
    """The error that Kafka has for it."""
    return KafkaError(name, _MESSAGES[name])
