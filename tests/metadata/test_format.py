"""What formatting writes: the bytes of a real format, and the first log of a cluster directory."""

from datetime import UTC, datetime

import pytest

from kafkapy.errors import KafkaError
from kafkapy.formats import clean_shutdown
from kafkapy.formats.control_record import ControlRecordType
from kafkapy.formats.meta_properties import MetaProperties
from kafkapy.formats.record_batch import decode_header
from kafkapy.metadata import format as storage_format
from kafkapy.metadata import scram
from kafkapy.metadata.cluster_image import BrokerRegistration, Endpoint, VersionRange
from kafkapy.metadata.metadata_batch import encode_control, encode_records
from kafkapy.metadata.metadata_directory import DIRECTORY_NAME
from kafkapy.metadata.metadata_log import load_metadata
from kafkapy.metadata.metadata_snapshot import voter, voters_value

ID = "x1FvxV5tS-CzvP5OVrXOIw"
DIRECTORY = "WxRoNPMAhM7j3W9ehDfktg"
META = MetaProperties(1, ID, 1, DIRECTORY)
WRITTEN_AT = datetime(2026, 11, 16, 12, 19, 53, tzinfo=UTC)
DEFAULTS = storage_format.bootstrap_records(storage_format.feature_levels(None, {}))


def broker(number: int) -> BrokerRegistration:
    listener = Endpoint("PLAINTEXT", "127.0.0.1", 9090 + number)
    return BrokerRegistration(number, -1, ID, (listener,), {"group.version": VersionRange(0, 1)}, rack=f"r{number}")


def test_bootstrap_checkpoint_has_kafkas_bytes(golden):
    real = (golden / "clean" / "broker-1" / "bootstrap.checkpoint").read_bytes()
    # Kafka gives each of the three batches the time at which it was written.
    data = decode_header(real, 83)
    times = [decode_header(real).max_timestamp, data.max_timestamp, decode_header(real, 83 + data.size).max_timestamp]
    header = (ControlRecordType.SNAPSHOT_HEADER, {"version": 0, "lastContainedLogTimestamp": 0})
    footer = (ControlRecordType.SNAPSHOT_FOOTER, {"version": 0})
    assert real == (
        encode_control([header], 0, 0, times[0])
        + encode_records(DEFAULTS, 1, 0, times[1])
        + encode_control([footer], 7, 0, times[2])
    )
    ours = storage_format.log_dir_files(META, DEFAULTS, WRITTEN_AT)["bootstrap.checkpoint"]
    assert len(ours) == len(real) == 411


def test_meta_properties():
    text = storage_format.log_dir_files(META, DEFAULTS, WRITTEN_AT)["meta.properties"].decode()
    assert text == (
        f"#\n#Mon Nov 16 12:19:53 UTC 2026\nnode.id=1\ndirectory.id={DIRECTORY}\nversion=1\ncluster.id={ID}\n"
    )


def test_only_a_dynamic_quorum_has_a_voters_checkpoint():
    voters = voters_value([voter(1, DIRECTORY, "CONTROLLER", "localhost", 19093)])
    files = storage_format.log_dir_files(META, DEFAULTS, WRITTEN_AT, voters=voters)
    path = f"{DIRECTORY_NAME}/00000000000000000000-0000000000.checkpoint"
    assert len(files[path]) == 241
    assert path not in storage_format.log_dir_files(META, DEFAULTS, WRITTEN_AT)


def test_a_cluster_directory_loads_as_a_cluster_that_stopped_cleanly(tmp_path):
    log = storage_format.cluster_log([broker(number) for number in (3, 1, 2)], DEFAULTS, 1000)
    for name, data in storage_format.cluster_log_dir_files(META, DEFAULTS, log, WRITTEN_AT).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    loaded = load_metadata(str(tmp_path))
    assert (loaded.last_epoch, loaded.from_bootstrap, loaded.in_transaction) == (1, False, False)
    assert loaded.image.config(4, "") == {"min.insync.replicas": "1"}
    assert loaded.image.features["metadata.version"] == 30
    assert {number: (one.epoch, one.fenced, one.rack) for number, one in loaded.image.brokers.items()} == {
        1: (10, True, "r1"),
        2: (11, True, "r2"),
        3: (12, True, "r3"),
    }
    assert loaded.end_offset == 13
    assert clean_shutdown.decode((tmp_path / ".kafka_cleanshutdown").read_bytes()) == 10


