"""``kafkapy features``: kafka-features.sh."""

from contextlib import closing
from typing import TYPE_CHECKING, Annotated

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
from .tool_errors import fail, say

if TYPE_CHECKING:
    from kafkapy.backends.selection import Selection
    from kafkapy.metadata.feature_updates import FeatureUpdate

app = new_group(
    "Show the features of a cluster, and change their levels.\n\n"
    "A feature is a part of Kafka whose level all nodes have to agree on, so that they write what all can read: "
    "metadata.version above all. After an upgrade of the brokers it is raised manually.\n\n"
    "" + PLACE_OF_OPTIONS.format("kafkapy features"),
    examples(
        ("Show the features of a running cluster:", "kafkapy features --bootstrap-server localhost:9092 describe"),
        ("See what a release would set:", "kafkapy features version-mapping --release-version 4.2"),
    ),
)

FeatureOption = Annotated[
    list[str] | None, typer.Option("--feature", metavar="FEATURE=LEVEL", help="A feature's level. May be repeated.")
]
ReleaseOption = Annotated[
    str | None,
    typer.Option("--release-version", metavar="RELEASE", help="All features, at the levels of this release."),
]
MetadataOption = Annotated[
    str | None,
    typer.Option("--metadata", metavar="RELEASE", help="Deprecated: the metadata.version of this release."),
]
UnsafeOption = Annotated[bool, typer.Option("--unsafe", help="Do it even if that may lose metadata.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only say whether it could be done.")]

# Kafka's tool wants a cluster also where it asks none, so its command lines have one.
UnaskedServerOption = Annotated[str | None, typer.Option("--bootstrap-server", hidden=True)]
UnaskedControllerOption = Annotated[str | None, typer.Option("--bootstrap-controller", hidden=True)]
UnaskedConfigOption = Annotated[str | None, typer.Option("--command-config", hidden=True)]


@app.callback(cls=OptionsFirst)
def features() -> None:
    """Only to have a group of this class."""


