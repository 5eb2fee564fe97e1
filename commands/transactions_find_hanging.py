"""``kafkapy transactions find-hanging``."""

from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from kafkapy.errors import KafkaError, UsageError
from kafkapy.near_misses import hinting
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
from .tool_errors import finish, tell_missing_partitions, warn
from .transactions_options import MS_IN_A_MINUTE, WHICH, failed, not_described, option

if TYPE_CHECKING:
    from kafkapy.backends.hanging_transactions import OpenTransaction

SCOPE = "Where to search (by default everywhere)"
EXAMPLES = examples(
    ("Find hanging transactions in all partitions:", "kafkapy transactions find-hanging --cluster my-cluster"),
    (
        "Find hanging transactions in all partitions of a running broker:",
        "kafkapy transactions --bootstrap-server localhost:9092 find-hanging --broker-id 1",
    ),
    (
        "Find those of a topic that have stood still for two minutes:",
        "kafkapy transactions --log-dirs /kafka/1 find-hanging --topic pay --max-transaction-timeout 2",
    ),
)


def find_hanging(
    broker_id: Annotated[int | None, option("BROKER", "Search the partitions on this broker.", SCOPE)] = None,
    topic: Annotated[str | None, option("TOPIC", "Search this topic.", SCOPE)] = None,
    partition: Annotated[int | None, option("PARTITION", "Search only this partition of the topic.", SCOPE)] = None,
    max_transaction_timeout: Annotated[
        int,
        option(
            "MINUTES", "Ignore transactions that were written to within this time: they may still be active.", WHICH
        ),
    ] = 15,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    command_config: CommandConfigOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Find transactions that hang.

    They are open in a partition, and nothing is going to end them: no coordinator has the transaction or, in files,
    where no coordinator runs, one has it and it is past its timeout.
    """
    if partition is not None and topic is None:
        raise UsageError("The --partition argument requires --topic to be provided")
    from kafkapy.backends import hanging_transactions
    from kafkapy.backends.producers import NotHere
    from kafkapy.backends.selection import open_cluster
    from kafkapy.output.printing import print_rows
    from kafkapy.output.transaction_lines import hanging_table

    scope = hanging_transactions.Scope(topic, partition, broker_id)
    with closing(open_cluster(selection(cluster, log_dirs, bootstrap_server, command_config))) as opened:
        try:
            found = list(hanging_transactions.find_hanging(opened, scope, max_transaction_timeout * MS_IN_A_MINUTE))
        except KafkaError as error:
            failed("Failed to describe 1 topics", hinting(error, "topic", topic or "", opened.image().topics))
        hanging = [each for each in found if isinstance(each, hanging_transactions.OpenTransaction)]
        skipped = [each for each in found if isinstance(each, hanging_transactions.Skipped)]
        print_rows(output, hanging_table(hanging, opened.now))
        _warn_of_decided(hanging)
        if scope == hanging_transactions.Scope():
            elsewhere = sum(isinstance(each.reason, NotHere) for each in skipped)
            skipped = [each for each in skipped if not isinstance(each.reason, NotHere)]
            if elsewhere:
                warn(f"kafkapy: not searched: {elsewhere} partitions that have no copy in {opened.where}")
        for each in skipped:
            warn(f"{not_described(each.partition, broker_id)}: {each.reason}")
        if skipped:
            tell_missing_partitions([each.partition for each in skipped], opened)
        finish(opened.transactions().problems)
    if skipped:
        raise typer.Exit(1)


def _warn_of_decided(hanging: "list[OpenTransaction]") -> None:
    for each in hanging:
        if each.decided is not None:
            label, transactional_id = each.decided.state.label, each.decided.transactional_id
            warn(
                f"kafkapy: do not abort producer {each.producer.producer_id} in {each.partition}: {transactional_id} "
                f"is in {label}, and its coordinator writes the marker when it is started (in a cluster directory: "
                "'kafkapy cluster replicate')"
            )
