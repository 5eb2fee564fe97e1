"""``kafkapy broker-api-versions``: kafka-broker-api-versions.sh."""

from contextlib import closing

import typer

from kafkapy.errors import KafkapyError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_app

from .cluster_options import (
    BootstrapOption,
    ClusterOption,
    CommandConfigOption,
    LogDirsOption,
    OutputOption,
    selection,
)

app = new_app()


@app.command(
    cls=Subcommand,
    epilog=examples(
        ("Show which requests the brokers take:", "kafkapy broker-api-versions --bootstrap-server localhost:9092"),
        (
            "Show them as CSV, with a line for each api of a broker:",
            "kafkapy broker-api-versions --bootstrap-server localhost:9092 --output csv",
        ),
    ),
)
def broker_api_versions(
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    command_config: CommandConfigOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Show which versions of each request the brokers support, and which one a client would use.

    A client and a broker use the newest version that both support: look here if an old client cannot talk to a new
    cluster, or the other way round.
    """
    from kafkapy.backends.selection import open_cluster
    from kafkapy.output.api_version_lines import api_version_pairs
    from kafkapy.output.printing import print_rows

    with closing(open_cluster(selection(cluster, log_dirs, bootstrap_server, command_config))) as opened:
        found = opened.administration().api_versions()
    print_rows(output, api_version_pairs(found))
    if any(isinstance(versions, KafkapyError) for _, versions in found):
        raise typer.Exit(1)
