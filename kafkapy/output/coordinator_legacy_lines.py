"""Records of ``__consumer_offsets`` and ``__transaction_state`` as the lines of older Kafkas, which scripts still look
for.

    [group,topic,partition]::OffsetAndMetadata(offset=.., leaderEpoch=Optional[..], ..)      Kafka 2.1 to 3.9
    [group,topic,partition]::[OffsetMetadata[..],CommitTime ..,ExpirationTime ..]            Kafka 0.9 to 2.0
    group::GroupMetadata(groupId=.., generation=.., protocolType=Some(..), currentState=.., members=HashMap(..))
    transactional id::TransactionMetadata(transactionalId=.., producerId=.., ..)

A tombstone is ``::NULL``. Options are Scala's (``Some(x)``, ``None``) but for the leader epoch, which is Java's. Where
Kafka printed in hash order, members and partitions stand in their own order. Kafka 1.0 was built with a Scala whose
hash maps call themselves Map and Set, and knew neither leader epochs nor static members.

Only classic groups have such lines. Versions of values that came later print what they share with the older ones.
"""

from __future__ import annotations

from typing import Any

from kafkapy.coordinator.transaction_state import TransactionState
from kafkapy.errors import SchemaError
from kafkapy.formats import coordinator_record
from kafkapy.formats.coordinator_record import CoordinatorRecord
from kafkapy.formats.message import Value
from kafkapy.output.coordinator_formatters import Kind, PlainCommit, utf8

TYPES = frozenset((0, 1, 2))
NONE = -1


def with_lines(kind: Kind) -> Kind:
    """What of a kind of records has such lines."""
    if kind.area != coordinator_record.GROUP:
        return kind
    return Kind(kind.area, TYPES if kind.types is None else kind.types & TYPES)


class LegacyTexts:
    """The lines of Kafka 2.8."""

    tombstone = b"NULL"
    map, set = "HashMap", "HashSet"

    def key(self, area: str, record: CoordinatorRecord) -> bytes:
        """What stands before the two colons, and they."""
        key = record.key
        if area == coordinator_record.TRANSACTION:
            return utf8(f"{key['transactionalId']}::")
        if "topic" in key:
            return utf8(f"[{key['group']},{key['topic']},{key['partition']}]::")
        return utf8(f"{key['group']}::")

    def commit(self, commit: PlainCommit) -> bytes:
        """An offset commit without metadata."""
        return self._offset(commit.offset, commit.leader_epoch, "", commit.commit_timestamp, NONE)

    def value(self, area: str, record: CoordinatorRecord) -> bytes:
        """Any value."""
        value = record.value
        assert value is not None
        if area == coordinator_record.TRANSACTION:
            return utf8(self._transaction(record.key["transactionalId"], value))
        if record.name == "GroupMetadata":
            return utf8(self._group(record.key["group"], value, record.version == 0))
        return self._offset(
            value["offset"],
            value.get("leaderEpoch", NONE),
            value["metadata"],
            value["commitTimestamp"],
            value.get("expireTimestamp", NONE),
        )

    def _offset(self, offset: int, leader_epoch: int, metadata: str, committed: int, expires: int) -> bytes:
        epoch = "Optional.empty" if leader_epoch == NONE else f"Optional[{leader_epoch}]"
        expiry = None if expires == NONE else expires
        return utf8(
            f"OffsetAndMetadata(offset={offset}, leaderEpoch={epoch}, metadata={metadata}, "
            f"commitTimestamp={committed}, expireTimestamp={_option(expiry)})"
        )

    def _group(self, group_id: str, value: Value, one_timeout: bool) -> str:
        """A group; the first version of the record had one timeout for both."""
        protocol = value["protocol"]
        members = {member["memberId"]: self._member(member, protocol, one_timeout) for member in value["members"]}
        protocol_type = value["protocolType"] if value["protocolType"] or members else None
        listed = ", ".join(f"{name} -> {member}" for name, member in sorted(members.items()))
        return (
            f"GroupMetadata(groupId={group_id}, generation={value['generation']}, "
            f"protocolType={_option(protocol_type)}, currentState={'Stable' if members else 'Empty'}, "
            f"members={self.map}({listed}))"
        )

    def _member(self, member: Value, protocol: str | None, one_timeout: bool) -> str:
        rebalance = member["sessionTimeout" if one_timeout else "rebalanceTimeout"]
        return (
            f"MemberMetadata(memberId={member['memberId']}, {self._instance(member)}clientId={member['clientId']}, "
            f"clientHost={member['clientHost']}, sessionTimeoutMs={member['sessionTimeout']}, "
            f"rebalanceTimeoutMs={rebalance}, supportedProtocols=List({'null' if protocol is None else protocol}), )"
        )

    def _instance(self, member: Value) -> str:
        return f"groupInstanceId={_option(member['groupInstanceId'])}, "

    def _transaction(self, transactional_id: str, value: Value) -> str:
        state = _state(value["transactionStatus"])
        topics = value["transactionPartitions"] or () if state is not TransactionState.EMPTY else ()
        partitions = sorted({(topic["topic"], number) for topic in topics for number in topic["partitionIds"]})
        listed = ", ".join(f"{topic}-{number}" for topic, number in partitions)
        return (
            f"TransactionMetadata(transactionalId={transactional_id}, producerId={value['producerId']}, "
            f"producerEpoch={value['producerEpoch']}, txnTimeoutMs={value['transactionTimeoutMs']}, "
            f"state={state.label}, pendingState=None, topicPartitions={self.set}({listed}), "
            f"txnStartTimestamp={value['transactionStartTimestampMs']}, "
            f"txnLastUpdateTimestamp={value['transactionLastUpdateTimestampMs']})"
        )


class Kafka10Texts(LegacyTexts):
    """The lines of Kafka 1.0."""

    map, set = "Map", "Set"

    def _offset(self, offset: int, leader_epoch: int, metadata: str, committed: int, expires: int) -> bytes:
        return utf8(
            f"[OffsetMetadata[{offset},{metadata or 'NO_METADATA'}],CommitTime {committed},ExpirationTime {expires}]"
        )

    def _instance(self, member: Value) -> str:
        return ""


def _state(number: int) -> TransactionState:
    try:
        return TransactionState(number)
    except ValueError:
        raise SchemaError(f"Unknown transaction status byte {number} from the transaction status message") from None


def _option(value: Any) -> str:
    return "None" if value is None else f"Some({value})"
