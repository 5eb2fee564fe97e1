"""What formatting writes, as (path in the log dir -> bytes). Nothing is written here.

``storage format``, for each log dir:

    meta.properties        who the dir belongs to
    bootstrap.checkpoint   the records that the first controller will put into the metadata log: the features,
                           metadata.version first and the rest by name, those at level 0 left out, then SCRAM users
    __cluster_metadata-0/00000000000000000000-0000000000.checkpoint
                           only with a dynamic quorum, in the metadata dir: who the voters are

A cluster directory begins where a real cluster stands after its first boot and a clean stop, so that its brokers can
start on it at any time: the same metadata log in every log dir, with every broker registered and fenced, and a mark of
a clean stop with the epoch of that registration. Without the mark, or with another epoch, a cluster with eligible
leader replicas takes the broker for one that lost its data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from kafkapy.errors import KafkaError
from kafkapy.formats import clean_shutdown, meta_properties
from kafkapy.formats.message import Value
from kafkapy.formats.meta_properties import MetaProperties
from kafkapy.formats.metadata_record import MetadataRecord
from kafkapy.formats.snapshot_id import BOOTSTRAP_FILE_NAME, SnapshotId
from kafkapy.metadata import features
from kafkapy.metadata.cluster_image import BrokerRegistration, broker_record
from kafkapy.metadata.features import (
    ELIGIBLE_LEADER_REPLICAS_VERSION,
    IBP_3_5_IV2,
    IBP_3_6_IV1,
    KRAFT_VERSION,
    METADATA_VERSION,
)
from kafkapy.metadata.image import BROKER, config_record, feature_level_record
from kafkapy.metadata.metadata_batch import encode_control, encode_records, leader_change
from kafkapy.metadata.metadata_directory import DIRECTORY_NAME
from kafkapy.metadata.metadata_snapshot import Snapshot, encode_snapshot
from kafkapy.metadata.records import new_record
from kafkapy.metadata.security_image import ScramCredential, scram_record

FIRST_EPOCH = 1
LOG_PATH = f"{DIRECTORY_NAME}/{0:020d}.log"
VOTERS_PATH = f"{DIRECTORY_NAME}/{SnapshotId(0, 0).file_name()}"


class ClusterLog(NamedTuple):
    """The first bytes of a cluster's metadata log, and the epoch that each broker is registered with."""

    data: bytes
    broker_epochs: Mapping[int, int]


def feature_levels(
    release: str | None, wanted: Mapping[str, int], *, dynamic_quorum: bool = False, unstable: bool = False
) -> dict[str, int]:
    """The level of every feature of a new cluster, by name; ``wanted`` are those that were asked for."""
    metadata_version = _metadata_version(release, wanted, unstable)
    for name in wanted:
        if name != METADATA_VERSION and name not in features.FEATURES:
            supported = ", ".join(sorted(features.FEATURES))
            raise _refused(f"Unsupported feature: {name}. Supported features are: {supported}")
    levels = features.default_levels(metadata_version) | dict(wanted) | {METADATA_VERSION: metadata_version}
    levels[KRAFT_VERSION] = _kraft_version(wanted.get(KRAFT_VERSION), dynamic_quorum)
    for name in sorted(levels):
        if name != METADATA_VERSION:
            features.feature_version(name, levels[name])
            features.validate(name, levels[name], levels)
    return dict(sorted(levels.items()))


def bootstrap_records(
    levels: Mapping[str, int], scram: Iterable[tuple[str, int, ScramCredential]] = ()
) -> list[MetadataRecord]:
    """What bootstrap.checkpoint holds; ``scram`` are (user, mechanism, credential)."""
    users = [scram_record(mechanism, user, credential) for user, mechanism, credential in scram]
    if users and levels[METADATA_VERSION] < IBP_3_5_IV2:
        first = features.metadata_version_name(IBP_3_5_IV2)
        raise _refused(f"SCRAM is only supported in metadata.version {first} or later.")
    others = sorted(name for name in levels if name not in (METADATA_VERSION, KRAFT_VERSION) and levels[name] > 0)
    return [*(feature_level_record(name, levels[name]) for name in (METADATA_VERSION, *others)), *users]


def log_dir_files(
    meta: MetaProperties,
    bootstrap: Sequence[MetadataRecord],
    written_at: datetime,
    *,
    voters: Value | None = None,
    kraft_version: int = 1,
) -> dict[str, bytes]:
    """The files of a formatted log dir; ``voters`` (a VotersRecord) for the metadata dir of a dynamic quorum."""
    now = int(written_at.timestamp() * 1000)
    files = {
        meta_properties.FILE_NAME: meta_properties.encode(meta, written_at),
        BOOTSTRAP_FILE_NAME: encode_snapshot(Snapshot(tuple(bootstrap)), 0, now),
    }
    if voters is not None:
        files[VOTERS_PATH] = encode_snapshot(Snapshot((), now, kraft_version, voters), 0, now)
    return files


