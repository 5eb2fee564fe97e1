"""Kafka's own StorageTool as judge of what formatting writes, to the byte but for ids and times."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kafkapy.formats import meta_properties
from kafkapy.formats.meta_properties import MetaProperties
from kafkapy.formats.record_batch import decode_header, encode_header
from kafkapy.metadata import format as storage_format
from kafkapy.metadata import scram
from kafkapy.metadata.metadata_snapshot import read_snapshot, voter, voters_value
from tests.kafka_java import kafka_java

CLUSTER_ID = "x1FvxV5tS-CzvP5OVrXOIw"
SCRAM = 'SCRAM-SHA-512=[name=alice,password=alice-secret,salt="MWx2NHBkbnc0ZndxN25vdGNxNWJqcTMyamU=",iterations=4096]'
PROPERTIES = """process.roles=broker,controller
node.id=1
{voters}
listeners=PLAINTEXT://localhost:19092,CONTROLLER://localhost:19093
controller.listener.names=CONTROLLER
log.dirs={log_dir}
"""


def run_format(tmp_path: Path, voters: str, *args: str) -> tuple[Path, str]:
    log_dir = tmp_path / "data"
    config = tmp_path / "server.properties"
    config.write_text(PROPERTIES.format(voters=voters, log_dir=log_dir))
    command = [*kafka_java("kafka.tools.StorageTool"), "format", "-c", str(config)]
    done = subprocess.run([*command, "-t", CLUSTER_ID, *args], capture_output=True, text=True, check=True)
    return log_dir, done.stdout


def without_times(data: bytes) -> list[tuple[object, bytes]]:
    """Each batch's header without checksum and times, and its records."""
    batches, position = [], 0
    while position < len(data):
        header = decode_header(data, position)
        timeless = encode_header(header._replace(crc=0, base_timestamp=0, max_timestamp=0))
        batches.append((timeless, data[position + 61 : position + header.size]))
        position += header.size
    return batches


@pytest.mark.parametrize(
    ("args", "release", "wanted", "users"),
    [
        ((), None, {}, []),
        (("-S", SCRAM), None, {}, [SCRAM]),
        (("-r", "4.0"), "4.0", {}, []),
        (("-r", "3.7"), "3.7", {}, []),
        (
            ("-f", "transaction.version=0", "-f", "eligible.leader.replicas.version=0"),
            None,
            {"transaction.version": 0, "eligible.leader.replicas.version": 0},
            [],
        ),
    ],
)
def test_static_voters(tmp_path, args, release, wanted, users):
    log_dir, out = run_format(tmp_path, "controller.quorum.voters=1@localhost:19093", *args)
    levels = storage_format.feature_levels(release, wanted)
    records = storage_format.bootstrap_records(levels, map(scram.parse_argument, users))
    ours = storage_format.log_dir_files(MetaProperties(1, CLUSTER_ID, 1), records, datetime.now(UTC))
    assert without_times(ours["bootstrap.checkpoint"]) == without_times((log_dir / "bootstrap.checkpoint").read_bytes())
    assert out.splitlines()[0] == f"Bootstrap metadata: {storage_format.bootstrap_text(records)}"


def test_a_standalone_voter(tmp_path):
    log_dir, _ = run_format(tmp_path, "controller.quorum.bootstrap.servers=localhost:19093", "-s")
    directory_id = meta_properties.decode((log_dir / "meta.properties").read_bytes()).directory_id
    path = log_dir / storage_format.VOTERS_PATH
    theirs = read_snapshot(str(path))
    voters = voters_value([voter(1, directory_id, "CONTROLLER", "localhost", 19093)])
    now = datetime.fromtimestamp(theirs.last_contained_log_timestamp / 1000, UTC)
    ours = storage_format.log_dir_files(MetaProperties(1, CLUSTER_ID, 1, directory_id), [], now, voters=voters)
    assert without_times(ours[storage_format.VOTERS_PATH]) == without_times(path.read_bytes())
    assert path.stat().st_mode & 0o777 == 0o400
