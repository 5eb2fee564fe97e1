"""``kafkapy metadata-quorum``: kafka-metadata-quorum.sh."""

from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kafkapy.errors import UsageError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_group

from .cluster_options import (
    BootstrapControllerOption,
    BootstrapOption,
    ClusterOption,
    CommandConfigOption,
    LogDirsOption,
    OutputOption,
    selection,
)
from .options_first import PLACE_OF_OPTIONS, OptionsFirst

if TYPE_CHECKING:
    from kafkapy.backends.quorum import Quorum

WHAT = "What to describe (exactly one)"
HOW = "With --replication"
WHICH = "Which controller"

app = new_group(
    "Describe the metadata quorum, and add and remove its controllers.\n\n"
    "The quorum consists of the controllers that keep the cluster's metadata in a log (KRaft): one leads, the "
    "other voters follow, and what more than half of them have is decided. Observers, such as brokers, only read "
    "it.\n\n"
    "" + PLACE_OF_OPTIONS.format("kafkapy metadata-quorum"),
    examples(
        (
            "Show how far the controllers of a running cluster are:",
            "kafkapy metadata-quorum --bootstrap-controller localhost:9093 describe --replication",
        ),
        (
            "Show leader, epoch and voters as the nodes last knew them:",
            "kafkapy metadata-quorum --log-dirs /kafka/1,/kafka/2,/kafka/3 describe --status",
        ),
    ),
)

DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")]


@app.callback(cls=OptionsFirst)
def metadata_quorum() -> None:
    """Only to have a group of this class."""


