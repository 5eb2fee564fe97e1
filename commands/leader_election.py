"""``kafkapy leader-election``: kafka-leader-election.sh."""

from collections.abc import Iterator
from contextlib import closing
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kafkapy.errors import KafkaError, UsageError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_app

from .cluster_options import BootstrapOption, ClusterOption, CommandConfigOption, LogDirsOption, OutputOption, selection
from .json_files import read_json
from .tool_errors import fail, say, warn

if TYPE_CHECKING:
    from kafkapy.backends.leader_election import ElectionResult
    from kafkapy.log.topic_partition import TopicPartition
    from kafkapy.metadata.image import MetadataImage

WHICH = "Which partitions (one of these)"
TIMEOUT_MS = 30_000

AdminConfigOption = Annotated[
    str | None, typer.Option("--admin.config", metavar="FILE", help="The old name of --command-config.", hidden=True)
]


class ElectionType(StrEnum):
    """Kafka's election types."""

    PREFERRED = "preferred"
    UNCLEAN = "unclean"


app = new_app()


@app.command(
    cls=Subcommand,
    epilog=examples(
        (
            "Give every partition its preferred leader back:",
            "kafkapy leader-election --cluster demo --election-type preferred --all-topic-partitions",
        ),
        (
            "Let a partition without a leader lose data rather than wait:",
            "kafkapy leader-election --cluster demo --election-type unclean --topic orders --partition 0",
        ),
        (
            "Elect leaders for the partitions in a file, and see who leads now:",
            "kafkapy leader-election --cluster demo --election-type preferred --path-to-json-file partitions.json "
            "--output table",
        ),
        (
            "Bring the leaders of a running cluster back after a restart:",
            "kafkapy leader-election --bootstrap-server broker1:9092 --election-type preferred --all-topic-partitions",
        ),
    ),
)
def leader_election(
    election_type: Annotated[
        ElectionType | None,
        typer.Option(
            case_sensitive=False,
            help="preferred: the first replica leads again, if it is in sync and does not lead. unclean: a partition "
            "without a leader gets any live replica as leader, and may lose data (required).",
        ),
    ] = None,
    topic: Annotated[
        str | None, typer.Option(metavar="TOPIC", help="A topic, with --partition.", rich_help_panel=WHICH)
    ] = None,
    partition: Annotated[
        int | None, typer.Option(metavar="PARTITION", help="The partition of --topic.", rich_help_panel=WHICH)
    ] = None,
    all_topic_partitions: Annotated[
        bool,
        typer.Option("--all-topic-partitions", help="All partitions that need the election.", rich_help_panel=WHICH),
    ] = False,
    path_to_json_file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.json",
            help='The partitions in a file: {"partitions": [{"topic": "t", "partition": 0}]}',
            rich_help_panel=WHICH,
        ),
    ] = None,
    no_fsync: Annotated[
        bool, typer.Option("--no-fsync", help="Do not wait for the disk: only for experiments.")
    ] = False,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    command_config: CommandConfigOption = None,
    admin_config: AdminConfigOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Elect leaders of partitions: the preferred ones, or any replica if there is no leader.

    What an unclean election loses is reported where that can be known: a running cluster does not say what was in the
    logs of brokers that are down. In a cluster directory an unclean election also accepts that every copy of a
    partition is gone: its log then starts anew.
    """
    if election_type is None:
        raise UsageError("Missing required option(s): election-type")
    _check(topic, partition, all_topic_partitions, path_to_json_file)
    from kafkapy.backends.leader_election import elect_leaders
    from kafkapy.backends.selection import open_cluster_for_writing
    from kafkapy.output.cluster_lines import election_loss_line
    from kafkapy.output.printing import print_rows

    wanted = _partitions(topic, partition, path_to_json_file)
    election = election_type.value.upper()
    config_file = _config_file(command_config, admin_config, output)
    chosen = selection(cluster, log_dirs, bootstrap_server, config_file)
    if config_file is None:
        chosen = chosen._replace(properties={"default.api.timeout.ms": str(TIMEOUT_MS)})
    opened = open_cluster_for_writing(chosen, sync=not no_fsync)
    with closing(opened):
        before = opened.image()
        try:
            results = elect_leaders(opened, election, wanted, tell_leaders=output != Output.KAFKA)
        except KafkaError as error:
            raise _failed(error, output) from None
        is_unclean = election_type is ElectionType.UNCLEAN
        hints = _hints(before, results)
        losses = opened.replica_control().election_losses(before) if is_unclean else []
    rows = ((None, _row(result, election)) for result in results)
    print_rows(output, ((line, None) for line in _lines(results, election)) if output == Output.KAFKA else rows)
    for line in hints:
        warn(f"kafkapy: {line}")
    for loss in losses:
        warn(f"kafkapy: {election_loss_line(loss)}")
    failures = sum(result.is_failure for result in results)
    if failures:
        fail(f"{failures} replica(s) could not be elected")


def _hints(image: "MetadataImage", results: "list[ElectionResult]") -> list[str]:
    """Which topics and partitions were probably meant by those that are not there."""
    from kafkapy.near_misses import partition_hint

    found = (partition_hint(*result.partition, image.topics) for result in results if result.is_failure)
    return [each for each in dict.fromkeys(found) if each is not None]


def _config_file(command_config: str | None, admin_config: str | None, output: Output) -> str | None:
    """The file that is named, by its new option or by the old one."""
    if admin_config is None:
        return command_config
    if command_config is not None:
        raise UsageError("--admin.config is the old name of --command-config: give only one of them")
    say(
        "Option --admin.config has been deprecated and will be removed in a future version. Use --command-config "
        "instead.",
        output,
    )
    return admin_config


def _failed(error: KafkaError, output: Output) -> Exception:
    """What Kafka's tool tells on both outputs, where an election as a whole fails; rows are kept clear of it."""
    message = _FAILURES.get(error.name)
    if message is None:
        return error
    if output == Output.KAFKA:
        say(message, output)
    warn(message)
    return typer.Exit(1)


