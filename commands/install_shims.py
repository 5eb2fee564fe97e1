"""``kafkapy install-shims``: Kafka's script names for kafkapy."""

from typing import Annotated, Any

import typer

from kafkapy.errors import UsageError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_app

from .cluster_options import OutputOption

app = new_app()


@app.command(
    cls=Subcommand,
    epilog=examples(
        ("Write the scripts:", "kafkapy install-shims bin"),
        ("Write them also without .sh, as some packages of Kafka name them:", "kafkapy install-shims bin --bare-names"),
        (
            "Try scripts out on a cluster directory, whatever server they name:",
            "kafkapy install-shims bin --cluster demo",
        ),
        ("Remove them again:", "kafkapy install-shims bin --uninstall"),
    ),
)
def install_shims(
    directory: Annotated[
        str, typer.Argument(metavar="DIR", help="Where to; made where it is not there.", show_default=False)
    ],
    bare_names: Annotated[
        bool, typer.Option("--bare-names", help="Also write kafka-topics and so on, without .sh.")
    ] = False,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Work on this cluster directory, whatever server a script names."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Also replace files of these names that are not shims.")
    ] = False,
    uninstall: Annotated[bool, typer.Option("--uninstall", help="Remove the shims that are in DIR.")] = False,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Write scripts with the names of Kafka's own, which run kafkapy instead.

    Existing shell scripts then run unchanged: put DIR before Kafka's own bin on the PATH. Each script runs this
    installation of kafkapy, wherever it is called from. If a script names no cluster, $KAFKAPY_CLUSTER is used; with
    --cluster that directory is used even if the script names one.
    """
    import sys

    from kafkapy.output.printing import print_rows
    from kafkapy.shims import directory as shims

    if uninstall:
        if cluster is not None or bare_names or force:
            raise UsageError("--uninstall goes with no other option")
        names = shims.uninstall(directory)
        line = f"Removed {len(names)} scripts from {directory}."
        print_rows(output, [(line, None), *((None, _row(directory, name, is_there=False)) for name in names)])
        return
    if cluster is not None:
        from kafkapy.backends.selection import check_directory

        check_directory(cluster)
    names = shims.install(directory, sys.executable, cluster, bare_names, force)
    line = f"Wrote {len(names)} scripts into {directory}: put it first on the PATH."
    print_rows(output, [*((name, _row(directory, name, is_there=True)) for name in names), (line, None)])


def _row(directory: str, name: str, *, is_there: bool) -> dict[str, Any]:
    """A script that is there now, or was removed."""
    import os

    return {"type": "shim", "name": name, "path": os.path.join(directory, name), "is_there": is_there}
