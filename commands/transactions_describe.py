"""``kafkapy transactions describe``."""

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
from .tool_errors import finish, tell_problems
from .transactions_options import WHICH, failed, hinting_id, option

EXAMPLES = examples(
    (
        "Show what the coordinator knows of an id:",
        "kafkapy transactions --log-dirs /kafka/1 describe --transactional-id pay-1",
    ),
    (
        "Ask the coordinator itself:",
        "kafkapy transactions --bootstrap-server localhost:9092 describe --transactional-id pay-1",
    ),
    ("Show it as a row:", "kafkapy transactions describe --transactional-id pay-1 --output jsonl"),
)


def describe(
    transactional_id: Annotated[str, option("TRANSACTIONAL-ID", "The transactional id.", WHICH)],
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    command_config: CommandConfigOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Describe the state of a transactional id."""
    from kafkapy.backends.selection import open_cluster
    from kafkapy.output.printing import print_rows
    from kafkapy.output.transaction_lines import describe_table

    with closing(open_cluster(selection(cluster, log_dirs, bootstrap_server, command_config))) as opened:
        transactions = opened.transactions()
        try:
            found = transactions.describe(transactional_id)
        except KafkaError as error:
            tell_problems(transactions.problems)
            hinted = hinting_id(error, transactions, transactional_id)
            failed(f"Failed to describe transaction state of transactional-id `{transactional_id}`", hinted)
        print_rows(output, describe_table(found, opened.now))
        finish(transactions.problems)
