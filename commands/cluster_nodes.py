"""``kafkapy cluster list-endpoints`` and ``unregister``: what kafka-cluster.sh has besides cluster-id."""

from contextlib import closing
from typing import Annotated

import typer

from kafkapy.errors import KafkaError, UsageError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import examples

from .cluster_options import ClusterOption, LogDirsOption, OutputOption
from .cluster_tool_options import (
    BootstrapControllerOption,
    BootstrapOption,
    CommandConfigOption,
    ConfigOption,
    tool_selection,
)

LIST_ENDPOINTS_EXAMPLES = examples(
    ("Where the brokers of a cluster listen:", "kafkapy cluster list-endpoints --bootstrap-server localhost:9092"),
    ("Where its controllers do:", "kafkapy cluster list-endpoints --bootstrap-controller localhost:9093"),
)
UNREGISTER_EXAMPLES = examples(
    ("Forget a broker that is gone for good:", "kafkapy cluster unregister --bootstrap-server localhost:9092 --id 3"),
    ("Ask a controller instead:", "kafkapy cluster unregister --bootstrap-controller localhost:9093 --id 3"),
)


def list_endpoints(
    include_fenced_brokers: Annotated[
        bool, typer.Option("--include-fenced-brokers", help="Also brokers that are down.")
    ] = False,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    bootstrap_controller: BootstrapControllerOption = None,
    command_config: CommandConfigOption = None,
    config: ConfigOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Show where brokers, or controllers, listen."""
    if include_fenced_brokers and bootstrap_controller:
        raise UsageError("The option --include-fenced-brokers is only supported with --bootstrap-server option")
    from kafkapy.backends.selection import open_cluster
    from kafkapy.output.endpoint_lines import endpoint_pairs
    from kafkapy.output.printing import print_rows

    where = tool_selection(cluster, log_dirs, bootstrap_server, bootstrap_controller, command_config, config, output)
    with closing(open_cluster(where)) as opened:
        found = opened.administration().nodes(include_fenced_brokers)
        print_rows(output, endpoint_pairs(found))


def unregister(
    broker_id: Annotated[
        int, typer.Option("--id", "-i", metavar="BROKER", help="The broker's id.", show_default=False)
    ],
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    bootstrap_controller: BootstrapControllerOption = None,
    command_config: CommandConfigOption = None,
    config: ConfigOption = None,
) -> None:
    """Make a running cluster forget a broker that has stopped and will not come back."""
    from kafkapy.backends.selection import open_cluster
    from kafkapy.output.printing import print_lines

    where = tool_selection(cluster, log_dirs, bootstrap_server, bootstrap_controller, command_config, config)
    try:
        with closing(open_cluster(where)) as opened:
            opened.administration().unregister_broker(broker_id)
    except KafkaError as error:
        if error.name != "UnsupportedVersionException":
            raise
        print_lines(["The target cluster does not support the broker unregistration API."])
        raise typer.Exit(1) from None
    print_lines([f"Broker {broker_id} is no longer registered."])