@app.command(
    cls=Subcommand,
    epilog=examples(
        (
            "Show leader, epoch and voters as the nodes last knew them:",
            "kafkapy metadata-quorum --log-dirs /kafka/1,/kafka/2,/kafka/3 describe --status",
        ),
        (
            "Show how far each copy of a running cluster's metadata log reaches:",
            "kafkapy metadata-quorum --bootstrap-server localhost:9092 describe --replication --human-readable",
        ),
    ),
)
def describe(
    status: Annotated[bool, typer.Option("--status", help="Leader, epoch and voters.", rich_help_panel=WHAT)] = False,
    replication: Annotated[
        bool, typer.Option("--replication", help="Each node's copy of the metadata log.", rich_help_panel=WHAT)
    ] = False,
    human_readable: Annotated[
        bool, typer.Option("--human-readable", help="Show times relative to now.", rich_help_panel=HOW)
    ] = False,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    bootstrap_controller: BootstrapControllerOption = None,
    command_config: CommandConfigOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Describe the metadata quorum.

    With files, what only a running leader knows, such as the high watermark, is shown as unknown.
    """
    _check_describe(status, replication, human_readable)
    from time import time

    from kafkapy.backends.selection import open_cluster
    from kafkapy.output.printing import print_lines, print_rows
    from kafkapy.output.quorum_lines import replication_lines, status_lines

    where = selection(cluster, log_dirs, bootstrap_server, command_config, bootstrap_controller)
    with closing(open_cluster(where)) as opened:
        quorum = opened.administration().quorum()
        if output == Output.KAFKA:
            now = int(time() * 1000) if human_readable else None
            print_lines(status_lines(quorum) if status else replication_lines(quorum, now))
        else:
            print_rows(output, [(None, row) for row in (_status_rows(quorum) if status else _replica_rows(quorum))])


@app.command(
    "add-controller",
    cls=Subcommand,
    epilog=examples(
        (
            "Make the controller that was started with these properties a voter:",
            "kafkapy metadata-quorum --bootstrap-server localhost:9092 --command-config controller.properties "
            "add-controller",
        ),
        (
            "See what would be done:",
            "kafkapy metadata-quorum --bootstrap-server localhost:9092 --command-config controller.properties "
            "add-controller --dry-run",
        ),
    ),
)
def add_controller(
    dry_run: DryRunOption = False,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    bootstrap_controller: BootstrapControllerOption = None,
    command_config: CommandConfigOption = None,
) -> None:
    """Make a running controller a voter of the quorum.

    --command-config is the controller's own file, which says who it is and where; it also contains the client's
    settings.
    """
    if command_config is None:
        raise UsageError(
            "You must supply the configuration file of the controller you are adding when using add-controller."
        )
    from kafkapy.backends.controller_properties import read_controller
    from kafkapy.backends.selection import open_cluster
    from kafkapy.output.printing import print_lines

    voter = read_controller(command_config)
    where = selection(cluster, log_dirs, bootstrap_server, command_config, bootstrap_controller)
    if not dry_run:
        with closing(open_cluster(where)) as opened:
            opened.administration().add_controller(voter)
    done = "DRY RUN of adding" if dry_run else "Added"
    endpoints = ", ".join(voter.endpoints)
    print_lines([f"{done} controller {voter.id} with directory id {voter.directory_id} and endpoints: {endpoints}"])


@app.command(
    "remove-controller",
    cls=Subcommand,
    epilog=examples(
        (
            "Remove controller 3 from the voters:",
            "kafkapy metadata-quorum --bootstrap-server localhost:9092 remove-controller --controller-id 3 "
            "--controller-directory-id gsHsW5SETlaK3Yo2MqTjHg",
        ),
        (
            "See what would be done:",
            "kafkapy metadata-quorum --bootstrap-server localhost:9092 remove-controller -i 3 "
            "-d gsHsW5SETlaK3Yo2MqTjHg --dry-run",
        ),
    ),
)
def remove_controller(
    controller_id: Annotated[
        int, typer.Option("--controller-id", "-i", metavar="CONTROLLER", help="Its id.", rich_help_panel=WHICH)
    ],
    controller_directory_id: Annotated[
        str,
        typer.Option(
            "--controller-directory-id",
            "-d",
            metavar="CONTROLLER-DIR",
            help="The id of its log dir.",
            rich_help_panel=WHICH,
        ),
    ],
    dry_run: DryRunOption = False,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    bootstrap_controller: BootstrapControllerOption = None,
    command_config: CommandConfigOption = None,
) -> None:
    """Remove a controller from the voters of the quorum."""
    if controller_id < 0:
        raise UsageError(f"Invalid negative --controller-id: {controller_id}")
    from kafkapy.backends.selection import open_cluster
    from kafkapy.output.printing import print_lines

    directory_id = _directory_id(controller_directory_id)
    where = selection(cluster, log_dirs, bootstrap_server, command_config, bootstrap_controller)
    if not dry_run:
        with closing(open_cluster(where)) as opened:
            opened.administration().remove_controller(controller_id, directory_id)
    # Kafka 4.3.1 prints two spaces here
    done = "DRY RUN of removing " if dry_run else "Removed "
    print_lines([f"{done} KRaft controller {controller_id} with directory id {directory_id}"])


def _check_describe(status: bool, replication: bool, human_readable: bool) -> None:
    if status and replication:
        raise UsageError("Only one of --status or --replication should be specified with describe sub-command")
    if not status and not replication:
        raise UsageError("One of --status or --replication must be specified with describe sub-command")
    if status and human_readable:
        raise UsageError("The option --human-readable is only supported along with --replication")


def _directory_id(text: str) -> str:
    from kafkapy.errors import SchemaError
    from kafkapy.formats.uuid import uuid_bytes, uuid_text

    try:
        return uuid_text(uuid_bytes(text))
    except SchemaError as error:
        raise UsageError(f"Failed to parse --controller-directory-id: {error}") from None


def _status_rows(quorum: "Quorum") -> list[dict[str, Any]]:
    voters, observers = (
        None if found is None else [each._asdict() for each in found] for found in (quorum.voters, quorum.observers)
    )
    return [
        {
            "type": "quorum",
            "cluster_id": quorum.cluster_id,
            "leader_id": quorum.leader_id,
            "leader_epoch": quorum.leader_epoch,
            "high_watermark": quorum.high_watermark,
            "max_follower_lag": quorum.max_follower_lag,
            "max_follower_lag_time_ms": quorum.max_follower_lag_time_ms,
            "current_voters": voters,
            "current_observers": observers,
        }
    ]


def _replica_rows(quorum: "Quorum") -> list[dict[str, Any]]:
    return [{"type": "metadata_replica", **replica._asdict()} for replica in quorum.replicas]
