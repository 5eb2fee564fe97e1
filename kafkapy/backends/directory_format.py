"""Making a cluster directory, and the properties with which real brokers start on it.

It is made under another name and renamed when all of it is on disk: a directory of the wanted name is whole, or it is
not there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from datetime import datetime

from kafkapy.backends import cluster_file
from kafkapy.backends.cluster_file import BrokerEntry, ClusterFile
from kafkapy.errors import KafkapyError, UsageError
from kafkapy.formats.meta_properties import MetaProperties
from kafkapy.formats.metadata_record import MetadataRecord
from kafkapy.formats.uuid import random_uuid
from kafkapy.log.files import Files
from kafkapy.metadata import features
from kafkapy.metadata.cluster_image import BrokerRegistration, Endpoint, VersionRange
from kafkapy.metadata.format import bootstrap_records, cluster_log, cluster_log_dir_files, feature_levels
from kafkapy.near_misses import missing_number

HOST = "127.0.0.1"
BASE_PORT = 19092
LISTENER = "PLAINTEXT"
MOST_BROKERS = 1000
MOST_LOG_DIRS = 100


def make_cluster(
    directory: str,
    brokers: int,
    racks: Sequence[str] = (),
    release: str | None = None,
    wanted: Mapping[str, int] | None = None,
    cluster_id: str | None = None,
    files: Files | None = None,
    log_dirs_per_broker: int = 1,
) -> ClusterFile:
    """Make a cluster directory with that many brokers, numbered from 1.

    The first log dir of a broker has the metadata log.
    """
    if brokers < 1:
        raise UsageError(f"--brokers: a cluster needs at least one broker, not {brokers}")
    if brokers > MOST_BROKERS:
        raise UsageError(f"--brokers: a cluster directory has {MOST_BROKERS} brokers at most, not {brokers}")
    if log_dirs_per_broker > MOST_LOG_DIRS:
        raise UsageError(f"--log-dirs-per-broker: a broker has {MOST_LOG_DIRS} at most, not {log_dirs_per_broker}")
    if racks and len(racks) != brokers:
        raise UsageError(f"--racks: {len(racks)} racks for {brokers} brokers; name one for each")
    if os.path.exists(directory) and (not os.path.isdir(directory) or os.listdir(directory)):
        raise KafkapyError(f"{directory} exists already, and is not an empty directory")
    entries = tuple(
        BrokerEntry(number, racks[number - 1] if racks else None, _log_dirs(number, log_dirs_per_broker))
        for number in range(1, brokers + 1)
    )
    cluster = ClusterFile(cluster_id or random_uuid(), entries)
    _write(directory, cluster, bootstrap_records(feature_levels(release, wanted or {})), files or Files())
    return cluster


def _log_dirs(broker_id: int, count: int) -> tuple[str, ...]:
    return (f"broker-{broker_id}", *(f"broker-{broker_id}-{number}" for number in range(2, count + 1)))


def _write(directory: str, cluster: ClusterFile, bootstrap: list[MetadataRecord], files: Files) -> None:
    made_at = datetime.now().astimezone()
    directory_ids = {broker.id: [random_uuid() for _ in broker.log_dirs] for broker in cluster.brokers}
    registrations = [_registration(broker, directory_ids[broker.id]) for broker in cluster.brokers]
    log = cluster_log(registrations, bootstrap, int(made_at.timestamp() * 1000))
    target = os.path.abspath(directory)
    scratch = f"{target}.new-{os.getpid()}"
    shutil.rmtree(scratch, ignore_errors=True)
    try:
        os.makedirs(scratch)
        for broker in cluster.brokers:
            for number, log_dir in enumerate(broker.log_dirs):
                meta = MetaProperties(1, cluster.cluster_id, broker.id, directory_ids[broker.id][number])
                for name, data in cluster_log_dir_files(meta, bootstrap, log, made_at, number == 0).items():
                    path = os.path.join(scratch, log_dir, name)
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    files.write_atomic(path, data)
        files.write_atomic(os.path.join(scratch, cluster_file.FILE_NAME), cluster_file.encode(cluster))
        if os.path.isdir(target):
            os.rmdir(target)
        files.rename(scratch, target)
        files.fsync_dir(os.path.dirname(target))
    except BaseException as error:
        shutil.rmtree(scratch, ignore_errors=True)
        if isinstance(error, OSError) and isinstance(error.filename, str):
            error.filename = error.filename.replace(scratch, directory, 1)  # the name that was asked for
        raise


def _registration(broker: BrokerEntry, directory_ids: list[str]) -> BrokerRegistration:
    ranges = {name: VersionRange(*span) for name, span in features.supported_ranges().items()}
    port, _ = ports(broker.id, BASE_PORT)
    return BrokerRegistration(
        id=broker.id,
        epoch=-1,
        incarnation_id=random_uuid(),
        listeners=(Endpoint(LISTENER, HOST, port, 0),),
        supported_features=ranges,
        rack=broker.rack,
        fenced=True,
        directories=tuple(sorted(directory_ids)),
    )


def ports(broker_id: int, base_port: int) -> tuple[int, int]:
    """The ports of a broker and of its controller."""
    return base_port + 2 * (broker_id - 1), base_port + 2 * (broker_id - 1) + 1


def broker_properties(directory: str, cluster: ClusterFile, broker_id: int, base_port: int = BASE_PORT) -> list[str]:
    """The lines of the server.properties with which a real broker starts on a cluster directory."""
    broker = cluster.broker(broker_id)
    if broker is None:
        raise UsageError(f"--broker: {missing_number('broker', broker_id, (each.id for each in cluster.brokers))}")
    port, controller_port = ports(broker_id, base_port)
    voters = ",".join(f"{each.id}@{HOST}:{ports(each.id, base_port)[1]}" for each in cluster.brokers)
    copies = min(3, len(cluster.brokers))
    log_dirs = ",".join(os.path.abspath(os.path.join(directory, path)) for path in broker.log_dirs)
    lines = [
        "process.roles=broker,controller",
        f"node.id={broker_id}",
        f"controller.quorum.voters={voters}",
        f"listeners={LISTENER}://{HOST}:{port},CONTROLLER://{HOST}:{controller_port}",
        f"advertised.listeners={LISTENER}://{HOST}:{port}",
        "controller.listener.names=CONTROLLER",
        f"inter.broker.listener.name={LISTENER}",
        f"listener.security.protocol.map=CONTROLLER:PLAINTEXT,{LISTENER}:PLAINTEXT",
        f"log.dirs={log_dirs}",
        f"offsets.topic.replication.factor={copies}",
        f"transaction.state.log.replication.factor={copies}",
        f"transaction.state.log.min.isr={min(2, copies)}",
        f"share.coordinator.state.topic.replication.factor={copies}",
        f"share.coordinator.state.topic.min.isr={min(2, copies)}",
    ]
    return [*lines, f"broker.rack={broker.rack}"] if broker.rack is not None else lines
