"""``kafkapy transactions``: kafka-transactions.sh, from producer snapshots, ``__transaction_state`` and the logs."""

from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer._click import Context

from kafkapy.errors import KafkaError, UsageError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, Subgroup, examples, new_group

from .cluster_options import BootstrapOption, ClusterOption, LogDirsOption, OutputOption, selection
from .tool_errors import fail, finish, tell_problems, warn

if TYPE_CHECKING:
    from kafkapy.backends.log_dirs import LogDirsCluster
    from kafkapy.backends.selection import Selection
    from kafkapy.coordinator.transaction_marker import AbortTransactionSpec
    from kafkapy.log.topic_partition import TopicPartition

BEFORE_THE_SUBCOMMAND = ("--cluster", "--log-dirs", "--bootstrap-server", "--output")
WHICH = "Which transactions"
WHICH_PARTITION = "Which partition"
SCOPE = "Where to search (by default, all that is there)"
BY_OFFSET = "Which transaction: by where it starts"
BY_PRODUCER = "Which transaction: by its producer (all three)"
MS_IN_A_MINUTE = 60_000


def _option(metavar: str, help_text: str, panel: str, *names: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=help_text, rich_help_panel=panel)


TopicOption = Annotated[str, _option("TOPIC", "The topic's name.", WHICH_PARTITION)]
PartitionOption = Annotated[int, _option("N", "The partition's number.", WHICH_PARTITION)]

app = new_group(
    "List and describe transactions, find those that hang, and abort them.\n\n"
    "The options that name the cluster, and --output, may stand before the subcommand, where Kafka wants them, or "
    "after it; 'kafkapy transactions COMMAND --help' lists them.",
    examples(
        (
            "List the transactional ids of brokers' directories:",
            "kafkapy transactions --log-dirs /kafka/1,/kafka/2 list",
        ),
        ("Find hanging transactions:", "kafkapy transactions find-hanging --log-dirs /kafka/1,/kafka/2"),
    ),
)


class OptionsFirst(Subgroup):
    """Takes the options that name the cluster before the sub-command too, where Kafka wants them."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Move such options behind the sub-command."""
        at = 0
        while at < len(args) and args[at].startswith("-"):
            name, _, value = args[at].partition("=")
            if "--" + name.lstrip("-") not in BEFORE_THE_SUBCOMMAND:
                break
            at += 1 if value else 2
        first, rest = args[:at], args[at:]
        if rest and not rest[0].startswith("-"):
            rest[1:1] = first
        return super().parse_args(ctx, rest)


@app.callback(cls=OptionsFirst)
def transactions() -> None:
    """Only to have a group of this class."""


