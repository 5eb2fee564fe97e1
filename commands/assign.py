"""``kafkapy assign``: how partitions are divided, and what moves when a group changes. No script of Kafka does this."""

from typing import Annotated

import typer

from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_app

from .cluster_options import LinesOption

GROUP = "The group"
CHANGES = "What happens to the group"

app = new_app()


@app.command(
    cls=Subcommand,
    epilog=examples(
        (
            "See why range burdens the first members, and what moves when one leaves:",
            "kafkapy assign --assignor range --topics a:4,b:4,c:4 --members 3 --then leave:m1",
        ),
        (
            "See the two rebalances of the cooperative protocol when a member joins:",
            "kafkapy assign --assignor cooperative-sticky --topics a:6 --members 2 --then join:m3",
        ),
        (
            "Let members subscribe to different topics, and a topic grow, as rows:",
            "kafkapy assign --assignor uniform --topics a:4,b:3 --members 'm1=a,b;m2=b' --then topic:b:6 --output csv",
        ),
    ),
)
def assign(
    topics: Annotated[
        str,
        typer.Option(metavar="NAME:COUNT[,...]", help="Topics and their partition counts.", rich_help_panel=GROUP),
    ],
    members: Annotated[
        str,
        typer.Option(
            metavar="N|LIST",
            help="The number of members (m1 to mN), or their names: 'm1=a,b;m2=b;m3'. One without '=' subscribes to "
            "all topics.",
            rich_help_panel=GROUP,
        ),
    ],
    assignor: Annotated[
        str,
        typer.Option(
            metavar="range|roundrobin|sticky|cooperative-sticky|uniform",
            help="The assignor that divides the partitions.",
            show_default=True,
            rich_help_panel=GROUP,
        ),
    ] = "range",
    group_protocol: Annotated[
        str | None,
        typer.Option(
            metavar="classic|consumer",
            help="The group's protocol. The default is consumer for uniform, and classic for all others.",
            rich_help_panel=GROUP,
        ),
    ] = None,
    racks: Annotated[
        str | None,
        typer.Option(
            metavar="RACK[,...]",
            help="Members take these racks in turn, and so do partitions: partition n is on rack n.",
            rich_help_panel=GROUP,
        ),
    ] = None,
    replication_factor: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="On how many racks in a row each partition is.", rich_help_panel=GROUP),
    ] = 1,
    then: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CHANGE",
            help="join:MEMBER[=TOPIC,...], leave:MEMBER, or topic:NAME:COUNT (it appears or grows; 0 deletes it). "
            "May be repeated, for one change after another.",
            rich_help_panel=CHANGES,
        ),
    ] = None,
    output: LinesOption = Output.KAFKA,
) -> None:
    """Show how an assignor divides partitions, and what moves when the group changes.

    Nothing is read or written: the group exists only here, and its partitions are divided exactly as Kafka would do it.

    Classic groups, where one of the members divides the partitions:

    range: each topic on its own, a run of partitions for each member; the first members get the ones left over.

    roundrobin: all partitions of all topics in one list, dealt out in turn.

    sticky: balanced, and members keep what they had, but all stop while the group rebalances.

    cooperative-sticky: divides like sticky, but members keep reading; what moves is revoked in a first rebalance and
    given to its new owner in a second one.

    Consumer groups (KIP-848), where the coordinator divides:

    uniform: balanced, and members keep what they had; each member changes on its own, without a common pause.

    range: with --group-protocol consumer, as above, without a common pause.
    """
    from kafkapy.output.assign_lines import step_lines, step_rows
    from kafkapy.output.at_words import at_words
    from kafkapy.output.printing import print_lines, print_rows

    from .assign_options import new_group, parse_change, steps

    changes = [parse_change(text) for text in then or ()]
    group = new_group(assignor, group_protocol, topics, members, racks, replication_factor, changes)
    made = steps(group, changes)
    if output == Output.KAFKA:
        print_lines(at_words(line) for step in made for line in step_lines(group, step))
    else:
        print_rows(output, ((None, row) for step in made for row in step_rows(step)))
