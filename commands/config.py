"""``kafkapy config``: named clusters. No script of Kafka's does this."""

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kafkapy.errors import FormatError, UsageError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_group

from .cluster_options import LinesOption
from .spark_options import EngineName
from .tool_errors import warn

if TYPE_CHECKING:
    from kafkapy.contexts.config_file import ConfigFile, Context

KIND = "Which cluster it is (exactly one)"
USUAL = "What its commands do by default"

ContextArgument = Annotated[str, typer.Argument(metavar="CONTEXT", help="The name of the context.", show_default=False)]

app = new_group(
    "Give clusters names, and choose the one that commands use.\n\n"
    "They are kept in ~/.config/kafkapy/config.yaml (or $XDG_CONFIG_HOME/kafkapy/config.yaml; $KAFKAPY_CONFIG "
    "names another file), which may be edited by hand. Every command that works on a cluster takes --context.",
    examples(
        ("Give a cluster directory a name:", "kafkapy config add dev --cluster kafkapy-cluster"),
        ("Make it the one that commands use:", "kafkapy config use dev"),
        ("See which cluster commands use here, and why:", "kafkapy config show"),
    ),
)


class ConfigCommand(Subcommand):
    """It reads the file itself."""

    tells_of_config = True


@app.command(
    "list",
    cls=ConfigCommand,
    epilog=examples(
        ("Show all contexts; the current one has a star:", "kafkapy config list"),
        ("The same for a script:", "kafkapy config list --output json"),
    ),
)
def list_(output: LinesOption = Output.KAFKA) -> None:
    """List the contexts."""
    from kafkapy.contexts.config_file import read_config
    from kafkapy.output.aligned import aligned
    from kafkapy.output.printing import print_lines, print_rows

    config = read_config()
    rows = [_row(config, context) for context in config.contexts.values()]
    if output != Output.KAFKA:
        print_rows(output, ((None, row) for row in rows))
    elif rows:
        shown = [["*" if row["is_current"] else " ", row["name"], row["kind"], row["cluster"]] for row in rows]
        print_lines(aligned([[" ", "NAME", "KIND", "CLUSTER"], *shown]))
    else:
        print_lines([f"no contexts yet in {config.path}: 'kafkapy config add NAME --cluster DIR' adds one"])


@app.command(
    "use",
    cls=ConfigCommand,
    epilog=examples(
        ("Make commands use this cluster from now on:", "kafkapy config use dev"),
        ("See what that changed:", "kafkapy config show"),
    ),
)
def use(name: ContextArgument) -> None:
    """Make a context the current one, used by commands that name no cluster.

    In one shell only: export KAFKAPY_CONTEXT=NAME. For one command only: --context NAME.
    """
    from kafkapy.contexts import config_edit
    from kafkapy.contexts.config_file import read_config
    from kafkapy.contexts.config_lock import config_locked
    from kafkapy.output.printing import print_lines

    with config_locked():
        config = read_config(any_current=True)
        context = config.context(name, "config use")
        config_edit.use(config, name, warn)
    print_lines([f"The current context is {name} ({context.kind} {context.settings[context.kind].value})."])


class Add(Subcommand):
    """Its options are what the file is to say, not what it says."""

    takes_defaults = False


