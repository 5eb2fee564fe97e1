"""The options of ``kafkapy dump-log``."""

from typing import Annotated

import typer

from kafkapy.output.output_format import Output
from kafkapy.scan.options import TransactionState

from .option_kinds import flag, value

CHECKS = "What to check"
DECODING = "How to read keys and values"
FILTERS = "Which records (not in Kafka's tool; all given conditions must hold)"
PRINTING = "What to print"

FilesOption = Annotated[
    list[str],
    value(
        "--files",
        "PATH[,PATH...]",
        "What to dump: segments (.log), indexes (.index, .timeindex, .txnindex), producer snapshots (.snapshot), "
        "metadata snapshots (.checkpoint), or a directory for all such files in it. May be repeated.",
        PRINTING,
    ),
]
PrintDataLogOption = Annotated[
    bool,
    flag(
        "--print-data-log", "Print each record with its key and value. Any decoder option switches this on.", PRINTING
    ),
]
DeepIterationOption = Annotated[
    bool,
    flag(
        "--deep-iteration",
        "Print a line for each record, not only for each batch. Looks into compressed batches.",
        PRINTING,
    ),
]
SkipRecordMetadataOption = Annotated[
    bool,
    flag(
        "--skip-record-metadata",
        "Omit offset, timestamp, sizes and headers from record lines. Control records become empty lines.",
        PRINTING,
    ),
]
MaxBytesOption = Annotated[
    int,
    value("--max-bytes", "BYTES", "Read only the whole batches within the first BYTES of a segment.", PRINTING),
]
OutputOption = Annotated[
    Output,
    typer.Option(
        help="How to print: kafka is the text of Kafka's tool, byte for byte; the others print one row per record, "
        "or per batch if records are not read.",
        rich_help_panel=PRINTING,
    ),
]
SummaryOption = Annotated[
    bool,
    flag(
        "--summary",
        "Print totals instead of rows: batches, records, bytes, offsets, time range and codecs of each file.",
        PRINTING,
    ),
]
KeyDecoderClassOption = Annotated[
    str | None,
    value(
        "--key-decoder-class",
        "[DECODER]",
        "How to print keys: string, hex, base64, int, long, json or utf-8-escaped, or a Kafka class such as "
        "org.apache.kafka.tools.api.LongDecoder. Without DECODER: string.",
        DECODING,
    ),
]
ValueDecoderClassOption = Annotated[
    str | None,
    value("--value-decoder-class", "[DECODER]", "The same for values.", DECODING),
]
OffsetsDecoderOption = Annotated[
    bool,
    flag(
        "--offsets-decoder",
        "Decode __consumer_offsets: committed offsets and group metadata. The first of these five flags wins.",
        DECODING,
    ),
]
TransactionLogDecoderOption = Annotated[
    bool,
    flag("--transaction-log-decoder", "Decode __transaction_state: transactional ids and their states.", DECODING),
]
ClusterMetadataDecoderOption = Annotated[
    bool,
    flag(
        "--cluster-metadata-decoder", "Decode __cluster_metadata: the KRaft metadata log and its snapshots.", DECODING
    ),
]
RemoteLogMetadataDecoderOption = Annotated[
    bool,
    flag(
        "--remote-log-metadata-decoder", "Decode __remote_log_metadata: which segments tiered storage holds.", DECODING
    ),
]
ShareGroupStateDecoderOption = Annotated[
    bool,
    flag("--share-group-state-decoder", "Decode __share_group_state: what share groups have delivered.", DECODING),
]
FromOffsetOption = Annotated[
    int | None,
    value("--from-offset", "OFFSET", "From this offset on.", FILTERS),
]
ToOffsetOption = Annotated[
    int | None,
    value("--to-offset", "OFFSET", "Up to and including this offset.", FILTERS),
]
FromTimeOption = Annotated[
    str | None,
    value(
        "--from-time",
        "TIME",
        "From this timestamp on: epoch milliseconds, or ISO 8601 such as 2026-01-31T09:30:00+01:00 (UTC if no zone "
        "is given).",
        FILTERS,
    ),
]
ToTimeOption = Annotated[
    str | None,
    value("--to-time", "TIME", "Up to and including this timestamp.", FILTERS),
]
PartitionLeaderEpochOption = Annotated[
    int | None,
    value("--partition-leader-epoch", "EPOCH", "Only what was written in this leader epoch.", FILTERS),
]
ProducerIdOption = Annotated[
    int | None,
    value(
        "--producer-id",
        "PRODUCER-ID",
        "Only records of this producer; -1 is a producer that is neither idempotent nor transactional.",
        FILTERS,
    ),
]
KeyOption = Annotated[
    str | None,
    value("--key", "REGEX", "Only records whose key matches this expression anywhere.", FILTERS),
]
HeaderOption = Annotated[
    list[str] | None,
    value("--header", "NAME=VALUE", "Only records with a header of this name and value. May be repeated.", FILTERS),
]
TransactionalOption = Annotated[
    TransactionState | None,
    typer.Option(
        help="Only records of transactions that ended in this way, or have not ended (open).", rich_help_panel=FILTERS
    ),
]
VerifyIndexOnlyOption = Annotated[
    bool,
    flag("--verify-index-only", "Compare each index with its segment and print mismatches, not entries.", CHECKS),
]
IndexSanityCheckOption = Annotated[
    bool,
    flag(
        "--index-sanity-check",
        "Check indexes as a broker does when it starts, and print no entries.",
        CHECKS,
    ),
]
MaxMessageSizeOption = Annotated[
    int,
    value(
        "--max-message-size", "BYTES", "How much of a segment to read for each index entry that is compared.", CHECKS
    ),
]
ResyncOption = Annotated[
    bool,
    flag(
        "--resync",
        "After damage, look for the next batch with a correct checksum and continue there (not in Kafka's tool).",
        CHECKS,
    ),
]
