"""A committed offset: where a group goes on in a partition."""

from __future__ import annotations

from typing import NamedTuple

from kafkapy.formats.uuid import ZERO_UUID

NO_LEADER_EPOCH = -1
NO_EXPIRE_TIMESTAMP = -1


class OffsetAndMetadata(NamedTuple):
    """What a group committed: ``offset`` is that of the next record to be read. ``topic_id`` is that of the topic it
    was committed for, zero where the client did not know it."""

    offset: int
    leader_epoch: int = NO_LEADER_EPOCH
    metadata: str = ""
    commit_timestamp: int = -1
    expire_timestamp: int = NO_EXPIRE_TIMESTAMP
    topic_id: str = ZERO_UUID
