"""``kafkapy doctor``: what is wrong, and what to do. No script of Kafka's does this."""

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, cast

import typer

from kafkapy.errors import KafkapyError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_app

from .cluster_options import BootstrapOption, ClusterOption, CommandConfigOption, LinesOption, LogDirsOption, selection

if TYPE_CHECKING:
    from kafkapy.backends.log_dirs import LogDirsCluster
    from kafkapy.backends.selection import Selection
    from kafkapy.doctor.finding import Finding

app = new_app()


class Doctor(Subcommand):
    """What is wrong with config.yaml is one of its findings."""

    tells_of_config = True


@app.command(
    cls=Doctor,
    epilog=examples(
        ("Check Python, Java, codecs and terminal, and the default cluster if there is one:", "kafkapy doctor"),
        ("Check a cluster directory:", "kafkapy doctor --cluster kafkapy-cluster"),
        ("Check brokers' disks after a crash, as rows:", "kafkapy doctor --log-dirs /kafka/1,/kafka/2 --output table"),
        ("Ask a running cluster:", "kafkapy doctor --bootstrap-server localhost:9092"),
    ),
)
def doctor(
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Look only at the ends of logs, and do not compare replicas. This reads little."),
    ] = False,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    command_config: CommandConfigOption = None,
    output: LinesOption = Output.KAFKA,
) -> None:
    """Check the environment and a cluster, and say what to do about each problem.

    Files are read completely: every batch is checked against its checksum, indexes against their logs, and all copies
    of a partition against each other, along with checkpoints, signs of an unclean stop and stray directories. A running
    cluster is asked about brokers, log dirs, quorum and partitions. Nothing is changed.

    The exit code is 0 if all is well and 1 if there are warnings or errors.
    """
    from kafkapy.doctor.finding import Severity
    from kafkapy.doctor.finding_lines import count, finding_lines, finding_row, summary_line
    from kafkapy.output.printing import print_lines, print_rows
    from kafkapy.output.styled_lines import print_styled

    chosen = selection(cluster, log_dirs, bootstrap_server, command_config)
    counts: Counter[Severity] = Counter()
    where = _where(chosen)
    found = count(_findings(chosen, where, quick, quiet_stdout=output != Output.KAFKA), counts)
    if output == Output.KAFKA:
        print_styled(finding_lines(found, _width()))
        print_lines([summary_line(counts, where and chosen.name)])
    else:
        print_rows(output, ((None, finding_row(each)) for each in found))
    if any(counts[severity] for severity in Severity if severity.is_problem):
        raise typer.Exit(1)


def _findings(chosen: "Selection", where: str | None, quick: bool, quiet_stdout: bool) -> Iterator["Finding"]:
    from kafkapy.doctor.surroundings import check_surroundings

    yield from check_surroundings()
    if where is None:
        return
    from kafkapy.backends.selection import open_cluster
    from kafkapy.doctor.opening import closed_log_dirs, why_closed

    try:
        if chosen.is_live:
            from kafkapy.doctor.live_health import LONGEST_WAIT_MS, WAIT_SETTING, check_live

            chosen = chosen._replace(timeout_ms=LONGEST_WAIT_MS, timeout_setting=WAIT_SETTING)
            with closing(open_cluster(chosen)) as opened:
                yield from check_live(opened, where)
            return
        closed = closed_log_dirs(chosen, where)
        yield from closed.values()
        there = tuple(path for path in chosen.log_dirs if path not in closed)
        if closed and not there:
            return
        chosen = chosen._replace(log_dirs=there)
        yield from _files(cast("LogDirsCluster", open_cluster(chosen)), chosen.options, quick, quiet_stdout)
    except (KafkapyError, OSError) as problem:
        yield why_closed(chosen, where, problem)


def _files(opened: "LogDirsCluster", where: str, quick: bool, quiet_stdout: bool) -> Iterator["Finding"]:
    from kafkapy.doctor.file_health import check_files, size_of
    from kafkapy.output.progress import Progress

    progress = Progress(size_of(opened), quiet_stdout)
    try:
        yield from check_files(opened, where, quick, progress.advance)
    finally:
        progress.close()


def _width() -> int | None:
    """How wide the terminal is; None where there is none."""
    import os

    return os.get_terminal_size(1).columns if os.isatty(1) else None


def _where(chosen: "Selection") -> str | None:
    """The options that name the cluster, for a command line; None where none is named and the default is not there."""
    import os

    return chosen.options if chosen.is_named or os.path.exists(chosen.directory) else None
