"""``kafkapy storage``: kafka-storage.sh for cluster directories."""

import os
from typing import Annotated

import typer

from kafkapy.contexts.context_option import CLUSTER
from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_group

from .cluster_options import ClusterOption, LogDirsOption, OutputOption
from .tool_errors import warn

WHOLE = "To make a whole cluster directory"
ONE = "To format the log dirs of one broker, as Kafka's tool does"
DEFAULT_BASE_PORT = 19092

app = new_group(
    "Create cluster directories, and show what log dirs consist of.\n\n"
    "A cluster directory is a whole Kafka cluster as files: a log dir for each broker, on which real brokers can "
    "be started, and cluster.yaml. If no cluster is named, the first command that writes creates "
    "./kafkapy-cluster.",
    examples(
        ("Create a cluster of three brokers:", "kafkapy storage format --cluster my-cluster --brokers 3"),
        ("Show what a cluster directory consists of:", "kafkapy storage info --cluster my-cluster"),
    ),
)


@app.command(
    "format",
    cls=Subcommand,
    epilog=examples(
        ("Create a cluster of three brokers:", "kafkapy storage format --cluster my-cluster --brokers 3"),
        (
            "Format the log dirs of a real broker:",
            "kafkapy storage format --config server.properties --cluster-id MkU3OEVBNTcwNTJENDM2Qg --standalone",
        ),
        (
            "Create one whose brokers are in two racks:",
            "kafkapy storage format --cluster my-cluster --brokers 3 --racks a,b,a",
        ),
    ),
)
def format_(
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="The cluster directory to create, new or empty; by default $KAFKAPY_CLUSTER.",
            rich_help_panel=WHOLE,
        ),
    ] = None,
    brokers: Annotated[int, typer.Option(metavar="N", min=1, help="The number of brokers.", rich_help_panel=WHOLE)] = 3,
    racks: Annotated[
        str | None,
        typer.Option(metavar="RACK[,RACK...]", help="The rack of each broker.", rich_help_panel=WHOLE),
    ] = None,
    log_dirs_per_broker: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many log dirs each broker has.", rich_help_panel=WHOLE)
    ] = 1,
    config: Annotated[
        str | None,
        typer.Option(
            "--config", "-c", metavar="FILE.properties", help="The broker's server.properties.", rich_help_panel=ONE
        ),
    ] = None,
    add_scram: Annotated[
        list[str] | None,
        typer.Option(
            "--add-scram",
            "-S",
            metavar="CREDENTIAL",
            help="A user, such as 'SCRAM-SHA-256=[name=alice,password=pw]'. May be repeated.",
            rich_help_panel=ONE,
        ),
    ] = None,
    ignore_formatted: Annotated[
        bool,
        typer.Option("--ignore-formatted", "-g", help="Leave formatted log dirs as they are.", rich_help_panel=ONE),
    ] = False,
    standalone: Annotated[
        bool, typer.Option("--standalone", "-s", help="Format the only voter of a dynamic quorum.", rich_help_panel=ONE)
    ] = False,
    no_initial_controllers: Annotated[
        bool,
        typer.Option(
            "--no-initial-controllers",
            "-N",
            help="Format a controller that will join a dynamic quorum.",
            rich_help_panel=ONE,
        ),
    ] = False,
    initial_controllers: Annotated[
        str | None,
        typer.Option(
            "--initial-controllers",
            "-I",
            metavar="ID@HOST:PORT:DIRECTORY-ID[,...]",
            help="The first voters of a dynamic quorum.",
            rich_help_panel=ONE,
        ),
    ] = None,
    cluster_id: Annotated[
        str | None, typer.Option("--cluster-id", "-t", metavar="ID", help="The cluster's id (required with --config).")
    ] = None,
    release_version: Annotated[
        str | None,
        typer.Option(
            "--release-version",
            "-r",
            "--metadata-version",
            metavar="RELEASE",
            help="The release whose metadata.version and features to start with, such as 4.0-IV3 or 4.2.",
        ),
    ] = None,
    feature: Annotated[
        list[str] | None,
        typer.Option("--feature", "-f", metavar="FEATURE=LEVEL", help="The level of one feature. May be repeated."),
    ] = None,
) -> None:
    """Create a cluster directory, or format the log dirs of one broker.

    Every file in a cluster directory is in Kafka's own format: real brokers can be started on it, see 'kafkapy storage
    broker-properties'.
    """
    from kafkapy.backends.selection import VARIABLE
    from kafkapy.errors import UsageError

    if cluster is None and config is None:
        cluster = os.environ.get(VARIABLE) or None
    if (cluster is None) == (config is None):
        raise UsageError(
            f"give --cluster (or ${VARIABLE}) to make a cluster directory, or --config to format the log dirs of one "
            "broker"
        )
    levels = _levels(feature or [])
    if cluster is not None:
        _make_cluster(cluster, brokers, racks, release_version, levels, cluster_id, log_dirs_per_broker)
        return
    if cluster_id is None:
        raise UsageError("--cluster-id is required; 'kafkapy storage random-uuid' makes one")
    from kafkapy.backends.storage_format import FormatOptions, format_storage, read_server_properties
    from kafkapy.log.files import Files
    from kafkapy.output.printing import print_lines

    options = FormatOptions(
        cluster_id, release_version, levels, add_scram or (), ignore_formatted, standalone, no_initial_controllers,
        initial_controllers,
    )  # fmt: skip
    print_lines(format_storage(read_server_properties(config or ""), options, Files()))


