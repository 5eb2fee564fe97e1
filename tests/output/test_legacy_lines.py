"""The lines that older Kafkas printed for records of internal topics."""

from __future__ import annotations

from typing import Any

import pytest

from kafkapy.errors import FormatError
from kafkapy.formats.coordinator_record import GROUP, TRANSACTION, CoordinatorRecord, encode_record
from kafkapy.formats.record_batch import Record
from kafkapy.output.coordinator_formatters import CoordinatorRecordMessageFormatter, Kind
from kafkapy.output.coordinator_legacy_lines import Kafka10Texts, LegacyTexts, with_lines

KEY = {"group": "group", "topic": "topic", "partition": 3}
MEMBER = {
    "memberId": "m-1",
    "groupInstanceId": None,
    "clientId": "c",
    "clientHost": "/127.0.0.1",
    "rebalanceTimeout": 300000,
    "sessionTimeout": 45000,
    "subscription": b"",
    "assignment": b"",
}
TRANSACTION_VALUE = {
    "producerId": 1000,
    "producerEpoch": 2,
    "transactionTimeoutMs": 60000,
    "transactionStatus": 1,
    "transactionPartitions": [{"topic": "b", "partitionIds": [10, 9]}, {"topic": "a", "partitionIds": [0]}],
    "transactionLastUpdateTimestampMs": 7,
    "transactionStartTimestampMs": 5,
}


def line(
    texts: LegacyTexts, name: str, key: dict[str, Any], version: int | None = None, value: dict[str, Any] | None = None
) -> str:
    area = TRANSACTION if name == "TransactionLog" else GROUP
    record = Record(0, 0, *encode_record(area, CoordinatorRecord(name, key, version, value)))
    out = bytearray()
    CoordinatorRecordMessageFormatter(with_lines(Kind(area)), texts).write(iter([record]), 0, None, out)
    return out.decode()


def commit(**fields: object) -> dict[str, Any]:
    return {"offset": 20, "metadata": "", "commitTimestamp": 1598188355048, **fields}


@pytest.mark.parametrize("version", [0, 1, 2, 3, 4])
def test_the_line_that_kafka_printed_for_years(version: int) -> None:
    assert line(LegacyTexts(), "OffsetCommit", KEY, version, commit()) == (
        "[group,topic,3]::OffsetAndMetadata(offset=20, leaderEpoch=Optional.empty, metadata=, "
        "commitTimestamp=1598188355048, expireTimestamp=None)"
    )


def test_the_line_of_kafka_1_0() -> None:
    value = commit(expireTimestamp=1598274755048)
    assert line(Kafka10Texts(), "OffsetCommit", KEY, 1, value) == (
        "[group,topic,3]::[OffsetMetadata[20,NO_METADATA],CommitTime 1598188355048,ExpirationTime 1598274755048]"
    )
    assert line(Kafka10Texts(), "OffsetCommit", KEY, 3, commit(metadata="m", leaderEpoch=4)) == (
        "[group,topic,3]::[OffsetMetadata[20,m],CommitTime 1598188355048,ExpirationTime -1]"
    )


def test_options() -> None:
    assert "leaderEpoch=Optional[4], metadata=me too," in line(
        LegacyTexts(), "OffsetCommit", KEY, 3, commit(leaderEpoch=4, metadata="me too")
    )
    assert "leaderEpoch=Optional[0], metadata=," in line(LegacyTexts(), "OffsetCommit", KEY, 4, commit(leaderEpoch=0))
    assert line(LegacyTexts(), "OffsetCommit", KEY, 1, commit(expireTimestamp=5)).endswith("expireTimestamp=Some(5))")


def test_the_oldest_commits() -> None:
    assert line(LegacyTexts(), "LegacyOffsetCommit", KEY, 0, commit()).startswith("[group,topic,3]::OffsetAndMetadata(")


