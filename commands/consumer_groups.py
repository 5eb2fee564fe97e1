"""``kafkapy consumer-groups``: kafka-consumer-groups.sh."""

from collections.abc import Mapping
from typing import ClassVar

from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_app

from . import consumer_group_options as options
from .cluster_options import (
    BootstrapOption,
    ClusterOption,
    CommandConfigOption,
    LogDirsOption,
    OutputOption,
    selection,
)
from .consumer_group_usage import check_usage, given

app = new_app()


class ConsumerGroups(Subcommand):
    """``--state`` and ``--type`` may stand alone."""

    optional_arguments: ClassVar[Mapping[str, str]] = {"--state": "", "--type": ""}


@app.command(
    cls=ConsumerGroups,
    epilog=examples(
        ("Show how far every group is behind:", "kafkapy consumer-groups --describe --all-groups"),
        (
            "Show the lag of a group by topic, from brokers' data directories:",
            "kafkapy consumer-groups --log-dirs /kafka/1,/kafka/2 --describe --group billing --totals",
        ),
        (
            "Show the members of a group of a running cluster:",
            "kafkapy consumer-groups --bootstrap-server kafka-1:9092 --describe --group billing --members --verbose",
        ),
        (
            "Let a group read a topic again from a given time on:",
            "kafkapy consumer-groups --reset-offsets --group billing --topic orders "
            "--to-datetime 2026-01-31T09:30:00.000 --execute",
        ),
        (
            "Let a new group start where another one is:",
            "kafkapy consumer-groups --reset-offsets --group billing-2 --to-group billing --execute",
        ),
    ),
)
def consumer_groups(
    list_: options.ListOption = False,
    describe: options.DescribeOption = False,
    delete: options.DeleteOption = False,
    reset_offsets: options.ResetOffsetsOption = False,
    delete_offsets: options.DeleteOffsetsOption = False,
    validate_regex: options.ValidateRegexOption = None,
    group: options.GroupOption = None,
    all_groups: options.AllGroupsOption = False,
    topic: options.TopicOption = None,
    all_topics: options.AllTopicsOption = False,
    state: options.StateOption = None,
    type_: options.TypeOption = None,
    offsets: options.OffsetsOption = False,
    members: options.MembersOption = False,
    verbose: options.VerboseOption = False,
    totals: options.TotalsOption = False,
    lagging: options.LaggingOption = False,
    to_earliest: options.ToEarliestOption = False,
    to_latest: options.ToLatestOption = False,
    to_current: options.ToCurrentOption = False,
    to_offset: options.ToOffsetOption = None,
    shift_by: options.ShiftByOption = None,
    to_datetime: options.ToDatetimeOption = None,
    by_duration: options.ByDurationOption = None,
    to_timestamp: options.ToTimestampOption = None,
    to_group: options.ToGroupOption = None,
    from_file: options.FromFileOption = None,
    dry_run: options.DryRunOption = False,
    execute: options.ExecuteOption = False,
    export: options.ExportOption = False,
    no_fsync: options.NoFsyncOption = False,
    timeout: options.TimeoutOption = 30_000,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    command_config: CommandConfigOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """List, describe and delete consumer groups, and reset their offsets.

    A group's offset in a partition is that of the record that it will read next; LAG is how many records there are from
    there on. Offsets are reset only while the group has no members, and without --execute the command only shows what
    would change.
    """
    values = {name.strip("_").replace("_", "-"): value for name, value in locals().items()}
    check_usage(given(values), state)
    chosen = selection(cluster, log_dirs, bootstrap_server, command_config)._replace(timeout_ms=timeout)
    if list_ or describe or validate_regex is not None:
        from . import consumer_group_reading as reading

        if validate_regex is not None:
            reading.validate_regex(validate_regex, output)
        elif list_:
            reading.list_groups(chosen, state, type_, output)
        else:
            reading.describe_groups(chosen, group or (), values, output)
        return
    from . import consumer_group_changes as changes

    change = changes.Change(chosen, group or (), not no_fsync, output)
    if reset_offsets:
        changes.reset_offsets(change, values, execute, export)
    elif delete:
        changes.delete_groups(change)
    else:
        changes.delete_offsets(change, topic or ())