@app.command(
    "list",
    cls=Subcommand,
    epilog=examples(
        ("List all transactional ids:", "kafkapy transactions --log-dirs /kafka/1,/kafka/2 list"),
        (
            "List some that run for more than a minute, as JSON:",
            "kafkapy transactions list --duration-filter 60000 --transactional-id-pattern 'pay-.*' --output json",
        ),
    ),
)
def list_(
    duration_filter: Annotated[
        int,
        _option(
            "MS",
            "Only transactional ids whose last transaction began longer ago than this, also where it has ended since "
            "(CompleteCommit, CompleteAbort), as with Kafka's tool; all if negative.",
            WHICH,
        ),
    ] = -1,
    transactional_id_pattern: Annotated[
        str, _option("REGEX", "Only transactional ids that match as a whole.", WHICH)
    ] = "",
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """List transactions."""
    from kafkapy.output.printing import print_rows
    from kafkapy.output.transaction_lines import list_table

    coordinator = _open(selection(cluster, log_dirs, bootstrap_server)).transactions()
    try:
        found = coordinator.list_transactions(duration_filter, transactional_id_pattern)
    except KafkaError as error:
        _fail("Failed to list transactions", error)
    print_rows(output, list_table(found))
    finish(coordinator.problems)


@app.command(
    "describe",
    cls=Subcommand,
    epilog=examples(
        (
            "Show what the coordinator knows of an id:",
            "kafkapy transactions --log-dirs /kafka/1 describe --transactional-id pay-1",
        ),
        ("Show it as a row:", "kafkapy transactions describe --transactional-id pay-1 --output jsonl"),
    ),
)
def describe(
    transactional_id: Annotated[str, _option("ID", "The transactional id.", WHICH)],
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Describe the state of a transactional id."""
    from kafkapy.output.printing import print_rows
    from kafkapy.output.transaction_lines import describe_table

    opened = _open(selection(cluster, log_dirs, bootstrap_server))
    coordinator = opened.transactions()
    try:
        found = coordinator.describe(transactional_id)
    except KafkaError as error:
        tell_problems(coordinator.problems)
        _fail(f"Failed to describe transaction state of transactional-id `{transactional_id}`", error)
    print_rows(output, describe_table(found, opened.now))
    finish(coordinator.problems)


@app.command(
    "describe-producers",
    cls=Subcommand,
    epilog=examples(
        (
            "Show the producers that a partition knows:",
            "kafkapy transactions --log-dirs /kafka/1 describe-producers --topic pay --partition 0",
        ),
        (
            "Show them as the replica of a broker knows them:",
            "kafkapy transactions --log-dirs /kafka/2 describe-producers --topic pay --partition 0 --broker-id 2",
        ),
    ),
)
def describe_producers(
    topic: TopicOption,
    partition: PartitionOption,
    broker_id: Annotated[
        int | None, _option("ID", "The broker whose replica is asked, and not the leader's.", WHICH_PARTITION)
    ] = None,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Describe the producers of a partition."""
    from kafkapy.backends.producer_listing import active_producers
    from kafkapy.log.topic_partition import TopicPartition
    from kafkapy.output.printing import print_rows
    from kafkapy.output.transaction_lines import producer_table

    asked = TopicPartition(topic, partition)
    try:
        found = active_producers(_open(selection(cluster, log_dirs, bootstrap_server)), asked, broker_id)
    except KafkaError as error:
        _fail(_not_described(asked, broker_id), error)
    print_rows(output, producer_table(found))


@app.command(
    "find-hanging",
    cls=Subcommand,
    epilog=examples(
        ("Find hanging transactions in all partitions:", "kafkapy transactions find-hanging --cluster my-cluster"),
        (
            "Find hanging transactions in all that a broker has:",
            "kafkapy transactions --log-dirs /kafka/1 find-hanging --broker-id 1",
        ),
        (
            "Find those of a topic that stand still for two minutes already:",
            "kafkapy transactions --log-dirs /kafka/1 find-hanging --topic pay --max-transaction-timeout 2",
        ),
    ),
)
def find_hanging(
    broker_id: Annotated[int | None, _option("ID", "Search what this broker has.", SCOPE)] = None,
    topic: Annotated[str | None, _option("TOPIC", "Search this topic.", SCOPE)] = None,
    partition: Annotated[int | None, _option("N", "Search only this partition of the topic.", SCOPE)] = None,
    max_transaction_timeout: Annotated[
        int, _option("MINUTES", "Transactions that were written to since may still be at work.", WHICH)
    ] = 15,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Find transactions that hang.

    They are open in a partition, and nobody is going to end them: no coordinator has the transaction or, because no
    coordinator runs in files, one has it and it is past its timeout.
    """
    if partition is not None and topic is None:
        raise UsageError("The --partition argument requires --topic to be provided")
    from kafkapy.backends import hanging_transactions
    from kafkapy.output.printing import print_rows
    from kafkapy.output.transaction_lines import hanging_table

    opened = _open(selection(cluster, log_dirs, bootstrap_server))
    scope = hanging_transactions.Scope(topic, partition, broker_id)
    try:
        found = list(hanging_transactions.find_hanging(opened, scope, max_transaction_timeout * MS_IN_A_MINUTE))
    except KafkaError as error:
        _fail("Failed to describe 1 topics", error)
    hanging = [each for each in found if isinstance(each, hanging_transactions.OpenTransaction)]
    skipped = [each for each in found if isinstance(each, hanging_transactions.Skipped)]
    print_rows(output, hanging_table(hanging, opened.now))
    for each in skipped:
        warn(f"{_not_described(each.partition, broker_id)}: {each.reason}")
    if scope == hanging_transactions.Scope() and (missing := hanging_transactions.not_here(opened)):
        warn(f"kafkapy: not searched: {missing} partitions of which no copy is in the given log dirs")
    finish(opened.transactions().problems)
    if skipped:
        raise typer.Exit(1)


@app.command(
    "abort",
    cls=Subcommand,
    epilog=examples(
        (
            "Abort the transaction that begins at an offset:",
            "kafkapy transactions --cluster my-cluster abort --topic pay --partition 0 --start-offset 39",
        ),
        (
            "Abort that of a producer:",
            "kafkapy transactions --cluster my-cluster abort --topic pay --partition 0 --producer-id 1001 "
            "--producer-epoch 0 --coordinator-epoch -1",
        ),
    ),
)
def abort(
    topic: TopicOption,
    partition: PartitionOption,
    start_offset: Annotated[int | None, _option("OFFSET", "The first offset.", BY_OFFSET)] = None,
    producer_id: Annotated[int | None, _option("ID", "The producer id.", BY_PRODUCER)] = None,
    producer_epoch: Annotated[int | None, _option("EPOCH", "The producer epoch.", BY_PRODUCER)] = None,
    coordinator_epoch: Annotated[
        int | None,
        _option("EPOCH", "The coordinator epoch; -1 if not known.", BY_PRODUCER),
    ] = None,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
) -> None:
    """Abort a hanging transaction.

    The marker that it lacks is written into the one partition, whatever its coordinator knows.
    """
    from kafkapy.coordinator.transaction_marker import AbortTransactionSpec
    from kafkapy.log.topic_partition import TopicPartition

    where = TopicPartition(topic, partition)
    spec = None
    if start_offset is None:
        given = _required_epochs(producer_id, producer_epoch, coordinator_epoch)
        spec = AbortTransactionSpec(where, *given)
    opened = _open(selection(cluster, log_dirs, bootstrap_server), for_writing=True)
    try:
        if spec is None:
            spec = _spec_at(opened, where, start_offset)
        try:
            opened.transactions().abort(spec)
        except KafkaError as error:
            _fail(f"Failed to abort transaction {spec}", error)
    finally:
        opened.close()


@app.command(
    "forceTerminateTransaction",
    cls=Subcommand,
    epilog=examples(
        (
            "Abort whatever an id has open, and fence its producer:",
            "kafkapy transactions --cluster my-cluster forceTerminateTransaction --transactionalId pay-1",
        ),
        ("Do so in the default cluster:", "kafkapy transactions forceTerminateTransaction --transactionalId pay-1"),
    ),
)
def force_terminate_transaction(
    transactional_id: Annotated[str, _option("ID", "The transactional id.", WHICH, "--transactionalId")],
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
) -> None:
    """Abort what a transactional id has open.

    Its producer is fenced: it cannot go on under the id.
    """
    opened = _open(selection(cluster, log_dirs, bootstrap_server), for_writing=True)
    try:
        opened.transactions().force_terminate(transactional_id)
    except KafkaError as error:
        _fail(f"Failed to force terminate transactionalId `{transactional_id}`", error)
    finally:
        opened.close()


def _open(where: "Selection", for_writing: bool = False) -> "LogDirsCluster":
    from kafkapy.backends.log_dirs import LogDirsCluster
    from kafkapy.backends.selection import open_cluster, open_cluster_for_writing

    opened = open_cluster_for_writing(where) if for_writing else open_cluster(where)
    assert isinstance(opened, LogDirsCluster)
    return opened


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


def _spec_at(opened: "LogDirsCluster", where: "TopicPartition", start_offset: int | None) -> "AbortTransactionSpec":
    from kafkapy.backends.producer_listing import active_producers
    from kafkapy.coordinator.transaction_marker import AbortTransactionSpec

    try:
        producers = active_producers(opened, where)
    except KafkaError as error:
        _fail(f"Failed to validate producer state for partition {where}", error)
    for found in producers:
        if found.current_txn_start_offset == start_offset:
            return AbortTransactionSpec(where, *found[:2], max(found.coordinator_epoch, 0))
    fail(f"Could not find any open transactions starting at offset {start_offset} on partition {where}")


def _not_described(partition: "TopicPartition", broker_id: int | None) -> str:
    asked = "leader" if broker_id is None else f"broker {broker_id}"
    return f"Failed to describe producers for partition {partition} on {asked}"


def _fail(what: str, error: KafkaError) -> NoReturn:
    fail(f"{what}: {error}. Enable debug logging for additional detail.")