def test_an_old_release_has_no_transaction_and_no_elr(tmp_path):
    levels = storage_format.feature_levels("3.5", {})
    with_directory = broker(1)._replace(directories=(DIRECTORY,), cordoned=())
    log = storage_format.cluster_log([with_directory], storage_format.bootstrap_records(levels), 0)
    assert log.broker_epochs == {1: 2}
    (tmp_path / DIRECTORY_NAME).mkdir()
    (tmp_path / storage_format.LOG_PATH).write_bytes(log.data)
    image = load_metadata(str(tmp_path)).image
    assert image.features == {"metadata.version": 11}
    assert not image.configs
    assert (image.brokers[1].directories, image.brokers[1].cordoned) == ((), None)


def test_bootstrap_text():
    text = storage_format.bootstrap_text(DEFAULTS[:2])
    assert text == (
        "BootstrapMetadata(records=[ApiMessageAndVersion(FeatureLevelRecord(name='metadata.version', featureLevel=30) "
        "at version 0), ApiMessageAndVersion(FeatureLevelRecord(name='eligible.leader.replicas.version', "
        "featureLevel=1) at version 0)], metadataVersionLevel=30, source=format command)"
    )


@pytest.mark.parametrize(
    ("release", "wanted", "message"),
    [
        ("4.3", {"metadata.version": 30}, "Use --release-version instead of --feature metadata.version=X to avoid"),
        (None, {"metadata.version": 31}, "metadata.version 4.4-IV0 is not yet stable."),
        (None, {"nope": 1}, "Unsupported feature: nope. Supported features are: eligible.leader.replicas.version, "),
        (None, {"kraft.version": 1}, "Cannot set kraft.version to 1 unless controller.quorum.voters is empty"),
        ("4.0-IV0", {"eligible.leader.replicas.version": 1}, "eligible.leader.replicas.version could not be set to 1"),
        (None, {"group.version": 7}, "No feature:group.version with feature level 7"),
    ],
)
def test_what_cannot_be_formatted(release, wanted, message):
    with pytest.raises(KafkaError) as refused:
        storage_format.feature_levels(release, wanted)
    assert str(refused.value).startswith(message)


def test_a_password_becomes_kafkas_keys():
    # What StorageTool wrote for this user.
    argument = (
        'SCRAM-SHA-256=[name=alice,password=alice-secret,salt="MWx2NHBkbnc0ZndxN25vdGNxNWJqcTMyamU=",iterations=4096]'
    )
    user, mechanism, credential = scram.parse_argument(argument)
    assert (user, mechanism, credential.salt, credential.iterations) == (
        "alice",
        1,
        b"1lv4pdnw4fwq7notcq5bjq32je",
        4096,
    )
    assert list(credential.stored_key[:8]) == [48, 10, 79, 70, 230, 35, 11, 238]
    assert list(credential.server_key[:8]) == [85, 22, 110, 85, 119, 128, 50, 55]


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("SCRAM-SHA-256", "Failed to find equals sign in SCRAM argument 'SCRAM-SHA-256'"),
        ("SCRAM-SHA-1=[]", "The add-scram mechanism SCRAM-SHA-1 is not supported."),
        ("SCRAM-SHA-256=name=a", "Expected configuration string to start with ["),
        ("SCRAM-SHA-256=[name=a", "Expected configuration string to end with ]"),
        ("SCRAM-SHA-256=[name]", "No equals sign found in SCRAM component: name"),
        ("SCRAM-SHA-256=[password=a]", "You must supply 'name' to add-scram"),
        ("SCRAM-SHA-256=[name=a]", "You must supply one of 'password' or 'saltedpassword' to add-scram"),
        ("SCRAM-SHA-256=[name=a,saltedpassword=AA==]", "You must supply 'salt' with 'saltedpassword' to add-scram"),
        ("SCRAM-SHA-256=[name=a,password=b,salt=%]", "Failed to decode given salt: %"),
        ("SCRAM-SHA-256=[name=a,password=b,iterations=x]", "Failed to parse iterations count: x"),
        ("SCRAM-SHA-256=[name=a,password=b,x=1]", "Unknown SCRAM configurations: x"),
        (
            "SCRAM-SHA-256=[name=a,password=b,iterations=1]",
            "The 'iterations' value must be >= 4096 for add-scram using SCRAM_SHA_256",
        ),
    ],
)
def test_bad_scram_arguments(argument, message):
    with pytest.raises(KafkaError) as refused:
        scram.parse_argument(argument)
    assert str(refused.value) == message


def test_a_salt_is_new_each_time():
    assert scram.new_salt() != scram.new_salt()
    assert scram.new_salt().isalnum()
