"""``kafkapy cluster``: the brokers of a cluster directory, and what happens when they fail."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_group

from . import cluster_nodes
from .cluster_options import ClusterOption, LinesOption, selection
from .tool_errors import warn

if TYPE_CHECKING:
    from kafkapy.backends.directory import DirectoryCluster
    from kafkapy.output.cluster_lines import Pair, Shown

app = new_group(
    "Stop, kill, start and slow down the brokers of a cluster directory, and see where replicas stand.\n\n"
    "No process runs there: cluster.yaml says which brokers are up, and leaders, ISRs and logs change as they "
    "would if the brokers were running. list-endpoints also works on a running cluster, and unregister only on "
    "one.",
    examples(
        ("Where every replica stands:", "kafkapy cluster status --cluster demo"),
        ("Let a broker crash:", "kafkapy cluster kill-broker 2 --cluster demo"),
        ("Start it again:", "kafkapy cluster start-broker 2 --cluster demo"),
        ("Let it catch up and rejoin the ISRs:", "kafkapy cluster replicate --until-caught-up --cluster demo"),
    ),
)

TopicOption = Annotated[
    str | None,
    typer.Option(
        "--topic",
        metavar="TOPIC",
        help="Show only topics with this name. Without it, Kafka's own topics are only summed up in lines.",
    ),
]
ExcludeInternalOption = Annotated[bool, typer.Option("--exclude-internal", help="Do not show Kafka's own topics.")]
BrokerArgument = Annotated[int, typer.Argument(metavar="BROKER", help="The broker's id.", show_default=False)]
BrokersArgument = Annotated[
    list[int],
    typer.Argument(metavar="BROKER...", help="The ids of brokers: one after the other.", show_default=False),
]


@app.command(
    cls=Subcommand,
    epilog=examples(
        ("All brokers and all replicas:", "kafkapy cluster status --cluster demo"),
        ("The replicas of one topic, as JSON:", "kafkapy cluster status --cluster demo --topic orders --output json"),
    ),
)
def status(
    topic: TopicOption = None,
    exclude_internal: ExcludeInternalOption = False,
    cluster: ClusterOption = None,
    output: LinesOption = Output.KAFKA,
) -> None:
    """Show the brokers, and where every replica stands. For every partition: who leads, who is in sync, and where each
    replica's log ends."""
    from shlex import quote

    from kafkapy.backends.cluster_status import ClusterStatus
    from kafkapy.backends.selection import check_directory
    from kafkapy.output.cluster_lines import broker_pairs, clock_pair, is_unwell, status_pairs, summary_pair

    directory = selection(cluster, None, None).directory
    check_directory(directory)
    found = ClusterStatus(directory)
    partitions = list(found.partitions(topic, exclude_internal))

    def pairs() -> "Iterator[Pair]":
        if found.cluster_file.clock_offset_ms:
            yield clock_pair(found.cluster_file.clock_offset_ms)
        yield from broker_pairs(found.brokers())
        yield summary_pair(partitions)
        yield from status_pairs(partitions, _shown(topic, exclude_internal))

    _print(output, pairs())
    if is_unwell(partitions):
        warn(f"kafkapy: 'kafkapy doctor --cluster {quote(directory)}' explains what to do")
    found.close()


@app.command(
    "stop-broker",
    cls=Subcommand,
    epilog=examples(
        ("Stop broker 1:", "kafkapy cluster stop-broker 1 --cluster demo"),
        ("What moved, as CSV:", "kafkapy cluster stop-broker 1 --cluster demo --output csv"),
    ),
)
def stop_broker(
    broker: BrokersArgument,
    topic: TopicOption = None,
    exclude_internal: ExcludeInternalOption = False,
    cluster: ClusterOption = None,
    output: LinesOption = Output.KAFKA,
) -> None:
    """Stop brokers cleanly: their leaders move first."""
    from kafkapy.backends import failures
    from kafkapy.output.cluster_lines import change_pairs

    shown = _shown(topic, exclude_internal)

    def work(opened: "DirectoryCluster", broker_id: int) -> "Iterator[Pair]":
        return change_pairs(failures.stop_broker(opened, broker_id), shown, f"Broker {broker_id} is stopped")

    _run_each(cluster, output, broker, failures.check_alive, work)