_FAILURES = {
    "TimeoutException": "Timeout waiting for election results",
    "ClusterAuthorizationException": "Not authorized to perform leader election",
}


def _check(topic: str | None, partition: int | None, all_partitions: bool, path: str | None) -> None:
    if sum((topic is not None, all_partitions, path is not None)) != 1:
        raise UsageError(
            "One and only one of the following options is required: topic, all-topic-partitions, path-to-json-file"
        )
    if topic is not None and partition is None:
        raise UsageError("Missing required option(s): partition")
    if topic is None and partition is not None:
        raise UsageError("Option partition is only allowed if topic is used")


def _partitions(topic: str | None, partition: int | None, path: str | None) -> "list[TopicPartition] | None":
    from kafkapy.log.topic_partition import TopicPartition
    from kafkapy.metadata.leader_election_file import EXAMPLE, parse_partitions

    if topic is not None and partition is not None:
        return [TopicPartition(topic, partition)]
    if path is None:
        return None
    try:
        return read_json(path, parse_partitions, EXAMPLE)
    except KafkaError as error:
        fail(str(error), error)


def _lines(results: "list[ElectionResult]", election: str) -> Iterator[str]:
    elected = [str(result.partition) for result in results if result.error is None]
    if elected:
        yield f"Successfully completed leader election ({election}) for partitions {', '.join(elected)}"
    settled = [str(result.partition) for result in results if not result.is_needed]
    if settled:
        yield f"Valid replica already elected for partitions {', '.join(settled)}"
    for result in results:
        if result.is_failure:
            yield f"Error completing leader election ({election}) for partition: {result.partition}: {_error(result)}"


def _row(result: "ElectionResult", election: str) -> dict[str, Any]:
    topic, partition = result.partition
    return {
        "type": "leader_election",
        "topic": topic,
        "partition": partition,
        "election": election.lower(),
        "result": "failed" if result.is_failure else "elected" if result.is_needed else "not needed",
        "leader": result.leader,
        "error": _error(result) if result.is_failure else None,
    }


def _error(result: "ElectionResult") -> str:
    assert result.error is not None
    return f"org.apache.kafka.common.errors.{result.error.name}: {result.error}"