def cluster_log(brokers: Sequence[BrokerRegistration], bootstrap: Sequence[MetadataRecord], now: int) -> ClusterLog:
    """The metadata log of a cluster whose brokers, all of them voters, have registered and stopped.

    The registrations' epochs are those that they get here: the offset of each record.
    """
    ids = sorted(broker.id for broker in brokers)
    elected = encode_control([leader_change(ids[0], ids, ids)], 0, FIRST_EPOCH, now)
    levels = {
        record.value["name"]: record.value["featureLevel"]
        for record in bootstrap
        if record.name == "FeatureLevelRecord"
    }
    first = _first_records(bootstrap, levels)
    epochs = {broker_id: 1 + len(first) + index for index, broker_id in enumerate(ids)}
    registrations = [
        broker_record(broker._replace(epoch=epochs[broker.id], fenced=True), levels[METADATA_VERSION])
        for broker in sorted(brokers, key=lambda broker: broker.id)
    ]
    return ClusterLog(elected + encode_records([*first, *registrations], 1, FIRST_EPOCH, now), epochs)


def cluster_log_dir_files(
    meta: MetaProperties,
    bootstrap: Sequence[MetadataRecord],
    log: ClusterLog,
    written_at: datetime,
    has_metadata_log: bool = True,
) -> dict[str, bytes]:
    """The files of a log dir of a new cluster directory."""
    assert meta.node_id is not None
    mark = {clean_shutdown.FILE_NAME: clean_shutdown.encode(log.broker_epochs[meta.node_id])}
    return log_dir_files(meta, bootstrap, written_at) | ({LOG_PATH: log.data} if has_metadata_log else {}) | mark


def bootstrap_text(bootstrap: Sequence[MetadataRecord]) -> str:
    """What StorageTool prints of bootstrap metadata."""
    records = ", ".join(f"ApiMessageAndVersion({_record_text(record)})" for record in bootstrap)
    level = next(record.value["featureLevel"] for record in bootstrap if record.value["name"] == METADATA_VERSION)
    return f"BootstrapMetadata(records=[{records}], metadataVersionLevel={level}, source=format command)"


def _first_records(bootstrap: Sequence[MetadataRecord], levels: Mapping[str, int]) -> list[MetadataRecord]:
    """What the first controller writes: the bootstrap records, whole or not at all."""
    records = list(bootstrap)
    if levels.get(ELIGIBLE_LEADER_REPLICAS_VERSION, 0) >= 1:
        records.append(config_record(BROKER, "", "min.insync.replicas", "1"))
    if levels[METADATA_VERSION] < IBP_3_6_IV1:
        return records
    begin = new_record("BeginTransactionRecord", 0, {"name": "Bootstrap records"})
    return [begin, *records, new_record("EndTransactionRecord", 0, {})]


def _metadata_version(release: str | None, wanted: Mapping[str, int], unstable: bool) -> int:
    if METADATA_VERSION not in wanted:
        if release is not None:
            return features.metadata_version_level(release, unstable)
        return features.LATEST_TESTING_LEVEL if unstable else features.LATEST_PRODUCTION_LEVEL
    if release is not None:
        raise _refused("Use --release-version instead of --feature metadata.version=X to avoid ambiguity.")
    level = wanted[METADATA_VERSION]
    name = features.metadata_version_name(level)
    if level > features.LATEST_PRODUCTION_LEVEL and not unstable:
        raise _refused(f"metadata.version {name} is not yet stable.")
    return level


def _kraft_version(wanted: int | None, dynamic_quorum: bool) -> int:
    if wanted is None:
        return 1 if dynamic_quorum else 0
    if wanted == 0 and dynamic_quorum:
        raise _refused(
            "Cannot set kraft.version to 0 if controller.quorum.voters is empty and one of the flags --standalone, "
            "--initial-controllers, or --no-initial-controllers is used. For dynamic controllers support, try "
            "removing the --feature flag for kraft.version."
        )
    if wanted != 0 and not dynamic_quorum:
        raise _refused(
            f"Cannot set kraft.version to {wanted} unless controller.quorum.voters is empty and one of the flags "
            "--standalone, --initial-controllers, or --no-initial-controllers is used. For dynamic controllers "
            "support, try using one of --standalone, --initial-controllers, or --no-initial-controllers and removing "
            "controller.quorum.voters."
        )
    return wanted


def _record_text(record: MetadataRecord) -> str:
    fields = ", ".join(f"{name}={_java_text(value)}" for name, value in record.value.items())
    return f"{record.name}({fields}) at version {record.version}"


def _java_text(value: object) -> str:
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, bytes):
        return str([byte - 256 if byte > 127 else byte for byte in value])
    return str(value)


def _refused(message: str) -> KafkaError:
    return KafkaError("FormatterException", message)
