"""``kafkapy metadata-quorum``: kafka-metadata-quorum.sh, from the files of the quorum."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kafkapy.errors import UsageError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_app

from .cluster_options import BootstrapOption, ClusterOption, LogDirsOption, OutputOption, selection

if TYPE_CHECKING:
    from kafkapy.backends.quorum import Quorum

WHAT = "What to describe (exactly one)"


app = new_app()


@app.command(
    cls=Subcommand,
    epilog=examples(
        (
            "Show leader, epoch and voters as the nodes last knew them:",
            "kafkapy metadata-quorum --log-dirs /kafka/1,/kafka/2,/kafka/3 describe --status",
        ),
        (
            "Show how far each copy of the metadata log reaches:",
            "kafkapy metadata-quorum --log-dirs /kafka/1,/kafka/2,/kafka/3 describe --replication",
        ),
    ),
)
def metadata_quorum(
    action: Annotated[str, typer.Argument(metavar="describe", hidden=True)],
    status: Annotated[bool, typer.Option("--status", help="Leader, epoch and voters.", rich_help_panel=WHAT)] = False,
    replication: Annotated[
        bool, typer.Option("--replication", help="Each node's copy of the metadata log.", rich_help_panel=WHAT)
    ] = False,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Describe the metadata quorum, as far as its files tell.

    What only a running leader knows, such as the high watermark, is shown as unknown.
    """
    if action != "describe":
        raise UsageError(f"invalid choice: '{action}' (choose from 'describe')")
    if status and replication:
        raise UsageError("Only one of --status or --replication should be specified with describe sub-command")
    if not status and not replication:
        raise UsageError("One of --status or --replication must be specified with describe sub-command")
    from kafkapy.backends.quorum import describe_quorum, log_dir_paths
    from kafkapy.output.printing import print_lines, print_rows
    from kafkapy.output.quorum_lines import replication_lines, status_lines

    quorum = describe_quorum(*log_dir_paths(selection(cluster, log_dirs, bootstrap_server)))
    if output == Output.KAFKA:
        print_lines(status_lines(quorum) if status else replication_lines(quorum))
        return
    print_rows(output, [(None, row) for row in (_status_rows(quorum) if status else _replica_rows(quorum))])


def _status_rows(quorum: "Quorum") -> list[dict[str, Any]]:
    voters = None if quorum.voters is None else [voter._asdict() for voter in quorum.voters]
    return [
        {
            "type": "quorum",
            "cluster_id": quorum.cluster_id,
            "leader_id": quorum.leader_id,
            "leader_epoch": quorum.leader_epoch,
            "high_watermark": None,
            "max_follower_lag": quorum.max_follower_lag,
            "current_voters": voters,
        }
    ]


def _replica_rows(quorum: "Quorum") -> list[dict[str, Any]]:
    return [{"type": "metadata_replica", **replica._asdict()} for replica in quorum.replicas]