@app.command(
    "add",
    cls=Add,
    epilog=examples(
        ("A cluster directory:", "kafkapy config add dev --cluster kafkapy-cluster"),
        ("Copies of brokers' disks:", "kafkapy config add disks --log-dirs /kafka/1,/kafka/2 --output table"),
        (
            "A running cluster, with the file that has its password:",
            "kafkapy config add prod --bootstrap-server broker1:9092,broker2:9092 --command-config prod.properties",
        ),
    ),
)
def add(
    name: ContextArgument,
    cluster: Annotated[
        str | None, typer.Option("--cluster", metavar="DIR", help="A cluster directory.", rich_help_panel=KIND)
    ] = None,
    log_dirs: Annotated[
        str | None,
        typer.Option(
            "--log-dirs", metavar="DIR[,DIR...]", help="Data directories of real brokers.", rich_help_panel=KIND
        ),
    ] = None,
    bootstrap_server: Annotated[
        str | None,
        typer.Option(
            "--bootstrap-server",
            metavar="HOST:PORT[,...]",
            help="Some brokers of a running cluster.",
            rich_help_panel=KIND,
        ),
    ] = None,
    bootstrap_controller: Annotated[
        str | None,
        typer.Option(
            "--bootstrap-controller",
            metavar="HOST:PORT[,...]",
            help="Some controllers of a running cluster, to query them directly.",
            rich_help_panel=KIND,
        ),
    ] = None,
    command_config: Annotated[
        str | None,
        typer.Option(
            "--command-config",
            metavar="FILE.properties",
            help="A Java client's .properties file: how to log in to a running cluster. Secrets stay in it.",
        ),
    ] = None,
    default_output: Annotated[
        Output | None, typer.Option("--output", help="How commands print.", rich_help_panel=USUAL)
    ] = None,
    engine: Annotated[
        EngineName | None, typer.Option("--engine", help="Where bulk jobs run.", rich_help_panel=USUAL)
    ] = None,
    master: Annotated[
        str | None, typer.Option("--master", metavar="URL", help="Spark's master.", rich_help_panel=USUAL)
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the context of that name.")] = False,
) -> None:
    """Give a cluster a name.

    Paths are kept as absolute ones. ${ENV:VARIABLE} in a value (in single quotes, for the shell) is looked up when the
    context is used. The first context becomes the current one.
    """
    from kafkapy.contexts import config_edit
    from kafkapy.contexts.config_file import KINDS, LIVE_KINDS, check_name, problem_with, read_config
    from kafkapy.contexts.config_lock import config_locked
    from kafkapy.output.at_words import at_words
    from kafkapy.output.printing import print_lines

    given = {
        "cluster": _whole(cluster),
        "log-dirs": _whole(log_dirs),
        "bootstrap-server": bootstrap_server,
        "bootstrap-controller": bootstrap_controller,
        "command-config": _whole(command_config),
        "output": default_output,
        "engine": engine,
        "master": master,
    }
    settings = {key: str(value) for key, value in given.items() if value is not None}
    for key, value in settings.items():
        if not value.strip(" ,"):
            raise UsageError(f"--{key} is empty")
        problem = problem_with(key, value)
        if problem is not None:
            raise UsageError(f"--{problem}")
    kinds = [kind for kind in KINDS if kind in settings]
    if len(kinds) > 1:
        raise UsageError(
            f"{' and '.join(f'--{kind}' for kind in kinds)} name different clusters: give only one of them"
        )
    if not kinds:
        raise UsageError(f"give one of {', '.join(f'--{kind}' for kind in KINDS)}")
    if command_config is not None and kinds[0] not in LIVE_KINDS:
        raise UsageError("--command-config goes with --bootstrap-server")
    check_name(name)
    _check_addresses(kinds[0], settings[kinds[0]])
    with config_locked():
        config = read_config()
        if name in config.contexts and not replace:
            raise UsageError(f"there is already a context '{name}': give --replace, or choose another name")
        config_edit.add(config, name, settings, warn)
        is_first = not config.contexts
        if is_first:
            config_edit.use(read_config(), name, lambda _: None)
    _tell_missing(settings)
    done = f"Replaced {name} in" if name in config.contexts else f"Added {name} to"
    print_lines([at_words(f"{done} {config.path}{', as the current context' if is_first else ''}.")])


@app.command(
    "remove",
    cls=ConfigCommand,
    epilog=examples(
        ("Forget a name; nothing happens to the cluster:", "kafkapy config remove dev"),
        ("See what is left:", "kafkapy config list"),
    ),
)
def remove(name: ContextArgument) -> None:
    """Remove a context, even an invalid one. Its cluster is not touched."""
    from kafkapy.contexts import config_edit
    from kafkapy.contexts.config_file import read_config
    from kafkapy.contexts.config_lock import config_locked
    from kafkapy.contexts.context_option import cluster_by_default
    from kafkapy.contexts.resolution import VARIABLE
    from kafkapy.output.printing import print_lines

    with config_locked():
        try:
            config = read_config()
        except FormatError:
            config = read_config(checked=False)
        config.context(name, "config remove")
        config_edit.remove(config, name, warn)
    print_lines([f"Removed {name} from {config.path}."])
    if config.current is not None and config.current.value == name and not os.environ.get(VARIABLE):
        warn(f"kafkapy: it was the current one; commands that name no cluster now use {cluster_by_default()}")


@app.command(
    "show",
    cls=ConfigCommand,
    epilog=examples(
        ("Which cluster does a command use here if it names none, and why:", "kafkapy config show"),
        ("What a context stands for:", "kafkapy config show dev"),
    ),
)
def show(
    name: Annotated[
        str | None, typer.Argument(metavar="[CONTEXT]", help="The name of the context.", show_default=False)
    ] = None,
    output: LinesOption = Output.KAFKA,
) -> None:
    """Show what a context stands for, and where each value comes from; by default the one that commands use here."""
    from kafkapy.contexts.config_file import read_config
    from kafkapy.contexts.effective import effective_settings
    from kafkapy.output.aligned import aligned
    from kafkapy.output.at_words import at_words
    from kafkapy.output.printing import print_lines, print_rows

    config = read_config()
    found = effective_settings(config, name)
    if output != Output.KAFKA:
        print_rows(output, ((None, {"type": "setting", **each._asdict()}) for each in found))
    else:
        rows = [[each.name, each.value, each.source.replace(f"{config.path}:", "config file:")] for each in found]
        print_lines(map(at_words, aligned([["SETTING", "VALUE", "FROM"], *rows])))


def _check_addresses(kind: str, value: str) -> None:
    """Refuse servers that cannot be any; those of the environment are looked at when they are used."""
    from kafkapy.backends.live.opening import parse_addresses
    from kafkapy.contexts.config_file import LIVE_KINDS, REFERENCE

    if kind in LIVE_KINDS and not REFERENCE.search(value):
        parse_addresses(value, f"--{kind}")


def _tell_missing(settings: dict[str, str]) -> None:
    """Warn of paths that lead nowhere: they may be made later."""
    import os

    from kafkapy.contexts.config_file import PATH_KEYS, REFERENCE

    known = [key for key in PATH_KEYS if key in settings]
    paths = [path for key in known for path in settings[key].split(",") if not REFERENCE.search(path)]
    missing = [path for path in paths if not os.path.exists(os.path.expanduser(path))]
    if missing:
        warn(f"kafkapy: not there yet, but needed by the context: {', '.join(missing)}")


def _whole(paths: str | None) -> str | None:
    """Absolute paths, but for what is looked up later."""
    import os

    if paths is None or not paths.strip(" ,"):
        return paths
    each = [path for path in paths.split(",") if path]
    return ",".join(path if path.startswith(("${ENV:", "~")) else os.path.abspath(path) for path in each)


def _row(config: "ConfigFile", context: "Context") -> dict[str, Any]:
    settings = {key: setting.value for key, setting in context.settings.items()}
    return {
        "type": "context",
        "name": context.name,
        "is_current": config.current is not None and config.current.value == context.name,
        "kind": context.kind,
        "cluster": settings[context.kind],
        "command_config": settings.get("command-config"),
        "output": settings.get("output"),
        "engine": settings.get("engine"),
        "master": settings.get("master"),
    }