@app.command(
    "kill-broker",
    cls=Subcommand,
    epilog=examples(
        ("Let broker 1 crash:", "kafkapy cluster kill-broker 1 --cluster demo"),
        (
            "Let it also lose what was not yet on its disk:",
            "kafkapy cluster kill-broker 1 --cluster demo --lose-unflushed",
        ),
    ),
)
def kill_broker(
    broker: BrokersArgument,
    lose_unflushed: Annotated[
        bool,
        typer.Option(
            "--lose-unflushed",
            help="Lose what a broker would not have synced: everything since its active segment began or it was last "
            "stopped.",
        ),
    ] = False,
    topic: TopicOption = None,
    exclude_internal: ExcludeInternalOption = False,
    cluster: ClusterOption = None,
    output: LinesOption = Output.KAFKA,
) -> None:
    """Let brokers crash. They are fenced, and their leaders move if they can."""
    from kafkapy.backends import failures
    from kafkapy.output.cluster_lines import change_pairs

    shown = _shown(topic, exclude_internal)

    def work(opened: "DirectoryCluster", broker_id: int) -> "Iterator[Pair]":
        changed = failures.kill_broker(opened, broker_id, lose_unflushed)
        return change_pairs(changed, shown, f"Broker {broker_id} is killed")

    _run_each(cluster, output, broker, failures.check_alive, work)


@app.command(
    "start-broker",
    cls=Subcommand,
    epilog=examples(
        ("Start broker 1 again:", "kafkapy cluster start-broker 1 --cluster demo"),
        ("Start two that were killed:", "kafkapy cluster start-broker 2 3 --cluster demo"),
        ("And let it catch up:", "kafkapy cluster replicate --until-caught-up --cluster demo"),
    ),
)
def start_broker(
    broker: BrokersArgument,
    topic: TopicOption = None,
    exclude_internal: ExcludeInternalOption = False,
    cluster: ClusterOption = None,
    output: LinesOption = Output.KAFKA,
) -> None:
    """Start brokers again. One that was stopped or killed then catches up by 'replicate'; one that lags fetches
    again."""
    from kafkapy.backends import failures
    from kafkapy.backends.selection import finish_transactions
    from kafkapy.output.cluster_lines import catch_up_pairs, change_pairs

    shown = _shown(topic, exclude_internal)

    def work(opened: "DirectoryCluster", broker_id: int) -> "Iterator[Pair]":
        yield from change_pairs(failures.start_broker(opened, broker_id), shown, f"Broker {broker_id} is started")
        yield from catch_up_pairs(broker_id, failures.out_of_sync(opened, broker_id))
        finish_transactions(opened)

    _run_each(cluster, output, broker, failures.check_startable, work)


@app.command(
    "lag-broker",
    cls=Subcommand,
    epilog=examples(
        ("Let broker 2 stop fetching:", "kafkapy cluster lag-broker 2 --cluster demo"),
        ("Let enough time pass for it to leave the ISRs:", "kafkapy cluster advance --ms 40000 --cluster demo"),
    ),
)
def lag_broker(
    broker: BrokerArgument,
    topic: TopicOption = None,
    exclude_internal: ExcludeInternalOption = False,
    cluster: ClusterOption = None,
    output: LinesOption = Output.KAFKA,
) -> None:
    """Let a broker stop fetching, until it is started. It still leads what it leads. Where it follows, it leaves the
    ISR after replica.lag.time.max.ms; until then acks=all waits for it."""
    from kafkapy.backends import failures
    from kafkapy.output.cluster_lines import lagging_pairs

    shown = _shown(topic, exclude_internal)
    _run(cluster, output, lambda opened: lagging_pairs(broker, failures.lag_broker(opened, broker), shown))


