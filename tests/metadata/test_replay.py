"""Invariants of replay: it never changes the image it starts from; records in parts, all at once, or through a
snapshot give the same image; a transaction counts whole or not at all."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.errors import FormatError, KafkaError
from kafkapy.formats.metadata_record import MetadataRecord, decode, encode
from kafkapy.metadata.delta import Replayer, replay
from kafkapy.metadata.image import EMPTY, Provenance
from kafkapy.metadata.topics_image import PartitionRegistration, merge, partition_record, topic_record
from tests.metadata.records import TOPIC_IDS, histories

BEGIN = MetadataRecord("BeginTransactionRecord", 0, {"name": "x"})
END = MetadataRecord("EndTransactionRecord", 0, {})
ABORT = MetadataRecord("AbortTransactionRecord", 0, {"reason": None})


def full(name: str, version: int, /, **value: object) -> MetadataRecord:
    """The record as it is read back, with its defaults."""
    return decode(encode(MetadataRecord(name, version, value)))


@given(histories(), st.data())
def test_one_by_one_and_at_once_give_the_same_image(records, data):
    at = data.draw(st.integers(0, len(records)))
    first = replay(EMPTY, records[:at])
    kept = copy.deepcopy(first)
    whole = replay(EMPTY, records)
    assert replay(first, records[at:]) == whole
    assert first == kept
    assert whole.provenance == Provenance(len(records) - 1)


@given(histories())
def test_a_snapshot_is_the_image(records):
    image = replay(EMPTY, records)
    through_bytes = [decode(encode(record)) for record in image.to_records()]
    assert replay(EMPTY, through_bytes, image.provenance) == image


@given(histories(), st.sampled_from([END, ABORT, None]), st.data())
def test_a_transaction_counts_whole_or_not_at_all(records, ending, data):
    at = data.draw(st.integers(0, len(records)))
    image = replay(EMPTY, [*records[:at], BEGIN, *records[at:], *([ending] if ending else [])], Provenance(7))
    assert image == replay(EMPTY, records if ending is END else records[:at], Provenance(7))


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([BEGIN, BEGIN], "Encountered BeginTransactionRecord while already in a transaction"),
        ([END], "Encountered EndTransactionRecord without having seen a BeginTransactionRecord"),
        ([ABORT], "Encountered AbortTransactionRecord without having seen a BeginTransactionRecord"),
        ([MetadataRecord("Nonsense", 0, {})], "Unknown metadata record type Nonsense"),
        (
            [full("RemoveTopicRecord", 0, topicId=TOPIC_IDS[0])],
            f"Unable to delete topic with id {TOPIC_IDS[0]}: no such topic found.",
        ),
        (
            [topic_record("t", TOPIC_IDS[0]), full("PartitionChangeRecord", 0, partitionId=3, topicId=TOPIC_IDS[0])],
            f"Unable to find partition {TOPIC_IDS[0]}:3",
        ),
        (
            [full("BrokerRegistrationChangeRecord", 0, brokerId=4, brokerEpoch=9)],
            "Tried to change broker 4, but that broker was not registered.",
        ),
        (
            [full("RegisterBrokerRecord", 4, brokerId=4, brokerEpoch=8), full("FenceBrokerRecord", 0, id=4, epoch=9)],
            "Tried to fence broker 4, but the given epoch, 9, did not match the current broker epoch, 8",
        ),
    ],
)
def test_what_does_not_fit_is_refused(records, message):
    with pytest.raises(FormatError) as refused:
        replay(EMPTY, records)
    assert str(refused.value) == message


def test_a_metadata_version_of_the_future_is_refused():
    with pytest.raises(KafkaError, match="No MetadataVersion with feature level 99"):
        replay(EMPTY, [full("FeatureLevelRecord", 0, name="metadata.version", featureLevel=99)])


def test_a_change_raises_the_epochs_it_must():
    before = PartitionRegistration((1, 2), (TOPIC_IDS[0], TOPIC_IDS[1]), (1, 2), leader=1)
    same_leader = merge(before, {"leader": 1})
    assert (same_leader.leader, same_leader.leader_epoch, same_leader.partition_epoch) == (1, 1, 1)
    shrunk = merge(before, {"isr": [2]})
    assert (shrunk.isr, shrunk.leader, shrunk.leader_epoch, shrunk.partition_epoch) == ((2,), 1, 0, 1)


def test_a_broker_is_fenced_and_unfenced_by_its_own_epoch():
    records = [
        full("RegisterBrokerRecord", 4, brokerId=1, brokerEpoch=5, fenced=True),
        full("BrokerRegistrationChangeRecord", 3, brokerId=1, brokerEpoch=5, cordonedLogDirs=[]),
        full("BrokerRegistrationChangeRecord", 0, brokerId=1, brokerEpoch=5, fenced=-1),
    ]
    broker = replay(EMPTY, records).brokers[1]
    assert (broker.fenced, broker.cordoned) == (False, ())
    assert replay(replay(EMPTY, records), [full("FenceBrokerRecord", 0, id=1, epoch=5)]).brokers[1].fenced


def test_a_topic_that_comes_again_has_a_new_life():
    partition = PartitionRegistration((1,), (TOPIC_IDS[0],), (1,), leader=1)
    image = replay(
        EMPTY,
        [
            topic_record("t", TOPIC_IDS[0]),
            partition_record(TOPIC_IDS[0], 0, partition, 30),
            full("ConfigRecord", 0, resourceType=2, resourceName="t", name="retention.ms", value="1"),
        ],
    )
    again = replay(image, [full("RemoveTopicRecord", 0, topicId=TOPIC_IDS[0]), topic_record("t", TOPIC_IDS[1])])
    assert again.topics["t"].id == TOPIC_IDS[1]
    assert not again.topics["t"].partitions
    assert again.topic_by_id(TOPIC_IDS[0]) is None
    assert not again.configs


def test_an_open_transaction_is_told():
    replayer = Replayer(EMPTY)
    replayer.replay(BEGIN)
    assert replayer.in_transaction
    replayer.replay(ABORT)
    assert not replayer.in_transaction
