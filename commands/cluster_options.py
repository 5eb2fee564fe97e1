"""The options by which every command names its cluster, and its output."""

from typing import Annotated

import typer

from kafkapy.backends.selection import Selection
from kafkapy.output.output_format import Output

CLUSTER = "Which cluster (one of these; the default is $KAFKAPY_CLUSTER, else ./kafkapy-cluster)"


ClusterOption = Annotated[
    str | None,
    typer.Option("--cluster", metavar="DIR", help="A cluster directory that kafkapy keeps.", rich_help_panel=CLUSTER),
]
LogDirsOption = Annotated[
    str | None,
    typer.Option(
        "--log-dirs",
        metavar="DIR[,DIR...]",
        help="Data directories of real brokers, which are read and never touched.",
        rich_help_panel=CLUSTER,
    ),
]
BootstrapOption = Annotated[
    str | None,
    typer.Option(
        "--bootstrap-server",
        metavar="HOST:PORT[,...]",
        help="A running cluster (not in this version).",
        rich_help_panel=CLUSTER,
    ),
]
OutputOption = Annotated[
    Output, typer.Option("--output", help="How to print: as Kafka's tool does, or as rows with typed fields.")
]


def selection(cluster: str | None, log_dirs: str | None, bootstrap_server: str | None) -> Selection:
    """The cluster that the options name."""
    return Selection(cluster, tuple(path for path in (log_dirs or "").split(",") if path), bootstrap_server)
