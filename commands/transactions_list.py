"""``kafkapy transactions list``."""

from contextlib import closing
from typing import Annotated

from kafkapy.errors import KafkaError
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
from .tool_errors import finish, tell_near_miss
from .transactions_options import WHICH, failed, option

EXAMPLES = examples(
    ("List all transactional ids:", "kafkapy transactions --log-dirs /kafka/1,/kafka/2 list"),
    ("List those of a running cluster:", "kafkapy transactions --bootstrap-server localhost:9092 list"),
    (
        "List some that have been running for more than a minute, as JSON:",
        "kafkapy transactions list --duration-filter 60000 --transactional-id-pattern 'pay-.*' --output json",
    ),
)


def list_transactions(
    duration_filter: Annotated[
        int,
        option(
            "MS",
            "Only transactional ids whose last transaction began longer ago than this, even if it has ended since "
            "(CompleteCommit, CompleteAbort), as with Kafka's tool; all if negative.",
            WHICH,
        ),
    ] = -1,
    transactional_id_pattern: Annotated[
        str, option("TRANSACTIONAL-ID|REGEX", "Only transactional ids that match as a whole.", WHICH)
    ] = "",
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    command_config: CommandConfigOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """List transactions."""
    from kafkapy.backends.selection import open_cluster
    from kafkapy.output.printing import print_rows
    from kafkapy.output.transaction_lines import list_table

    with closing(open_cluster(selection(cluster, log_dirs, bootstrap_server, command_config))) as opened:
        transactions = opened.transactions()
        try:
            found = transactions.list_transactions(duration_filter, transactional_id_pattern)
        except KafkaError as error:
            failed("Failed to list transactions", error)
        print_rows(output, list_table(found))
        if transactional_id_pattern and not found:
            known = (each.metadata.transactional_id for each in transactions.list_transactions())
            tell_near_miss("transactional id", transactional_id_pattern, known)
        finish(transactions.problems)
