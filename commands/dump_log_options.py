"""The options of ``kafkapy dump-log``."""

from typing import Annotated

import typer

from kafkapy.output.output_format import Output
from kafkapy.scan.options import TransactionState

CHECKS = "What to check"
DECODING = "How to read keys and values"
FILTERS = "Which records (beyond Kafka's tool; all that are given must hold)"
PRINTING = "What to print"

FilesOption = Annotated[
    list[str],
    typer.Option(
        metavar="PATH[,PATH...]",
        help="What to dump: segments (.log), indexes (.index, .timeindex, .txnindex), producer snapshots "
        "(.snapshot), metadata snapshots (.checkpoint), or a directory for all of these in it. May be repeated.",
        rich_help_panel=PRINTING,
    ),
]
PrintDataLogOption = Annotated[
    bool,
    typer.Option(
        "--print-data-log",
        help="Print each record with its key and value. Any decoder option switches this on.",
        rich_help_panel=PRINTING,
    ),
]
DeepIterationOption = Annotated[
    bool,
    typer.Option(
        "--deep-iteration",
        help="Print a line for each record, not only for each batch. Looks into compressed batches.",
        rich_help_panel=PRINTING,
    ),
]
SkipRecordMetadataOption = Annotated[
    bool,
    typer.Option(
        "--skip-record-metadata",
        help="Leave offset, timestamp, sizes and headers out of record lines. Control records become empty lines.",
        rich_help_panel=PRINTING,
    ),
]
MaxBytesOption = Annotated[
    int,
    typer.Option(
        metavar="BYTES",
        help="Read only the whole batches within the first BYTES of a segment.",
        rich_help_panel=PRINTING,
    ),
]
OutputOption = Annotated[
    Output,
    typer.Option(
        help="How to print: kafka is the text of Kafka's tool, byte for byte; the others print one row a record, "
        "or a batch where records are not read.",
        rich_help_panel=PRINTING,
    ),
]
SummaryOption = Annotated[
    bool,
    typer.Option(
        "--summary",
        help="Print totals instead of rows: batches, records, bytes, offsets, time range and codecs of each file.",
        rich_help_panel=PRINTING,
    ),
]
KeyDecoderClassOption = Annotated[
    str | None,
    typer.Option(
        metavar="[DECODER]",
        help="How to print keys: string, hex, base64, int, long, json or utf-8-escaped, or a class of "
        "Kafka's such as org.apache.kafka.tools.api.LongDecoder. Without DECODER: string.",
        rich_help_panel=DECODING,
    ),
]
ValueDecoderClassOption = Annotated[
    str | None,
    typer.Option(metavar="[DECODER]", help="The same for values.", rich_help_panel=DECODING),
]
OffsetsDecoderOption = Annotated[
    bool,
    typer.Option(
        "--offsets-decoder",
        help="Decode __consumer_offsets: committed offsets and group metadata. The first of these five flags wins.",
        rich_help_panel=DECODING,
    ),
]
TransactionLogDecoderOption = Annotated[
    bool,
    typer.Option(
        "--transaction-log-decoder",
        help="Decode __transaction_state: transactional ids and their states.",
        rich_help_panel=DECODING,
    ),
]
ClusterMetadataDecoderOption = Annotated[
    bool,
    typer.Option(
        "--cluster-metadata-decoder",
        help="Decode __cluster_metadata: the KRaft metadata log and its snapshots.",
        rich_help_panel=DECODING,
    ),
]
RemoteLogMetadataDecoderOption = Annotated[
    bool,
    typer.Option(
        "--remote-log-metadata-decoder",
        help="Decode __remote_log_metadata: which segments tiered storage holds.",
        rich_help_panel=DECODING,
    ),
]
ShareGroupStateDecoderOption = Annotated[
    bool,
    typer.Option(
        "--share-group-state-decoder",
        help="Decode __share_group_state: what share groups have delivered.",
        rich_help_panel=DECODING,
    ),
]
FromOffsetOption = Annotated[
    int | None,
    typer.Option(metavar="OFFSET", help="From this offset on.", rich_help_panel=FILTERS),
]
ToOffsetOption = Annotated[
    int | None,
    typer.Option(metavar="OFFSET", help="Up to this offset, itself included.", rich_help_panel=FILTERS),
]
FromTimeOption = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="From this timestamp on: epoch milliseconds, or ISO 8601 such as 2026-01-31T09:30:00+01:00 (UTC where "
        "no zone is given).",
        rich_help_panel=FILTERS,
    ),
]
ToTimeOption = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Up to this timestamp, itself included.", rich_help_panel=FILTERS),
]
PartitionLeaderEpochOption = Annotated[
    int | None,
    typer.Option(metavar="EPOCH", help="Written under this leader epoch.", rich_help_panel=FILTERS),
]
ProducerIdOption = Annotated[
    int | None,
    typer.Option(
        metavar="PRODUCER-ID",
        help="Written by this producer; -1 is a producer that is neither idempotent nor transactional.",
        rich_help_panel=FILTERS,
    ),
]
KeyOption = Annotated[
    str | None,
    typer.Option(
        metavar="REGEX", help="The key has a match of this expression, at any place in it.", rich_help_panel=FILTERS
    ),
]
HeaderOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="Carries a header of this name and value. May be repeated.",
        rich_help_panel=FILTERS,
    ),
]
TransactionalOption = Annotated[
    TransactionState | None,
    typer.Option(help="Part of a transaction that ended so, or has not ended (open).", rich_help_panel=FILTERS),
]
VerifyIndexOnlyOption = Annotated[
    bool,
    typer.Option(
        "--verify-index-only",
        help="Compare each index with its segment and print mismatches, not entries.",
        rich_help_panel=CHECKS,
    ),
]
IndexSanityCheckOption = Annotated[
    bool,
    typer.Option(
        "--index-sanity-check",
        help="Make the check of an index that a broker makes when it starts, and print no entries.",
        rich_help_panel=CHECKS,
    ),
]
MaxMessageSizeOption = Annotated[
    int,
    typer.Option(
        metavar="BYTES",
        help="How much of a segment to read at each index entry that is compared.",
        rich_help_panel=CHECKS,
    ),
]
ResyncOption = Annotated[
    bool,
    typer.Option(
        "--resync",
        help="After damage, look for the next batch with a right checksum and go on there (beyond Kafka's tool).",
        rich_help_panel=CHECKS,
    ),
]