def _make_cluster(
    cluster: str,
    brokers: int,
    racks: str | None,
    release: str | None,
    levels: dict[str, int],
    cluster_id: str | None,
    log_dirs: int,
) -> None:
    from kafkapy.backends.directory_format import make_cluster
    from kafkapy.output.printing import print_lines
    from kafkapy.signals import terminated_like_interrupted

    names = [rack.strip() for rack in (racks or "").split(",") if rack.strip()]
    with terminated_like_interrupted():
        made = make_cluster(cluster, brokers, names, release, levels, cluster_id, log_dirs_per_broker=log_dirs)
    ids = ", ".join(str(broker.id) for broker in made.brokers)
    which = "broker" if len(made.brokers) == 1 else "brokers"
    print_lines([f"Created the cluster directory {cluster} with {which} {ids} and cluster id {made.cluster_id}."])
    _tell_of_another(cluster)


def _tell_of_another(cluster: str) -> None:
    """Say where commands go that do not name the new directory."""
    from shlex import quote

    from kafkapy.contexts.meant import otherwise_meant

    other = otherwise_meant(cluster)
    if other is not None:
        how = f"'--cluster {quote(cluster)}' selects the new one"
        warn(f"kafkapy: commands that name no cluster still use {other}; {how}")


@app.command(
    "version-mapping",
    cls=Subcommand,
    epilog=examples(
        ("Show the feature levels of the newest release:", "kafkapy storage version-mapping"),
        ("Show those of an older one:", "kafkapy storage version-mapping --release-version 4.0"),
    ),
)
def version_mapping(
    release_version: Annotated[
        str | None,
        typer.Option("--release-version", "-r", metavar="RELEASE", help="The release; by default the newest."),
    ] = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Show which feature levels clusters of a release start with."""
    from kafkapy.metadata.feature_lines import version_mapping as pairs
    from kafkapy.output.printing import print_rows

    print_rows(output, pairs(release_version))


@app.command(
    "feature-dependencies",
    cls=Subcommand,
    epilog=examples(
        ("Show what a feature needs:", "kafkapy storage feature-dependencies --feature transaction.version=2"),
        (
            "Show it for two of them:",
            "kafkapy storage feature-dependencies --feature share.version=1 --feature group.version=1",
        ),
    ),
)
def feature_dependencies(
    feature: Annotated[
        list[str], typer.Option("--feature", "-f", metavar="FEATURE=LEVEL", help="A feature. May be repeated.")
    ],
    output: OutputOption = Output.KAFKA,
) -> None:
    """Show which other features a feature level needs."""
    from kafkapy.metadata.feature_lines import feature_dependencies as pairs
    from kafkapy.output.printing import print_rows

    print_rows(output, pairs(feature))


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
    broker: Annotated[int, typer.Option(metavar="BROKER", help="The broker.")],
    cluster: ClusterOption = None,
    base_port: Annotated[
        int, typer.Option(metavar="PORT", min=1, max=65000, help="The first broker's port.")
    ] = DEFAULT_BASE_PORT,
) -> None:
    """Print the server.properties with which a real broker would start on a cluster directory."""
    from kafkapy.backends.cluster_file import read_cluster_file
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
        ("Show what a cluster directory consists of:", "kafkapy storage info --cluster my-cluster"),
        (
            "Show which cluster and broker data directories belong to:",
            "kafkapy storage info --log-dirs /kafka/1,/kafka/2",
        ),
    ),
)
def info(
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    config: Annotated[
        str | None,
        typer.Option(
            "--config", "-c", metavar="FILE.properties", help="A broker's server.properties.", rich_help_panel=CLUSTER
        ),
    ] = None,
    output: OutputOption = Output.KAFKA,
) -> int:
    """Show the log dirs, and the meta.properties in each."""
    from kafkapy.backends.storage_info import storage_info
    from kafkapy.output.printing import print_rows

    paths = [path for path in (log_dirs or "").split(",") if path]
    if config is not None:
        from kafkapy.backends.storage_format import read_server_properties

        paths += read_server_properties(config).log_dirs
    found = storage_info(cluster, paths)
    print_rows(output, [*((line, None) for line in found.lines), *((None, row) for row in found.rows)])
    return 1 if found.problems else 0


@app.command(
    "random-uuid",
    cls=Subcommand,
    epilog=examples(
        ("Print a new id:", "kafkapy storage random-uuid"),
        (
            "Create a cluster with your own id:",
            "kafkapy storage format --cluster my-cluster --cluster-id MkU3OEVBNTcwNTJENDM2Qg",
        ),
    ),
)
def random_uuid() -> None:
    """Print a random id, as used for clusters, topics and log dirs."""
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
