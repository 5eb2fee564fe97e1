"""``kafkapy configs``: kafka-configs.sh."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer
from typer._click import Context

from kafkapy.errors import KafkaError, UsageError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_app

from .cluster_options import (
    BootstrapControllerOption,
    BootstrapOption,
    ClusterOption,
    CommandConfigOption,
    LogDirsOption,
    OutputOption,
    selection,
)
from .tool_errors import fail_on_stdout, say, warn

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.backends.selection import Selection
    from kafkapy.metadata.config_entities import Entities
    from kafkapy.metadata.image import MetadataImage

ACTIONS = "What to do (exactly one)"
SHOWING = "With --describe"
ENTITIES = "Whose configs"
SHORTCUTS = "Whose configs (short forms)"
CHANGES = "What to alter"


class Configs(Subcommand):
    """Keeps the order of --entity-name and --entity-default, which says to which --entity-type each belongs."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Parse, with an empty --entity-name beside every --entity-default."""
        spelled: list[str] = []
        for word in args:
            if word.startswith("-") and word.lstrip("-") == "entity-default":
                spelled += ["--entity-name", ""]
            spelled.append(word)
        return super().parse_args(ctx, spelled)


def _shortcut(name: str, metavar: str, help_text: str) -> str | None:
    option: str | None = typer.Option(name, metavar=metavar, help=help_text, rich_help_panel=SHORTCUTS)
    return option


def _default(name: str, help_text: str) -> bool:
    option: bool = typer.Option(name, help=help_text, rich_help_panel=SHORTCUTS)
    return option


app = new_app()


