"""``kafkapy dump-log``: kafka-dump-log.sh, with filters and other outputs beside Kafka's own lines."""

from typing import Any, ClassVar, NamedTuple, TypeVar

from typer._click import Context

from kafkapy.errors import UsageError
from kafkapy.output.output_format import Output
from kafkapy.output.row_view import shown_view
from kafkapy.output.timestamps import MAX_LONG, parse_timestamp
from kafkapy.scan.options import (
    DEFAULT_DECODER,
    MAX_INT,
    MAX_MESSAGE_SIZE,
    DumpOptions,
    Filters,
    MessageDecoder,
)
from kafkapy.subcommand import Subcommand, examples, new_app

from . import dump_log_options as own
from .spark_options import ConfOption, DriverMemoryOption, EngineName, EngineOption, MasterOption, open_engine

Number = TypeVar("Number", int, int | None)


class EngineChoice(NamedTuple):
    """What was said about who does the work."""

    name: EngineName = EngineName.LOCAL
    master: str | None = None
    conf: list[str] | None = None
    driver_memory: str | None = None


class DumpLog(Subcommand):
    """Dumps what :func:`dump_options` made of the command line."""

    optional_arguments: ClassVar[dict[str, str]] = {"--key-decoder-class": "string", "--value-decoder-class": "string"}

    def invoke(self, ctx: Context) -> Any:
        """Run the dump; the result is the exit code."""
        options, engine = super().invoke(ctx)
        try:
            return self._dump(options, engine)
        except UsageError as error:
            error.command_path = ctx.command_path
            raise

    @staticmethod
    def _dump(options: DumpOptions, engine: EngineChoice) -> int:
        if engine == EngineChoice():
            from kafkapy.scan.dump import dump

            return dump(options)
        from kafkapy.scan.parallel_dump import dump_in_parallel

        _check_paths(options, engine)
        with open_engine(*engine) as opened:
            return dump_in_parallel(options, opened)


app = new_app()


