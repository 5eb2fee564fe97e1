"""``kafkapy maintenance``: what a broker's background threads do, once."""

from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

from kafkapy.errors import UsageError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_app

from .cluster_options import ClusterOption, LinesOption, LogDirsOption, RefusedBootstrapOption, selection
from .option_kinds import flag, value

if TYPE_CHECKING:
    from kafkapy.backends.maintenance import Action
    from kafkapy.backends.selection import Selection

WHAT = "What to do"

app = new_app()


@app.command(
    cls=Subcommand,
    epilog=examples(
        ("What is due now, and why:", "kafkapy maintenance --cluster demo --dry-run"),
        (
            "What would be deleted if a topic were kept for an hour:",
            "kafkapy maintenance --cluster demo --dry-run --assume orders:retention.ms=3600000",
        ),
        (
            "What brokers would do next year, according to their data directories:",
            "kafkapy maintenance --log-dirs /kafka/1,/kafka/2 --dry-run --now 2027-01-01",
        ),
        ("Do what is due, and take a snapshot of the metadata:", "kafkapy maintenance --cluster demo --snapshot"),
    ),
)
def maintenance(
    dry_run: Annotated[bool, flag("--dry-run", "Show what would be done and why, and change nothing.", WHAT)] = False,
    topic: Annotated[
        str | None, value("--topic", "TOPIC", "Only topics with this name, and not the metadata log.", WHAT)
    ] = None,
    now: Annotated[
        str | None,
        value("--now", "TIME", "Act as if it were this time: epoch milliseconds, or ISO 8601 (UTC).", WHAT),
    ] = None,
    assume: Annotated[
        list[str] | None,
        value(
            "--assume",
            "TOPIC:CONFIG=VALUE",
            "With --dry-run: act as if a topic had this config. May be repeated.",
            WHAT,
        ),
    ] = None,
    snapshot: Annotated[bool, flag("--snapshot", "Take a snapshot of the metadata even if none is due.", WHAT)] = False,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: RefusedBootstrapOption = None,
    output: LinesOption = Output.KAFKA,
) -> None:
    """Run once what brokers do in the background: retention, compaction, snapshots, expiry.

    A cluster directory has no broker that would do it. For the log dirs of real brokers only a dry run is possible:
    what will they delete, and why?
    """
    from kafkapy.output.printing import print_rows

    if assume and not dry_run:
        raise UsageError("--assume only shows what would be done: give --dry-run too, or change the config")
    chosen = selection(cluster, log_dirs, bootstrap_server)
    if chosen.is_live:
        raise UsageError(
            "the brokers of a running cluster do this themselves: --dry-run with --log-dirs shows what they would do"
        )
    moment = None if now is None else _moment(now)
    actions = (
        _planned(chosen, moment, topic, snapshot, assume or []) if dry_run else _done(chosen, moment, topic, snapshot)
    )
    print_rows(output, _rows(actions, dry_run))


def _rows(actions: Iterator["Action"], is_plan: bool) -> Iterator[tuple[str, dict[str, Any] | None]]:
    from kafkapy.output.maintenance_lines import maintenance_line, maintenance_row

    first = next(actions, None)
    if first is None:
        yield "Nothing is due.", None
        return
    for action in chain([first], actions):
        yield maintenance_line(action, is_plan), maintenance_row(action, is_plan)


def _planned(
    chosen: "Selection", now: int | None, topic: str | None, snapshot: bool, assume: list[str]
) -> Iterator["Action"]:
    from kafkapy.backends.log_configs import parse_assumptions
    from kafkapy.backends.log_dirs import LogDirsCluster
    from kafkapy.backends.maintenance import Wanted, plan
    from kafkapy.backends.selection import open_cluster
    from kafkapy.metadata.topic_selection import check_matches

    with closing(open_cluster(chosen)) as opened:
        assert isinstance(opened, LogDirsCluster)
        if topic is not None and opened.has_metadata:
            check_matches(opened.image(), topic)
        directory = None if chosen.log_dirs else chosen.directory
        moment = opened.now if now is None else now
        assumed = parse_assumptions(assume, opened.image())
        yield from plan(opened, Wanted(moment, topic, snapshot, assumed, directory))


def _done(chosen: "Selection", now: int | None, topic: str | None, snapshot: bool) -> Iterator["Action"]:
    from kafkapy.backends.directory import DirectoryCluster
    from kafkapy.backends.maintenance import Wanted, run
    from kafkapy.backends.selection import open_cluster_for_writing
    from kafkapy.errors import Unsupported
    from kafkapy.metadata.topic_selection import check_matches

    opened = open_cluster_for_writing(chosen)
    if not isinstance(opened, DirectoryCluster):
        raise Unsupported("maintenance", "--log-dirs", "use --dry-run to see what the brokers would do")
    try:
        if topic is not None:
            check_matches(opened.image(), topic)
        moment = opened.now if now is None else now
        yield from run(opened, Wanted(moment, topic, snapshot, directory=chosen.directory))
    finally:
        opened.close()


def _moment(text: str) -> int:
    from kafkapy.output.timestamps import parse_timestamp

    try:
        return parse_timestamp(text)
    except ValueError as error:
        raise UsageError(f"--now: {error}") from None
