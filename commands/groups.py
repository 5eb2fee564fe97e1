"""``kafkapy groups``: kafka-groups.sh."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kafkapy.errors import UsageError
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
from .option_kinds import flag
from .tool_errors import finish

if TYPE_CHECKING:
    from kafkapy.coordinator.group_description import GroupListing

ACTION = "What to do"
WHICH = "Which groups"
TYPES = ("classic", "consumer", "share", "streams")
LEAST_WIDTH = 20

app = new_app()


@app.command(
    cls=Subcommand,
    epilog=examples(
        ("List every group, of any type:", "kafkapy groups --list"),
        (
            "List the groups of consumers, from real brokers' directories:",
            "kafkapy groups --list --consumer --log-dirs /kafka/1,/kafka/2",
        ),
        (
            "List the share groups of a running cluster:",
            "kafkapy groups --list --share --bootstrap-server kafka-1:9092",
        ),
    ),
)
def groups(
    list_: Annotated[bool, typer.Option("--list", help="List groups.", rich_help_panel=ACTION)] = False,
    group_type: Annotated[
        str | None,
        typer.Option(metavar="classic|consumer|share|streams", help="Only groups of this type.", rich_help_panel=WHICH),
    ] = None,
    protocol: Annotated[
        str | None,
        typer.Option(
            metavar="PROTOCOL",
            help="Only groups of this protocol type, such as consumer or connect.",
            rich_help_panel=WHICH,
        ),
    ] = None,
    consumer: Annotated[
        bool,
        flag(
            "--consumer",
            "Consumers' groups: type consumer, and classic ones with the protocol consumer or none.",
            WHICH,
        ),
    ] = False,
    share: Annotated[bool, flag("--share", "Share groups.", WHICH)] = False,
    streams: Annotated[bool, flag("--streams", "Streams groups.", WHICH)] = False,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    command_config: CommandConfigOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """List groups of all types.

    classic: consumers that divide partitions among themselves, and others such as Connect's workers. consumer: the same
    with the protocol of KIP-848, where the broker divides them. share: consumers that are each handed single records,
    as from a queue. streams: instances of a Kafka Streams application.
    """
    if not list_:
        raise UsageError("Command must include exactly one action: --list")
    given = {"consumer": consumer, "share": share, "streams": streams}
    _check(given, group_type, protocol)
    from kafkapy.backends.selection import open_cluster
    from kafkapy.output.printing import print_rows

    with closing(open_cluster(selection(cluster, log_dirs, bootstrap_server, command_config))) as opened:
        found = opened.groups()
        wanted = [listing for listing in found.list() if _is_wanted(listing, group_type, protocol, given)]
        print_rows(output, _rows(wanted))
        finish(found.problems)


def _check(given: dict[str, bool], group_type: str | None, protocol: str | None) -> None:
    if group_type is not None and group_type.lower() not in TYPES:
        raise UsageError(f"--group-type must be a valid group type: {', '.join(TYPES)}")
    named = [name for name, is_given in given.items() if is_given]
    named += ["group-type"] * (group_type is not None) + ["protocol"] * (protocol is not None)
    if len(named) > 1 and named[0] in given:
        raise UsageError(f'Option "[{named[0]}]" can\'t be used with option "[{named[1]}]"')


def _is_wanted(listing: "GroupListing", group_type: str | None, protocol: str | None, given: dict[str, bool]) -> bool:
    found = listing.type.lower()
    if group_type is not None and found != group_type.lower():
        return False
    if protocol is not None and listing.protocol != protocol:
        return False
    if given["consumer"]:
        return found == "consumer" or listing.protocol in ("consumer", "")
    return not any(given.values()) or given.get(found, False)


def _rows(listings: Sequence["GroupListing"]) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """GroupsCommand's table: all columns have one width, and in rows a space follows the last, too."""
    from kafkapy.output.printf_table import pad, width_of
    from kafkapy.output.share_group_lines import listing_rows

    width = width_of((cell for listing in listings for cell in listing[:3]), LEAST_WIDTH)
    yield " ".join(pad(title, width) for title in ("GROUP", "TYPE", "PROTOCOL")), None
    for listing, row in zip(listings, listing_rows(listings), strict=True):
        yield "".join(f"{pad(cell, width)} " for cell in listing[:3]), row
