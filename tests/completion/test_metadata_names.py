"""Names out of the metadata log: what is there and what was taken back, over snapshots and beside topics."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkapy.completion.candidates import candidates
from kafkapy.completion.command_line import CommandLine
from kafkapy.completion.metadata_names import names_in_metadata
from kafkapy.formats.metadata_record import MetadataRecord
from kafkapy.metadata.image import CLIENT_METRICS, client_quota_record, config_record
from kafkapy.metadata.metadata_batch import encode_records
from kafkapy.metadata.records import new_record
from kafkapy.metadata.security_image import (
    Acl,
    DelegationToken,
    ScramCredential,
    acl_record,
    scram_record,
    token_record,
)
from kafkapy.value_kind import ValueKind
from tests.commands.running import run
from tests.output import row_world

KEY = ScramCredential(b"salt", b"\x01\x0b\x00", b"", 4096)
ACL = Acl(2, "orders", 3, "User:dora", "*", 3, 3)
TOKEN = DelegationToken("token-1", "User:erin", "User:erin", ("User:finn", "User:gina"), 1, 2, 3)
ID = "IjjT2MU7TIO-TV9YKpO0gg"


def directory(log_dir: Path, *batches: list[MetadataRecord], start: int = 0) -> Path:
    """A metadata directory with a log of these batches."""
    made = log_dir / "__cluster_metadata-0"
    made.mkdir(exist_ok=True)
    data = b""
    offset = start
    for records in batches:
        data += encode_records(records, offset, 1, 0)
        offset += len(records)
    (made / f"{start:020d}.log").write_bytes(data)
    return made


def names(found: Path) -> dict[str, set[str]]:
    return {kind: each for kind, each in names_in_metadata(str(found)).items() if each}


def test_what_each_record_names(tmp_path: Path) -> None:
    made = directory(
        tmp_path,
        [new_record("TopicRecord", 0, {"name": "orders", "topicId": ID}), scram_record(1, "alice", KEY)],
        [client_quota_record((("client-id", "app"), ("user", "bob")), "producer_byte_rate", 1.0)],
        [client_quota_record((("ip", "10.0.0.1"),), "connection_creation_rate", 1.0)],
        [client_quota_record((("user", None),), "producer_byte_rate", 1.0)],
        [config_record(CLIENT_METRICS, "slow", "interval.ms", "1"), config_record(2, "orders", "retention.ms", "1")],
        [acl_record(ID, ACL), token_record(TOKEN)],
    )
    assert names(made) == {
        "USER": {"alice", "bob", "dora"},
        "PRINCIPAL": {"User:alice", "User:bob", "User:dora"},
        "CLIENT-ID": {"app"},
        "IP": {"10.0.0.1"},
        "CLIENT-METRICS": {"slow"},
        "TOKEN": {"token-1"},
    }


def test_what_was_taken_back_is_gone(tmp_path: Path) -> None:
    quota = (("user", "bob"),)
    made = directory(
        tmp_path,
        [scram_record(1, "alice", KEY), scram_record(2, "alice", KEY), client_quota_record(quota, "x", 1.0)],
        [config_record(CLIENT_METRICS, "slow", "interval.ms", "1"), acl_record(ID, ACL), token_record(TOKEN)],
        [new_record("RemoveUserScramCredentialRecord", 0, {"name": "alice", "mechanism": 1})],
        [client_quota_record(quota, "x", None), config_record(CLIENT_METRICS, "slow", "interval.ms", None)],
        [new_record("RemoveAccessControlEntryRecord", 0, {"id": ID})],
        [new_record("RemoveDelegationTokenRecord", 0, {"tokenId": "token-1"})],
    )
    assert names(made) == {"USER": {"alice"}, "PRINCIPAL": {"User:alice"}}, "alice has the credential of mechanism 2"


def test_principals_that_are_no_users(tmp_path: Path) -> None:
    others = [acl_record(ID, ACL._replace(principal=each)) for each in ("User:*",)]
    assert names(directory(tmp_path, others)) == {"PRINCIPAL": {"User:*"}}


def test_the_newest_snapshot_and_the_log_after_it(tmp_path: Path) -> None:
    """What the snapshot has no more is not found in the log before it, nor in what the cluster was formatted with."""
    (tmp_path / "bootstrap.checkpoint").write_bytes(encode_records([scram_record(1, "first", KEY)], 0, 0, 0))
    made = directory(tmp_path, [scram_record(1, "old", KEY)])
    assert names(made)["USER"] == {"first", "old"}
    directory(tmp_path, [scram_record(1, "new", KEY)], start=10)
    for end, user in ((5, "older"), (10, "kept")):
        snapshot = encode_records([scram_record(1, user, KEY)], 0, 1, 0)
        (made / f"{end:020d}-0000000001.checkpoint").write_bytes(snapshot)
    assert names(made)["USER"] == {"kept", "new"}


def test_a_torn_end(tmp_path: Path) -> None:
    made = directory(tmp_path, [scram_record(1, "alice", KEY)])
    (log,) = made.glob("*.log")
    log.write_bytes(log.read_bytes() + b"\0" * 30)
    assert names(made)["USER"] == {"alice"}


def test_the_names_that_commands_gave(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a cluster directory, also where the metadata has a snapshot."""
    cluster = row_world.made(tmp_path / "cluster")
    monkeypatch.setenv("KAFKAPY_CLUSTER", cluster)
    alter = ("configs", "--alter")
    for command in (
        (*alter, "--user", "alice", "--add-config", "SCRAM-SHA-256=[password=x]"),
        (*alter, "--user", "gone", "--add-config", "SCRAM-SHA-256=[password=x]"),
        (*alter, "--user", "gone", "--delete-config", "SCRAM-SHA-256"),
        ("maintenance", "--snapshot"),
        (*alter, "--client", "app", "--add-config", "producer_byte_rate=1"),
        (*alter, "--ip", "10.0.0.1", "--add-config", "connection_creation_rate=1"),
        (*alter, "--client-metrics", "slow", "--add-config", "interval.ms=1000"),
        ("acls", "--add", "--allow-principal", "User:dora", "--topic", "orders", "--operation", "Read"),
    ):
        assert run(capfd, *command).code == 0

    def offered(kind: str, *words: str) -> list[str]:
        return candidates(ValueKind(kind), CommandLine(words))

    assert offered("USER", "") == ["alice", "dora"]
    assert offered("PRINCIPAL", "User:d") == ["User:dora"]
    for entity_type, expected in (
        ("users", ["alice", "dora"]),
        ("clients", ["app"]),
        ("ips", ["10.0.0.1"]),
        ("client-metrics", ["slow"]),
        ("brokers", ["1", "2", "3"]),
        ("groups", ["billing"]),
    ):
        assert offered("ENTITY", "configs", "--entity-type", entity_type, "--entity-name", "") == expected
