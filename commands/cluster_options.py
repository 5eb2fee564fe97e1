"""The options by which every command names its cluster, and its output."""

from typing import Annotated, Any

import typer

from kafkapy.backends.selection import Selection
from kafkapy.contexts.context_option import CLUSTER
from kafkapy.errors import UsageError
from kafkapy.output.output_format import Output

ClusterOption = Annotated[
    str | None,
    typer.Option("--cluster", metavar="DIR", help="A cluster directory kept by kafkapy.", rich_help_panel=CLUSTER),
]
LogDirsOption = Annotated[
    str | None,
    typer.Option(
        "--log-dirs",
        metavar="DIR[,DIR...]",
        help="Log dirs of real brokers. They are only read, never changed.",
        rich_help_panel=CLUSTER,
    ),
]


def bootstrap_option(*short: str) -> Any:
    return typer.Option(
        "--bootstrap-server",
        *short,
        metavar="HOST:PORT[,...]",
        help="Some brokers of a running cluster.",
        rich_help_panel=CLUSTER,
    )


def bootstrap_controller_option(*short: str) -> Any:
    return typer.Option(
        "--bootstrap-controller",
        *short,
        metavar="HOST:PORT[,...]",
        help="Some controllers of a running cluster, to query them directly.",
        rich_help_panel=CLUSTER,
    )


def command_config_option(*short: str) -> Any:
    return typer.Option(
        "--command-config",
        *short,
        metavar="FILE.properties",
        help="A Java client's .properties file: how to log in to a running cluster, and timeouts.",
        rich_help_panel=CLUSTER,
    )


BootstrapOption = Annotated[str | None, bootstrap_option()]
RefusedBootstrapOption = Annotated[
    str | None, typer.Option("--bootstrap-server", metavar="HOST:PORT[,...]", hidden=True, rich_help_panel=CLUSTER)
]
"""For what reads files only: not offered, and where it is typed all the same, the error says what to give instead."""
BootstrapControllerOption = Annotated[str | None, bootstrap_controller_option()]
CommandConfigOption = Annotated[str | None, command_config_option()]
OutputOption = Annotated[
    Output, typer.Option("--output", help="How to print: as Kafka's tool does, or as rows with typed fields.")
]
LinesOption = Annotated[Output, typer.Option("--output", help="How to print: as lines, or as rows with typed fields.")]
"""The same of a command that Kafka does not have."""


def selection(
    cluster: str | None,
    log_dirs: str | None,
    bootstrap_server: str | None,
    command_config: str | None = None,
    bootstrap_controller: str | None = None,
) -> Selection:
    """The cluster that the options name.

    An option that is given and empty is refused: a shell variable that is not set must not send a command to the
    default cluster directory instead.
    """
    given = {
        "--cluster": cluster,
        "--log-dirs": log_dirs,
        "--bootstrap-server": bootstrap_server,
        "--bootstrap-controller": bootstrap_controller,
        "--command-config": command_config,
    }
    for option, value in given.items():
        if value is not None and not value.strip(" ,"):
            raise UsageError(f"{option} is empty")
    paths = tuple(path for path in (log_dirs or "").split(",") if path)
    return Selection(cluster, paths, bootstrap_server, command_config, bootstrap_controller)