@app.command(
    cls=DumpLog,
    epilog=examples(
        (
            "Show every record of a partition directory, with keys and values:",
            "kafkapy dump-log --files docs/samples/orders-0 --print-data-log",
        ),
        (
            "List the batches of one segment, without reading records:",
            "kafkapy dump-log --files docs/samples/orders-0/00000000000000000000.log",
        ),
        (
            "Find the records of one key that carry a header, as JSON lines:",
            "kafkapy dump-log --files docs/samples/orders-0 --key '^k25$' --header trace=lima --print-data-log "
            "--output jsonl",
        ),
        (
            "Show what was written in one minute:",
            "kafkapy dump-log --files docs/samples/orders-0 --print-data-log --from-time 2026-11-16T03:16:00Z "
            "--to-time 2026-11-16T03:17:00Z",
        ),
        (
            "Read committed offsets out of the internal topic:",
            "kafkapy dump-log --files __consumer_offsets-0 --offsets-decoder",
        ),
        (
            "Check that indexes match their segments, printing only mismatches:",
            "kafkapy dump-log --files docs/samples/orders-0 --verify-index-only",
        ),
        (
            "Dump many segments on all cores, or on a cluster, to the same lines in the same order:",
            "kafkapy dump-log --files docs/samples/orders-0 --print-data-log --engine spark --master 'local[*]'",
        ),
    ),
)
def dump_options(
    files: own.FilesOption,
    print_data_log: own.PrintDataLogOption = False,
    deep_iteration: own.DeepIterationOption = False,
    skip_record_metadata: own.SkipRecordMetadataOption = False,
    max_bytes: own.MaxBytesOption = MAX_INT,
    output: own.OutputOption = Output.KAFKA,
    summary: own.SummaryOption = False,
    key_decoder_class: own.KeyDecoderClassOption = None,
    value_decoder_class: own.ValueDecoderClassOption = None,
    offsets_decoder: own.OffsetsDecoderOption = False,
    transaction_log_decoder: own.TransactionLogDecoderOption = False,
    cluster_metadata_decoder: own.ClusterMetadataDecoderOption = False,
    remote_log_metadata_decoder: own.RemoteLogMetadataDecoderOption = False,
    share_group_state_decoder: own.ShareGroupStateDecoderOption = False,
    from_offset: own.FromOffsetOption = None,
    to_offset: own.ToOffsetOption = None,
    from_time: own.FromTimeOption = None,
    to_time: own.ToTimeOption = None,
    partition_leader_epoch: own.PartitionLeaderEpochOption = None,
    producer_id: own.ProducerIdOption = None,
    key: own.KeyOption = None,
    header: own.HeaderOption = None,
    transactional: own.TransactionalOption = None,
    verify_index_only: own.VerifyIndexOnlyOption = False,
    index_sanity_check: own.IndexSanityCheckOption = False,
    max_message_size: own.MaxMessageSizeOption = MAX_MESSAGE_SIZE,
    resync: own.ResyncOption = False,
    engine: EngineOption = EngineName.LOCAL,
    master: MasterOption = None,
    conf: ConfOption = None,
    driver_memory: DriverMemoryOption = None,
) -> tuple[DumpOptions, EngineChoice]:
    """Show what is inside log segments, indexes and producer snapshots.

    Reads the files of a partition directory, from a stopped, crashed or running broker or from a copy, and never writes
    to them. Without flags it prints a line for each batch; --print-data-log shows the records.
    """
    decoder = _first(
        {
            MessageDecoder.OFFSETS: offsets_decoder,
            MessageDecoder.TRANSACTION_LOG: transaction_log_decoder,
            MessageDecoder.CLUSTER_METADATA: cluster_metadata_decoder,
            MessageDecoder.REMOTE_LOG_METADATA: remote_log_metadata_decoder,
            MessageDecoder.SHARE_GROUP_STATE: share_group_state_decoder,
        }
    )
    any_decoder = decoder is not None or key_decoder_class is not None or value_decoder_class is not None
    options = DumpOptions(
        files=_paths(files),
        print_data_log=print_data_log or any_decoder,
        deep_iteration=deep_iteration,
        verify_index_only=verify_index_only,
        index_sanity_check=index_sanity_check,
        max_message_size=_between("--max-message-size", max_message_size, 0, MAX_INT),
        max_bytes=_between("--max-bytes", max_bytes, 0, MAX_INT),
        key_decoder=_decoder_name("--key-decoder-class", key_decoder_class),
        value_decoder=_decoder_name("--value-decoder-class", value_decoder_class),
        decoder=decoder,
        skip_record_metadata=skip_record_metadata,
        output=output,
        view=shown_view(),
        filters=Filters(
            from_offset=_between("--from-offset", from_offset, 0, MAX_LONG),
            to_offset=_between("--to-offset", to_offset, 0, MAX_LONG),
            from_time=_time("--from-time", from_time),
            to_time=_time("--to-time", to_time),
            partition_leader_epoch=_between("--partition-leader-epoch", partition_leader_epoch, -1, MAX_INT),
            producer_id=_between("--producer-id", producer_id, -1, MAX_LONG),
            key=_regex("--key", key),
            headers=tuple(_header(text) for text in header or ()),
            transactional=transactional,
        ),
        resync=resync,
        summary=summary,
    )
    return options, EngineChoice(engine, master, conf, driver_memory)


def _check_paths(options: DumpOptions, engine: EngineChoice) -> None:
    """Refuse what executors would not find, and lines that would name other files than were given."""
    if engine.master is not None and not engine.master.startswith("local"):
        for path in options.files:
            if not path.startswith("/"):
                raise UsageError(f"--files {path}: give an absolute path, since executors run in other directories")


def _first(given: dict[MessageDecoder, bool]) -> MessageDecoder | None:
    """The decoder that wins: the first given one in the order of the enum, which is Kafka's precedence."""
    return next((decoder for decoder in MessageDecoder if given[decoder]), None)


def _paths(files: list[str]) -> tuple[str, ...]:
    paths = tuple(path for given in files for path in given.split(",") if path)
    if not paths:
        raise UsageError("--files names no file")
    return paths


def _decoder_name(option: str, given: str | None) -> str:
    """A decoder's name, checked now: a dump finds out only after it has begun to print."""
    if given is None:
        return DEFAULT_DECODER
    from kafkapy.scan.payload import payload_decoder

    try:
        payload_decoder(given)
    except UsageError as error:
        raise UsageError(f"{option}: {error}") from None
    return given


def _between(option: str, given: Number, low: int, high: int) -> Number:
    """A number that Kafka's field can hold."""
    if given is not None and not low <= given <= high:
        raise UsageError(f"{option}: {given} is not between {low} and {high}")
    return given


def _time(option: str, given: str | None) -> int | None:
    try:
        return None if given is None else parse_timestamp(given)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None


def _regex(option: str, given: str | None) -> str | None:
    """An expression, checked in the form in which keys are searched: bytes."""
    import re

    try:
        re.compile((given or "").encode())
    except (re.error, UnicodeEncodeError) as error:
        raise UsageError(f"{option}: {given} is not a regular expression: {error}") from None
    return given


def _header(given: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not equals:
        raise UsageError(f"--header: {given} is not of the form NAME=VALUE")
    return name, value
