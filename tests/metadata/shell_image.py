"""An image with something in every corner of MetadataShell's tree."""

from kafkapy.formats.metadata_record import MetadataRecord, decode, encode
from kafkapy.metadata.image import client_quota_record, config_record, feature_level_record, producer_ids_record
from kafkapy.metadata.security_image import (
    Acl,
    DelegationToken,
    ScramCredential,
    acl_record,
    scram_record,
    token_record,
)
from kafkapy.metadata.topics_image import PartitionRegistration, partition_record, topic_record

ID = "x1FvxV5tS-CzvP5OVrXOIw"
OTHER = "62WlZ-83SfGc8fQtyZw7WQ"


def everything() -> list[MetadataRecord]:
    moving = PartitionRegistration((1, 2), (ID, OTHER), (1,), (1,), (2,), (2,), (1,), 1, 1, 3, 4)
    broker = {
        "brokerId": 1,
        "incarnationId": ID,
        "brokerEpoch": 7,
        "rack": "east",
        "logDirs": [ID, OTHER],
        "features": [{"name": "metadata.version", "minSupportedVersion": 7, "maxSupportedVersion": 30}],
        "endPoints": [
            {"name": "PLAINTEXT", "host": "h", "port": 9092, "securityProtocol": 0},
            {"name": "EXTERNAL", "host": "e", "port": 443, "securityProtocol": 3},
        ],
    }
    return [
        feature_level_record("metadata.version", 30),
        feature_level_record("group.version", 1),
        MetadataRecord("RegisterBrokerRecord", 4, broker),
        MetadataRecord("RegisterBrokerRecord", 4, {"brokerId": 2, "incarnationId": ID, "cordonedLogDirs": []}),
        MetadataRecord("RegisterControllerRecord", 0, {"controllerId": 3, "incarnationId": OTHER}),
        topic_record("orders", ID),
        partition_record(ID, 0, moving, 30),
        partition_record(ID, 1, PartitionRegistration((2,), (OTHER,), (2,), leader=2), 30),
        topic_record("pay.ments", OTHER),
        config_record(2, "orders", "retention.ms", "1"),
        config_record(4, "", "min.insync.replicas", "1"),
        config_record(4, "1", "ssl.key.password", "secret"),
        config_record(16, "m", "interval.ms", "100"),
        config_record(32, "g", "share.auto.offset.reset", "earliest"),
        client_quota_record((("client-id", "a(b)"), ("user", "u\\v")), "producer_byte_rate", 12345678.0),
        client_quota_record((("ip", "127.0.0.1"),), "connection_creation_rate", 0.5),
        producer_ids_record(1, 7, 4000),
        acl_record(ID, Acl(2, "orders", 4, "User:alice", "*", 15, 3)),
        scram_record(2, "alice", ScramCredential(b"salt", b"\x00\xff", b"\x01", 4096)),
        token_record(DelegationToken("t", "User:a", "User:b", ("User:c", "User:d"), 1, 2, 3)),
    ]


def everything_read_back() -> list[MetadataRecord]:
    return [decode(encode(record)) for record in everything()]