@pytest.mark.parametrize("texts", [LegacyTexts(), Kafka10Texts()])
def test_tombstones(texts: LegacyTexts) -> None:
    assert line(texts, "OffsetCommit", KEY) == "[group,topic,3]::NULL"
    assert line(texts, "GroupMetadata", {"group": "g"}) == "g::NULL"
    assert line(texts, "TransactionLog", {"transactionalId": "pay"}) == "pay::NULL"


def group(**fields: object) -> dict[str, Any]:
    return {"protocolType": "consumer", "generation": 2, "protocol": "range", "leader": "m-1", "members": [], **fields}


def test_groups() -> None:
    assert line(LegacyTexts(), "GroupMetadata", {"group": "g"}, 3, group(protocol=None)) == (
        "g::GroupMetadata(groupId=g, generation=2, protocolType=Some(consumer), currentState=Empty, members=HashMap())"
    )
    assert "protocolType=None, currentState=Empty" in line(
        LegacyTexts(), "GroupMetadata", {"group": "g"}, 3, group(protocolType="")
    )
    assert line(LegacyTexts(), "GroupMetadata", {"group": "g"}, 3, group(members=[MEMBER])) == (
        "g::GroupMetadata(groupId=g, generation=2, protocolType=Some(consumer), currentState=Stable, members=HashMap("
        "m-1 -> MemberMetadata(memberId=m-1, groupInstanceId=None, clientId=c, clientHost=/127.0.0.1, "
        "sessionTimeoutMs=45000, rebalanceTimeoutMs=300000, supportedProtocols=List(range), )))"
    )


def test_members_stand_in_order_and_name_their_instances() -> None:
    members = [{**MEMBER, "memberId": "z"}, {**MEMBER, "memberId": "a", "groupInstanceId": "box"}]
    text = line(LegacyTexts(), "GroupMetadata", {"group": "g"}, 3, group(members=members))
    assert text.index("a -> MemberMetadata(") < text.index("), z -> MemberMetadata(")
    assert "groupInstanceId=Some(box)" in text


def test_the_first_version_had_one_timeout() -> None:
    member = {name: value for name, value in MEMBER.items() if name not in ("rebalanceTimeout", "groupInstanceId")}
    text = line(LegacyTexts(), "GroupMetadata", {"group": "g"}, 0, group(members=[member]))
    assert "sessionTimeoutMs=45000, rebalanceTimeoutMs=45000" in text


def test_groups_of_kafka_1_0() -> None:
    text = line(Kafka10Texts(), "GroupMetadata", {"group": "g"}, 1, group(members=[MEMBER]))
    assert "members=Map(m-1 -> MemberMetadata(memberId=m-1, clientId=c, " in text


@pytest.mark.parametrize("version", [0, 1])
def test_transactions(version: int) -> None:
    assert line(LegacyTexts(), "TransactionLog", {"transactionalId": "pay"}, version, TRANSACTION_VALUE) == (
        "pay::TransactionMetadata(transactionalId=pay, producerId=1000, producerEpoch=2, txnTimeoutMs=60000, "
        "state=Ongoing, pendingState=None, topicPartitions=HashSet(a-0, b-9, b-10), txnStartTimestamp=5, "
        "txnLastUpdateTimestamp=7)"
    )


def test_an_empty_transaction_has_no_partitions() -> None:
    value = TRANSACTION_VALUE | {"transactionStatus": 0, "transactionPartitions": None}
    assert "state=Empty, pendingState=None, topicPartitions=Set()," in line(
        Kafka10Texts(), "TransactionLog", {"transactionalId": "pay"}, 0, value
    )


def test_a_status_that_nobody_knows() -> None:
    with pytest.raises(FormatError, match="Unknown transaction status byte 9 from the transaction status message"):
        line(
            LegacyTexts(), "TransactionLog", {"transactionalId": "pay"}, 0, TRANSACTION_VALUE | {"transactionStatus": 9}
        )


def test_other_groups_have_no_lines() -> None:
    assert line(LegacyTexts(), "ConsumerGroupMetadata", {"groupId": "g"}, 0, {"epoch": 1}) == ""
