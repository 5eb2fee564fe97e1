"""``kafkapy features``: kafka-features.sh, from the metadata log."""

from typing import Annotated

import typer

from kafkapy.errors import UsageError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_app

from .cluster_options import BootstrapOption, ClusterOption, LogDirsOption, OutputOption, selection

app = new_app()


@app.command(
    cls=Subcommand,
    epilog=examples(
        ("Show the features of a cluster:", "kafkapy features describe --log-dirs /kafka/1"),
        (
            "Show what one node supports, as JSON lines:",
            "kafkapy features describe --log-dirs /kafka/1 --node-id 2 --output jsonl",
        ),
    ),
)
def features(
    action: Annotated[str, typer.Argument(metavar="describe", hidden=True)],
    node_id: Annotated[
        int | None,
        typer.Option(metavar="ID", min=0, help="The node whose supported versions are meant; the first without."),
    ] = None,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Show the features of a cluster: what a node supports, and what is in force."""
    if action != "describe":
        raise UsageError(f"invalid choice: '{action}' (choose from 'describe')")
    from kafkapy.backends.quorum import log_dir_paths
    from kafkapy.metadata.feature_description import describe_features
    from kafkapy.metadata.metadata_log import load_metadata
    from kafkapy.output.printing import print_rows

    loaded = load_metadata(*log_dir_paths(selection(cluster, log_dirs, bootstrap_server)))
    if loaded is None:
        row = {"type": "feature", "feature": None, "known": False}
        print_rows(output, [("The features are unknown: there is no metadata log", row)])
        return
    described = describe_features(loaded.image, loaded.kraft_version, node_id)
    print_rows(output, [(each.line, {"type": "feature", **each._asdict()}) for each in described])