@app.command(
    cls=Subcommand,
    epilog=examples(
        ("One fetch of every follower:", "kafkapy cluster replicate --cluster demo"),
        ("As many fetches as it takes:", "kafkapy cluster replicate --until-caught-up --cluster demo"),
    ),
)
def replicate(
    until_caught_up: Annotated[
        bool, typer.Option("--until-caught-up", help="Fetch until every follower has and knows what its leader does.")
    ] = False,
    topic: TopicOption = None,
    exclude_internal: ExcludeInternalOption = False,
    cluster: ClusterOption = None,
    output: LinesOption = Output.KAFKA,
) -> None:
    """Let the followers of all partitions fetch. This brings those that are not in sync into the ISR."""
    from kafkapy.backends import failures
    from kafkapy.backends.selection import finish_transactions
    from kafkapy.output.cluster_lines import replicated_pairs

    shown = _shown(topic, exclude_internal)

    def work(opened: "DirectoryCluster") -> "Iterator[Pair]":
        yield from replicated_pairs(failures.replicate(opened, until_caught_up), shown)
        finish_transactions(opened)

    _run(cluster, output, work)


@app.command(
    cls=Subcommand,
    epilog=examples(
        ("Let a minute pass:", "kafkapy cluster advance --ms 60000 --cluster demo"),
        ("Let a day pass, for retention:", "kafkapy cluster advance --ms 86400000 --cluster demo"),
    ),
)
def advance(
    ms: Annotated[int, typer.Option("--ms", metavar="MS", min=1, help="How many milliseconds.", show_default=False)],
    topic: TopicOption = None,
    exclude_internal: ExcludeInternalOption = False,
    cluster: ClusterOption = None,
    output: LinesOption = Output.KAFKA,
) -> None:
    """Let simulated time pass: brokers that lag leave the ISRs."""
    from kafkapy.backends import failures
    from kafkapy.output.cluster_lines import change_pairs

    shown = _shown(topic, exclude_internal)
    _run(cluster, output, lambda opened: change_pairs(failures.advance(opened, ms), shown))


app.command("list-endpoints", cls=Subcommand, epilog=cluster_nodes.LIST_ENDPOINTS_EXAMPLES)(
    cluster_nodes.list_endpoints
)
app.command("unregister", cls=Subcommand, epilog=cluster_nodes.UNREGISTER_EXAMPLES)(cluster_nodes.unregister)


def _shown(topic: str | None, exclude_internal: bool) -> "Shown":
    """Which topics to tell of. Kafka's own have lines only where ``topic`` asks for them."""
    from kafkapy.metadata.topic_description import INTERNAL_TOPICS
    from kafkapy.metadata.topic_selection import include_list
    from kafkapy.output.cluster_lines import Shown

    pattern = None if topic is None else include_list(topic)

    def in_rows(name: str) -> bool:
        is_meant = pattern is None or pattern.fullmatch(name) is not None
        return is_meant and not (exclude_internal and name in INTERNAL_TOPICS)

    def in_lines(name: str) -> bool:
        return in_rows(name) and not (pattern is None and name in INTERNAL_TOPICS)

    return Shown(in_rows, in_lines)


def _run(cluster: str | None, output: Output, work: Callable[["DirectoryCluster"], "Iterable[Pair]"]) -> None:
    opened = _open(cluster)
    try:
        pairs = list(work(opened))
    finally:
        opened.close()
    _print(output, pairs)


def _print(output: Output, pairs: "Iterable[Pair]") -> None:
    from kafkapy.output.at_words import at_words
    from kafkapy.output.printing import print_rows

    print_rows(output, ((None if line is None else at_words(line), row) for line, row in pairs))


def _run_each(
    cluster: str | None,
    output: Output,
    brokers: list[int],
    check: Callable[["DirectoryCluster", int], None],
    work: Callable[["DirectoryCluster", int], "Iterable[Pair]"],
) -> None:
    """The same with each broker in turn, as commands of their own would do it; nothing where one of them is refused."""
    ids = [*dict.fromkeys(brokers)]

    def in_turn(opened: "DirectoryCluster") -> "Iterator[Pair]":
        for broker_id in ids:
            check(opened, broker_id)
        for broker_id in ids:
            if len(ids) > 1:
                yield f"Broker {broker_id}:", None
            yield from work(opened, broker_id)

    _run(cluster, output, in_turn)


def _open(cluster: str | None) -> "DirectoryCluster":
    from kafkapy.backends.directory import DirectoryCluster
    from kafkapy.backends.selection import open_cluster_for_writing

    opened = open_cluster_for_writing(selection(cluster, None, None))
    assert isinstance(opened, DirectoryCluster)
    return opened
