"""The flags of ``kafkapy dump-log`` as values."""

import pytest

from kafkapy.commands.dump_log import DumpLog, EngineChoice, app, dump_options
from kafkapy.errors import UsageError
from kafkapy.output.output_format import Output
from kafkapy.scan.options import MAX_INT, DumpOptions, Filters, MessageDecoder, TransactionState


def parse(*args: str) -> DumpOptions:
    """What a command line means, without dumping anything."""
    import typer

    command = typer.main.get_command(app)
    assert isinstance(command, DumpLog)
    options, _ = super(DumpLog, command).invoke(command.make_context("dump-log", list(args)))
    assert isinstance(options, DumpOptions)
    return options


def test_files_alone_leave_every_default() -> None:
    assert parse("--files", "a.log") == DumpOptions(files=("a.log",))


def test_files_are_a_list_and_may_be_repeated() -> None:
    assert parse("--files", "a,b", "-files=c,").files == ("a", "b", "c")


def test_every_flag_of_kafkas() -> None:
    flags = "--print-data-log --deep-iteration --verify-index-only --index-sanity-check --skip-record-metadata"
    assert parse("--files", "a", *flags.split(), "--max-bytes", "7", "--max-message-size=8") == DumpOptions(
        files=("a",),
        print_data_log=True,
        deep_iteration=True,
        verify_index_only=True,
        index_sanity_check=True,
        skip_record_metadata=True,
        max_bytes=7,
        max_message_size=8,
    )


def test_every_flag_beyond_kafkas() -> None:
    flags = (
        "--output jsonl --from-offset 1 --to-offset 2 --from-time 3 --to-time 1970-01-01T00:00:00.004Z "
        "--partition-leader-epoch 5 --producer-id -1 --key ^k --header a=b=c --header d= --transactional aborted "
        "--resync --summary"
    )
    assert parse("--files", "a", *flags.split()) == DumpOptions(
        files=("a",),
        output=Output.JSONL,
        filters=Filters(1, 2, 3, 4, 5, -1, "^k", (("a", "b=c"), ("d", "")), TransactionState.ABORTED),
        resync=True,
        summary=True,
    )


@pytest.mark.parametrize("decoder", list(MessageDecoder))
def test_a_decoder_flag_implies_printing(decoder: MessageDecoder) -> None:
    options = parse("--files", "a", f"--{decoder.value}-decoder")
    assert (options.decoder, options.print_data_log) == (decoder, True)


def test_the_first_decoder_in_kafkas_order_wins() -> None:
    flags = [f"--{decoder.value}-decoder" for decoder in MessageDecoder]
    for index, decoder in enumerate(MessageDecoder):
        assert parse("--files", "a", *reversed(flags[index:])).decoder is decoder


@pytest.mark.parametrize(
    ("args", "name"),
    [
        (["--key-decoder-class"], "string"),
        (["-key-decoder-class"], "string"),
        (["--key-decoder-class", "long"], "long"),
        (["--key-decoder-class=org.apache.kafka.tools.api.LongDecoder"], "org.apache.kafka.tools.api.LongDecoder"),
    ],
)
def test_a_decoder_class_implies_printing(args: list[str], name: str) -> None:
    options = parse(*args, "--files", "a")
    assert (options.key_decoder, options.value_decoder, options.print_data_log) == (name, "string", True)
    as_value = parse(*(arg.replace("key", "value") for arg in args), "--files", "a")
    assert (as_value.key_decoder, as_value.value_decoder, as_value.print_data_log) == ("string", name, True)


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (["--max-bytes", "-1"], f"--max-bytes: -1 is not between 0 and {MAX_INT}"),
        (["--max-message-size", "2147483648"], f"--max-message-size: 2147483648 is not between 0 and {MAX_INT}"),
        (["--from-offset", "-1"], f"--from-offset: -1 is not between 0 and {2**63 - 1}"),
        (["--producer-id", "-2"], f"--producer-id: -2 is not between -1 and {2**63 - 1}"),
        (["--key", "("], "--key: ( is not a regular expression: missing ), unterminated subpattern at position 0"),
        (["--header", "a"], "--header: a is not of the form NAME=VALUE"),
        (["--to-time", "noon"], "--to-time: 'noon' is neither epoch milliseconds nor a time like 2026-01-31T09:30:00Z"),
    ],
)
def test_what_cannot_be_meant_is_refused(args: list[str], error: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse("--files", "a", *args)
    assert str(refused.value) == error


@pytest.mark.parametrize("option", ["--key-decoder-class", "--value-decoder-class"])
def test_an_unknown_decoder_is_refused_before_anything_is_printed(option: str) -> None:
    with pytest.raises(UsageError, match=rf"^{option}: no decoder 'com\.example\.MyDecoder'"):
        parse("--files", "a", option, "com.example.MyDecoder")


def test_the_python_call_has_the_same_defaults_as_the_command_line() -> None:
    options, engine = dump_options(["a"])
    assert options == parse("--files", "a")
    assert engine == EngineChoice()
