"""``kafkapy cluster-id``: kafka-cluster.sh cluster-id."""

from contextlib import closing

from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_app

from .cluster_options import ClusterOption, LogDirsOption, OutputOption
from .cluster_tool_options import (
    BootstrapControllerOption,
    BootstrapOption,
    CommandConfigOption,
    ConfigOption,
    tool_selection,
)

app = new_app()


@app.command(
    cls=Subcommand,
    epilog=examples(
        ("Ask a running cluster:", "kafkapy cluster-id --bootstrap-server localhost:9092"),
        ("See which cluster log dirs belong to:", "kafkapy cluster-id --log-dirs /kafka/1"),
    ),
)
def cluster_id(
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    bootstrap_controller: BootstrapControllerOption = None,
    command_config: CommandConfigOption = None,
    config: ConfigOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Show the id of a cluster.

    It was chosen when the cluster was formatted, and is in the meta.properties of every log dir: a broker does not
    start on a log dir with a different id.
    """
    from kafkapy.backends.selection import open_cluster
    from kafkapy.output.printing import print_rows

    where = tool_selection(cluster, log_dirs, bootstrap_server, bootstrap_controller, command_config, config, output)
    with closing(open_cluster(where)) as opened:
        found = opened.administration().cluster_id()
    line = f"Cluster ID: {found}" if found else "No cluster ID found. The Kafka version is probably too old."
    print_rows(output, [(line, {"type": "cluster", "cluster_id": found})])
