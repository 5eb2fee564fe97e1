"""``kafkapy transactions describe-producers``."""

from contextlib import closing
from typing import Annotated

from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import examples

from .cluster_options import (
    BootstrapOption,
    ClusterOption,
    CommandConfigOption,
    LogDirsOption,
    OutputOption,
    selection,
)
from .transactions_options import WHICH_PARTITION, PartitionOption, TopicOption, failed_on, not_described, option

EXAMPLES = examples(
    (
        "Show the producers that a partition knows:",
        "kafkapy transactions --log-dirs /kafka/1 describe-producers --topic pay --partition 0",
    ),
    (
        "Ask the leader itself:",
        "kafkapy transactions --bootstrap-server localhost:9092 describe-producers --topic pay --partition 0",
    ),
    (
        "Show them as the replica of a broker knows them:",
        "kafkapy transactions --log-dirs /kafka/2 describe-producers --topic pay --partition 0 --broker-id 2",
    ),
)


def describe_producers(
    topic: TopicOption,
    partition: PartitionOption,
    broker_id: Annotated[
        int | None, option("BROKER", "The broker whose replica to query, instead of the leader's.", WHICH_PARTITION)
    ] = None,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    command_config: CommandConfigOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Describe the producers of a partition."""
    from kafkapy.backends.selection import open_cluster
    from kafkapy.log.topic_partition import TopicPartition
    from kafkapy.output.printing import print_rows
    from kafkapy.output.transaction_lines import producer_table

    asked = TopicPartition(topic, partition)
    with closing(open_cluster(selection(cluster, log_dirs, bootstrap_server, command_config))) as opened:
        found = opened.producers([asked], broker_id)[asked]
        if isinstance(found, KafkaError):
            failed_on(asked, opened, not_described(asked, broker_id), found)
    if isinstance(found, KafkapyError):
        raise found
    print_rows(output, producer_table(found.producers))
