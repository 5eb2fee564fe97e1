"""``kafkapy storage``: kafka-storage.sh for cluster directories."""

from typing import Annotated

import typer

from kafkapy.subcommand import Subcommand, examples, new_group

DIRECTORY = "The cluster directory"
DEFAULT_BASE_PORT = 19092

app = new_group(
    "Make cluster directories, and see what log dirs are made of.",
    examples(
        ("Make a cluster of three brokers:", "kafkapy storage format --cluster my-cluster --brokers 3"),
        ("Show what a cluster directory is made of:", "kafkapy storage info --cluster my-cluster"),
    ),
)


@app.command(
    "format",
    cls=Subcommand,
    epilog=examples(
        ("Make a cluster of three brokers:", "kafkapy storage format --cluster my-cluster --brokers 3"),
        (
            "Make one whose brokers stand in two racks:",
            "kafkapy storage format --cluster my-cluster --brokers 3 --racks a,b,a",
        ),
    ),
)
def format_(
    cluster: Annotated[str, typer.Option(metavar="DIR", help="The directory to make. It must be new or empty.")],
    brokers: Annotated[int, typer.Option(min=1, help="How many brokers.")] = 3,
    racks: Annotated[str | None, typer.Option(metavar="RACK[,RACK...]", help="The rack of each broker.")] = None,
    cluster_id: Annotated[
        str | None, typer.Option("--cluster-id", "-t", metavar="ID", help="The cluster's id; else a random one.")
    ] = None,
    metadata_version: Annotated[
        str | None,
        typer.Option(
            "--metadata-version",
            "--release-version",
            "-r",
            metavar="VERSION",
            help="The release whose metadata.version and features to begin with, such as 4.0-IV3 or 4.2.",
        ),
    ] = None,
    feature: Annotated[
        list[str] | None,
        typer.Option("--feature", "-f", metavar="NAME=LEVEL", help="The level of one feature. May be repeated."),
    ] = None,
) -> None:
    """Make a cluster directory.

    Every file in it is in Kafka's own format: real brokers can be started on it, see 'kafkapy storage
    broker-properties'.
    """
    from kafkapy.backends.directory_format import make_cluster
    from kafkapy.output.printing import print_lines

    names = [rack.strip() for rack in (racks or "").split(",") if rack.strip()]
    made = make_cluster(cluster, brokers, names, metadata_version, _levels(feature or []), cluster_id)
    ids = ", ".join(str(broker.id) for broker in made.brokers)
    print_lines([f"Made the cluster directory {cluster} with brokers {ids} and cluster id {made.cluster_id}."])


@app.command(
    "broker-properties",
    cls=Subcommand,
    epilog=examples(
        (
            "Start a real broker on a cluster directory:",
            "kafkapy storage broker-properties --cluster my-cluster --broker 1 > server-1.properties",
        ),
        (
            "Choose the ports (broker N listens on P+2(N-1), its controller on the next):",
            "kafkapy storage broker-properties --cluster my-cluster --broker 2 --base-port 9092",
        ),
    ),
)
def broker_properties(
    broker: Annotated[int, typer.Option(metavar="ID", help="Which broker.")],
    cluster: Annotated[
        str | None, typer.Option(metavar="DIR", help="The cluster directory.", rich_help_panel=DIRECTORY)
    ] = None,
    base_port: Annotated[int, typer.Option(min=1, max=65000, help="The first broker's port.")] = DEFAULT_BASE_PORT,
) -> None:
    """Print the server.properties with which a real broker would start on a cluster directory."""
    from kafkapy.backends.directory import read_cluster_file
    from kafkapy.backends.directory_format import broker_properties as lines_for
    from kafkapy.backends.selection import Selection, check_directory
    from kafkapy.output.printing import print_lines

    directory = Selection(cluster).directory
    check_directory(directory)
    print_lines(lines_for(directory, read_cluster_file(directory), broker, base_port))


@app.command(
    "info",
    cls=Subcommand,
    epilog=examples(
        ("Show what a cluster directory is made of:", "kafkapy storage info --cluster my-cluster"),
        ("Show to whom data directories belong:", "kafkapy storage info --log-dirs /kafka/1,/kafka/2"),
    ),
)
def info(
    cluster: Annotated[
        str | None, typer.Option(metavar="DIR", help="A cluster directory.", rich_help_panel=DIRECTORY)
    ] = None,
    log_dirs: Annotated[
        str | None,
        typer.Option(
            "--log-dirs", metavar="DIR[,DIR...]", help="Data directories of real brokers.", rich_help_panel=DIRECTORY
        ),
    ] = None,
) -> int:
    """Show the log dirs, and the meta.properties in each."""
    from kafkapy.backends.storage_info import storage_info
    from kafkapy.output.printing import print_lines

    lines, problems = storage_info(cluster, [path for path in (log_dirs or "").split(",") if path])
    print_lines(lines)
    return 1 if problems else 0


@app.command(
    "random-uuid",
    cls=Subcommand,
    epilog=examples(
        ("Print a new id:", "kafkapy storage random-uuid"),
        (
            "Make a cluster with an id of one's own:",
            "kafkapy storage format --cluster my-cluster --cluster-id MkU3OEVBNTcwNTJENDM2Qg",
        ),
    ),
)
def random_uuid() -> None:
    """Print a random id, as clusters, topics and log dirs have one."""
    from kafkapy.formats.uuid import random_uuid as new_id
    from kafkapy.output.printing import print_lines

    print_lines([new_id()])


def _levels(features: list[str]) -> dict[str, int]:
    from kafkapy.errors import UsageError

    levels = {}
    for given in features:
        name, _, level = given.partition("=")
        if not level.strip().isdigit():
            raise UsageError(f"--feature: {given} is not of the form NAME=LEVEL")
        levels[name.strip()] = int(level)
    return levels
