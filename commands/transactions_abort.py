"""``kafkapy transactions abort``."""

from contextlib import closing
from typing import TYPE_CHECKING, Annotated

from kafkapy.errors import KafkaError, KafkapyError, UsageError
from kafkapy.subcommand import examples

from .cluster_options import BootstrapOption, ClusterOption, CommandConfigOption, LogDirsOption, selection
from .tool_errors import fail
from .transactions_options import PartitionOption, TopicOption, failed_on, option

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.coordinator.transaction_marker import AbortTransactionSpec
    from kafkapy.log.topic_partition import TopicPartition

BY_OFFSET = "Which transaction: by where it starts"
BY_PRODUCER = "Which transaction: by its producer (all three)"
EXAMPLES = examples(
    (
        "Abort the transaction that begins at an offset:",
        "kafkapy transactions --cluster my-cluster abort --topic pay --partition 0 --start-offset 39",
    ),
    (
        "The same in a running cluster:",
        "kafkapy transactions --bootstrap-server localhost:9092 abort --topic pay --partition 0 --start-offset 39",
    ),
    (
        "Abort the transaction of a producer:",
        "kafkapy transactions --cluster my-cluster abort --topic pay --partition 0 --producer-id 1001 "
        "--producer-epoch 0 --coordinator-epoch -1",
    ),
)


def abort(
    topic: TopicOption,
    partition: PartitionOption,
    start_offset: Annotated[int | None, option("OFFSET", "The first offset.", BY_OFFSET)] = None,
    producer_id: Annotated[int | None, option("PRODUCER-ID", "The producer id.", BY_PRODUCER)] = None,
    producer_epoch: Annotated[int | None, option("EPOCH", "The producer epoch.", BY_PRODUCER)] = None,
    coordinator_epoch: Annotated[
        int | None, option("EPOCH", "The coordinator epoch; -1 if not known.", BY_PRODUCER)
    ] = None,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    command_config: CommandConfigOption = None,
) -> None:
    """Abort a hanging transaction.

    The missing marker is written into this one partition, whatever its coordinator knows.
    """
    from kafkapy.backends.selection import open_cluster_for_writing
    from kafkapy.coordinator.transaction_marker import AbortTransactionSpec
    from kafkapy.log.topic_partition import TopicPartition

    where = TopicPartition(topic, partition)
    spec = None
    if start_offset is None:
        spec = AbortTransactionSpec(where, *_required_epochs(producer_id, producer_epoch, coordinator_epoch))
    selected = selection(cluster, log_dirs, bootstrap_server, command_config)
    with closing(open_cluster_for_writing(selected)) as opened:
        if spec is None:
            spec = _spec_at(opened, where, start_offset)
        try:
            opened.transactions().abort(spec)
        except KafkaError as error:
            failed_on(where, opened, f"Failed to abort transaction {spec}", error)


def _required_epochs(
    producer_id: int | None, producer_epoch: int | None, coordinator_epoch: int | None
) -> tuple[int, int, int]:
    if producer_id is None:
        raise UsageError(
            "The transaction to abort must be identified either with --start-offset (for brokers on 3.0 or above) or "
            "with --producer-id, --producer-epoch, and --coordinator-epoch (for older brokers)"
        )
    if producer_epoch is None:
        raise UsageError("Missing required argument --producer-epoch")
    if coordinator_epoch is None:
        raise UsageError("Missing required argument --coordinator-epoch")
    # a producer without any marker yet has coordinator epoch -1; 0 is not above that of any coordinator
    return producer_id, producer_epoch, max(coordinator_epoch, 0)


def _spec_at(opened: "Cluster", where: "TopicPartition", start_offset: int | None) -> "AbortTransactionSpec":
    from kafkapy.coordinator.transaction_marker import AbortTransactionSpec

    known = opened.producers([where])[where]
    if isinstance(known, KafkaError):
        failed_on(where, opened, f"Failed to validate producer state for partition {where}", known)
    if isinstance(known, KafkapyError):
        raise known
    for found in known.producers:
        if found.current_txn_start_offset == start_offset:
            return AbortTransactionSpec(where, *found[:2], max(found.coordinator_epoch, 0))
    fail(f"Could not find any open transactions starting at offset {start_offset} on partition {where}")