@app.command(
    cls=Subcommand,
    epilog=examples(
        ("Show the features of a cluster:", "kafkapy features describe --log-dirs /kafka/1"),
        ("Ask a running controller:", "kafkapy features --bootstrap-controller localhost:9093 describe"),
        (
            "Show what one node supports, as JSON lines:",
            "kafkapy features describe --log-dirs /kafka/1 --node-id 2 --output jsonl",
        ),
    ),
)
def describe(
    node_id: Annotated[
        int | None,
        typer.Option(metavar="NODE", min=0, help="The node whose supported versions to show; by default any node."),
    ] = None,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    bootstrap_controller: BootstrapControllerOption = None,
    command_config: CommandConfigOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Show what a node supports, and what is in force."""
    from kafkapy.backends.selection import open_cluster
    from kafkapy.output.printing import print_rows

    where = selection(cluster, log_dirs, bootstrap_server, command_config, bootstrap_controller)
    with closing(open_cluster(where)) as opened:
        found = opened.administration().features(node_id)
        if found is None:
            row = {"type": "feature", "feature": None, "known": False}
            print_rows(output, [("The features are unknown: there is no metadata log", row)])
        else:
            print_rows(output, [(each.line, {"type": "feature", **each._asdict()}) for each in found])


@app.command(
    cls=Subcommand,
    epilog=examples(
        (
            "Raise all features to those of a release:",
            "kafkapy features --bootstrap-server localhost:9092 upgrade --release-version 4.3",
        ),
        (
            "See whether one could be raised:",
            "kafkapy features --bootstrap-server localhost:9092 upgrade --feature group.version=1 --dry-run",
        ),
    ),
)
def upgrade(
    release_version: ReleaseOption = None,
    feature: FeatureOption = None,
    metadata: MetadataOption = None,
    dry_run: DryRunOption = False,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    bootstrap_controller: BootstrapControllerOption = None,
    command_config: CommandConfigOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Raise the levels of features."""
    from kafkapy.metadata.feature_updates import UPGRADE

    where = selection(cluster, log_dirs, bootstrap_server, command_config, bootstrap_controller)
    _update(where, "upgrade", _updates(release_version, feature, metadata, UPGRADE, output), dry_run, output)


@app.command(
    cls=Subcommand,
    epilog=examples(
        (
            "Go back to the features of a release:",
            "kafkapy features --bootstrap-server localhost:9092 downgrade --release-version 4.1",
        ),
        (
            "See whether one could be lowered:",
            "kafkapy features --bootstrap-server localhost:9092 downgrade --feature transaction.version=1 --dry-run",
        ),
    ),
)
def downgrade(
    release_version: ReleaseOption = None,
    feature: FeatureOption = None,
    metadata: MetadataOption = None,
    unsafe: UnsafeOption = False,
    dry_run: DryRunOption = False,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    bootstrap_controller: BootstrapControllerOption = None,
    command_config: CommandConfigOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Lower the levels of features.

    Kafka goes back to a release only if the form of the metadata has not changed since: from 4.2 to 4.1, but not from
    4.3.
    """
    where = selection(cluster, log_dirs, bootstrap_server, command_config, bootstrap_controller)
    updates = _updates(release_version, feature, metadata, _downgrade_type(unsafe), output)
    _update(where, "downgrade", updates, dry_run, output)


@app.command(
    cls=Subcommand,
    epilog=examples(
        (
            "Turn a feature off:",
            "kafkapy features --bootstrap-server localhost:9092 disable --feature share.version",
        ),
        (
            "See whether it could be turned off:",
            "kafkapy features --bootstrap-server localhost:9092 disable --feature share.version --dry-run",
        ),
    ),
)
def disable(
    feature: Annotated[
        list[str] | None, typer.Option("--feature", metavar="FEATURE", help="A feature. May be repeated.")
    ] = None,
    unsafe: UnsafeOption = False,
    dry_run: DryRunOption = False,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    bootstrap_controller: BootstrapControllerOption = None,
    command_config: CommandConfigOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Turn features off: their level becomes 0."""
    from kafkapy.metadata.feature_updates import disabling

    where = selection(cluster, log_dirs, bootstrap_server, command_config, bootstrap_controller)
    _update(where, "disable", disabling(feature or [], _downgrade_type(unsafe)), dry_run, output)


@app.command(
    "version-mapping",
    cls=Subcommand,
    epilog=examples(
        ("Show the levels of the newest release:", "kafkapy features version-mapping"),
        ("Show those of another:", "kafkapy features version-mapping --release-version 4.0"),
    ),
)
def version_mapping(
    release_version: ReleaseOption = None,
    bootstrap_server: UnaskedServerOption = None,
    bootstrap_controller: UnaskedControllerOption = None,
    command_config: UnaskedConfigOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Show which levels a release has."""
    from kafkapy.metadata import feature_lines
    from kafkapy.output.printing import print_rows

    print_rows(output, feature_lines.version_mapping(release_version))


@app.command(
    "feature-dependencies",
    cls=Subcommand,
    epilog=examples(
        (
            "Show what a level needs:",
            "kafkapy features feature-dependencies --feature eligible.leader.replicas.version=1",
        ),
        (
            "Show it of two:",
            "kafkapy features feature-dependencies --feature group.version=1 --feature transaction.version=2",
        ),
    ),
)
def feature_dependencies(
    feature: FeatureOption = None,
    bootstrap_server: UnaskedServerOption = None,
    bootstrap_controller: UnaskedControllerOption = None,
    command_config: UnaskedConfigOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Show which levels of other features a level needs."""
    from kafkapy.metadata.feature_lines import dependencies
    from kafkapy.metadata.feature_updates import parse_name_and_level
    from kafkapy.output.printing import print_rows

    if not feature:
        raise UsageError("--feature is required")
    print_rows(output, (pair for text in feature for pair in dependencies(*parse_name_and_level(text))))


def _updates(
    release: str | None, given: list[str] | None, metadata: str | None, upgrade_type: int, output: Output
) -> "list[FeatureUpdate]":
    from kafkapy.metadata.feature_updates import updates_of, updates_to_release

    if release is not None:
        if metadata is not None or given:
            raise UsageError("Can not specify `release-version` with other feature flags.")
        return updates_to_release(release, upgrade_type)
    if metadata is not None:
        say(" `metadata` flag is deprecated and may be removed in a future release.", output)
    return updates_of(metadata, given or [], upgrade_type)


def _downgrade_type(unsafe: bool) -> int:
    from kafkapy.metadata.feature_updates import SAFE_DOWNGRADE, UNSAFE_DOWNGRADE

    return UNSAFE_DOWNGRADE if unsafe else SAFE_DOWNGRADE


def _update(where: "Selection", operation: str, updates: "list[FeatureUpdate]", dry_run: bool, output: Output) -> None:
    if not updates:
        raise UsageError(f"You must specify at least one feature to {operation}")
    from kafkapy.backends.selection import open_cluster
    from kafkapy.output.feature_lines import update_pairs
    from kafkapy.output.printing import print_rows

    with closing(open_cluster(where)) as opened:
        failures = opened.administration().update_features(updates, dry_run)
    print_rows(output, update_pairs(operation, updates, failures, dry_run))
    failed = sum(error is not None for error in failures.values())
    if failed:
        fail(f"{failed} out of {len(updates)} operation(s) failed.")