@app.command(
    cls=Configs,
    epilog=examples(
        ("Show what is configured for a topic:", "kafkapy configs --log-dirs /kafka/1 --describe --topic orders"),
        (
            "Show every config of all brokers' defaults and where it comes from:",
            "kafkapy configs --log-dirs /kafka/1 --describe --entity-type brokers --entity-default --all",
        ),
        (
            "Keep a topic's records for a week:",
            "kafkapy configs --cluster demo --alter --topic orders --add-config retention.ms=604800000",
        ),
        (
            "See every config of a running broker, and where it comes from:",
            "kafkapy configs --bootstrap-server localhost:9092 --describe --broker 1 --all",
        ),
        (
            "Give a user a password:",
            "kafkapy configs --cluster demo --alter --user alice --add-config 'SCRAM-SHA-256=[password=secret]'",
        ),
    ),
)
def configs(
    describe: Annotated[bool, typer.Option("--describe", help="Show configs.", rich_help_panel=ACTIONS)] = False,
    alter: Annotated[bool, typer.Option("--alter", help="Change configs.", rich_help_panel=ACTIONS)] = False,
    all_: Annotated[
        bool, typer.Option("--all", help="Also show what is not set on the entity itself.", rich_help_panel=SHOWING)
    ] = False,
    entity_type: Annotated[
        list[str],
        typer.Option(
            metavar="ENTITY-TYPE",
            help="The type of the entity: topics, clients, users, brokers, broker-loggers, ips, client-metrics or "
            "groups; users and clients may be combined.",
            rich_help_panel=ENTITIES,
        ),
    ] = [],  # noqa: B006
    entity_name: Annotated[
        list[str],
        typer.Option(metavar="ENTITY", help="The name of the entity; by default all.", rich_help_panel=ENTITIES),
    ] = [],  # noqa: B006
    entity_default: Annotated[
        bool,
        typer.Option(
            "--entity-default",
            help="The default for all entities that have no config of their own.",
            rich_help_panel=ENTITIES,
        ),
    ] = False,
    topic: Annotated[str | None, _shortcut("--topic", "TOPIC", "A topic.")] = None,
    client: Annotated[str | None, _shortcut("--client", "CLIENT-ID", "A client id.")] = None,
    client_defaults: Annotated[bool, _default("--client-defaults", "All clients.")] = False,
    user: Annotated[str | None, _shortcut("--user", "USER", "A user principal.")] = None,
    user_defaults: Annotated[bool, _default("--user-defaults", "All users.")] = False,
    broker: Annotated[str | None, _shortcut("--broker", "BROKER", "A broker.")] = None,
    broker_defaults: Annotated[bool, _default("--broker-defaults", "All brokers.")] = False,
    broker_logger: Annotated[str | None, _shortcut("--broker-logger", "BROKER", "The loggers of a broker.")] = None,
    ip: Annotated[str | None, _shortcut("--ip", "IP", "An address.")] = None,
    ip_defaults: Annotated[bool, _default("--ip-defaults", "All addresses.")] = False,
    client_metrics: Annotated[
        str | None, _shortcut("--client-metrics", "CLIENT-METRICS", "A client metrics resource.")
    ] = None,
    group: Annotated[str | None, _shortcut("--group", "GROUP", "A group.")] = None,
    add_config: Annotated[
        str | None,
        typer.Option(
            metavar="CONFIG=VALUE[,...]",
            help="Set these configs; write a list in brackets: k=[a,b].",
            rich_help_panel=CHANGES,
        ),
    ] = None,
    add_config_file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.properties", help="Set the configs in this properties file.", rich_help_panel=CHANGES
        ),
    ] = None,
    delete_config: Annotated[
        list[str],
        typer.Option(
            metavar="CONFIG[,CONFIG...]", help="Reset these configs to their defaults.", rich_help_panel=CHANGES
        ),
    ] = [],  # noqa: B006
    no_fsync: Annotated[
        bool,
        typer.Option("--no-fsync", help="Do not wait for the disk: only for experiments.", rich_help_panel=CHANGES),
    ] = False,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    bootstrap_controller: BootstrapControllerOption = None,
    command_config: CommandConfigOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Show and change configs of topics, brokers, users, clients, groups and client metrics.

    What is not set on the entity itself comes from the default for all entities of its kind, or else from Kafka's
    built-in defaults; --describe --all shows where each value comes from. The configs of users, clients and ips are
    quotas, and those of users also their passwords (SCRAM).
    """
    if describe + alter != 1:
        raise UsageError("Command must include exactly one action: --describe, --alter")
    from kafkapy.metadata.config_entities import check_alter, check_describe, entities

    shortcuts = {
        "topics": topic,
        "clients": client,
        "users": user,
        "brokers": broker,
        "broker-loggers": broker_logger,
        "ips": ip,
        "client-metrics": client_metrics,
        "groups": group,
    }
    of_all = {"clients": client_defaults, "users": user_defaults, "brokers": broker_defaults, "ips": ip_defaults}
    chosen = entities(entity_type, entity_name, shortcuts, [name for name, given in of_all.items() if given])
    where = selection(cluster, log_dirs, bootstrap_server, command_config, bootstrap_controller)
    if describe:
        if add_config is not None or delete_config:
            raise UsageError("--add-config and --delete-config need --alter")
        check_describe(chosen)
        _describe(where, chosen, all_, output)
        return
    check_alter(chosen, add_config is not None, add_config_file is not None, bool(delete_config))
    _alter(where, chosen, _added(add_config, add_config_file), delete_config, output, sync=not no_fsync)


def _describe(where: "Selection", chosen: "Entities", all_configs: bool, output: Output) -> None:
    from kafkapy.backends.entity_hints import entity_hint
    from kafkapy.backends.selection import open_cluster
    from kafkapy.metadata.config_description import MissingEntityError, Resources, describe_entities, unknown_entities
    from kafkapy.output.printing import print_rows

    with closing(open_cluster(where)) as opened:
        if opened.has_metadata:
            resources = Resources(opened.config_resources, partial(opened.config_entries, synonyms=True))
            try:
                with _hinting(opened, chosen):
                    print_rows(output, describe_entities(opened.image(), resources, chosen, all_configs))
            except MissingEntityError as error:
                fail_on_stdout(str(error), output, error)
            _tell(entity_hint(opened, chosen))
            return
        brokers = {log_dir.broker_id for log_dir in opened.log_dirs() if log_dir.broker_id is not None}
        print_rows(output, unknown_entities(opened.image(), chosen, brokers))


@contextmanager
def _hinting(opened: "Cluster", chosen: "Entities", configs: Sequence[str] = ()) -> Iterator[None]:
    """An error because there is no such entity or config knows which one was probably meant."""
    from kafkapy.backends.entity_hints import entity_hint
    from kafkapy.metadata.config_names import config_hint

    try:
        yield
    except (KafkaError, UsageError) as error:
        error.hint = error.hint or config_hint(chosen.type, configs) or entity_hint(opened, chosen)
        raise


def _tell(hint: str | None) -> None:
    if hint is not None:
        warn(f"kafkapy: {hint}")


def _added(add_config: str | None, add_config_file: str | None) -> dict[str, str]:
    from kafkapy.metadata.configs.add_config import parse_add_config, parse_add_config_file

    if add_config_file is None:
        return {} if add_config is None else parse_add_config(add_config)
    with open(add_config_file, "rb") as file:
        return parse_add_config_file(file.read())


def _alter(
    where: "Selection",
    chosen: "Entities",
    added: dict[str, str],
    deletes: list[str],
    output: Output,
    *,
    sync: bool,
) -> None:
    from random import SystemRandom

    from kafkapy.backends.selection import open_cluster_for_writing
    from kafkapy.metadata.config_alteration import alteration
    from kafkapy.metadata.config_names import config_hint
    from kafkapy.metadata.configs.add_config import parse_delete_config
    from kafkapy.metadata.configs.describe_lines import updated_line

    deleted = parse_delete_config(deletes)
    with closing(open_cluster_for_writing(where, sync)) as opened, _hinting(opened, chosen, [*added, *deleted]):
        image = opened.image()
        unset = [name for name in deleted if config_hint(chosen.type, [name]) and not _is_set(image, chosen, name)]
        opened.apply(*alteration(image, opened.config_entries, chosen, added, deleted, SystemRandom()))
    say(updated_line(chosen.type, chosen.names[0]), output)
    _tell(config_hint(chosen.type, [*added, *unset]))


def _is_set(image: "MetadataImage", chosen: "Entities", config: str) -> bool:
    from kafkapy.metadata.config_description import RESOURCE_TYPES

    return chosen.type in RESOURCE_TYPES and config in image.config(RESOURCE_TYPES[chosen.type], chosen.names[0])
