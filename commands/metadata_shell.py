"""``kafkapy metadata-shell``: kafka-metadata-shell.sh."""

from typing import TYPE_CHECKING, Annotated

import typer

from kafkapy.contexts.context_option import CLUSTER
from kafkapy.errors import DamagedFileError, KafkapyError, UsageError
from kafkapy.subcommand import Subcommand, examples, new_app

from .cluster_options import BootstrapOption, ClusterOption, LogDirsOption, selection
from .tool_errors import tell_problems

if TYPE_CHECKING:
    from kafkapy.backends.selection import Selection
    from kafkapy.metadata.metadata_file import SalvagedImage

app = new_app()


@app.command(
    cls=Subcommand,
    epilog=examples(
        ("Show all metadata of a topic:", "kafkapy metadata-shell --log-dirs /kafka/1 tree image/topics/byName/orders"),
        (
            "List what a snapshot holds:",
            "kafkapy metadata-shell -s 00000000000000000036-0000000001.checkpoint ls image",
        ),
        ("Look around, with a prompt:", "kafkapy metadata-shell --log-dirs /kafka/1"),
    ),
)
def metadata_shell(
    command: Annotated[
        list[str],
        typer.Argument(metavar="[cat|find|ls|tree [METADATA-PATH...]]", hidden=True),
    ] = [],  # noqa: B006
    snapshot: Annotated[
        str | None,
        typer.Option(
            "--snapshot", "-s", metavar="FILE", help="A metadata .log or .checkpoint file.", rich_help_panel=CLUSTER
        ),
    ] = None,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
) -> None:
    """Browse the metadata of a cluster as if it were files in directories.

    Paths begin with image, the metadata, or local, this program; they may contain globs such as
    'image/topics/byName/*'. Without a command there is a prompt, which also has cd, pwd, history, help, man and exit.
    """
    where = selection(cluster, log_dirs, bootstrap_server)
    if snapshot is not None and (cluster or log_dirs or bootstrap_server):
        raise UsageError("--snapshot names a file: it does not go with --cluster, --log-dirs or --bootstrap-server")
    from kafkapy import __version__
    from kafkapy.metadata.image_tree import root
    from kafkapy.metadata.metadata_shell import MetadataShell
    from kafkapy.output.printing import print_lines

    loaded = _loaded(snapshot, where)
    tree = root(loaded.image, __version__, "unknown")
    if command:
        shell = MetadataShell(tree)
        print_lines(shell.run(command))
        tell_problems([*shell.hints, *loaded.problems])
        if shell.failed or loaded.damage:
            raise typer.Exit(1)
        return
    import os
    import shutil

    from kafkapy.output.shell_prompt import run_shell

    tell_problems(loaded.problems)
    print_lines(["[ Kafka Metadata Shell ]"])
    run_shell(MetadataShell(tree, True, shutil.get_terminal_size().columns if os.isatty(1) else None))
    if loaded.damage:
        raise typer.Exit(1)


def _loaded(snapshot: str | None, where: "Selection") -> "SalvagedImage":
    from kafkapy.metadata.metadata_file import SalvagedImage, load_file

    if snapshot is not None:
        return load_file(snapshot)
    from kafkapy.backends.selection import open_cluster

    opened, damage = open_cluster(where), None
    if where.is_live:
        image = opened.image()
        len(image.brokers)  # or a cluster that does not answer would be told only below the root
        return SalvagedImage(image, None)
    has_metadata, image = opened.has_metadata, opened.image()
    try:
        opened.close()
    except DamagedFileError as error:
        damage = error
    if not has_metadata:
        missing = KafkapyError("there is no metadata log in these directories, so there is nothing to show")
        raise damage or missing
    return SalvagedImage(image, damage)
