"""What a dump is asked to do: the command line of ``kafkapy dump-log`` as values.

The names follow DumpLogSegments' flags; what goes beyond Kafka's tool stands under its own heading. An
option left at its default changes nothing about the bytes that Kafka's tool would print.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from kafkapy.output.output_format import Output
from kafkapy.output.row_view import ALL, RowView

DEFAULT_DECODER = "string"
MAX_INT = 2**31 - 1
MAX_MESSAGE_SIZE = 5 * 1024 * 1024


class MessageDecoder(StrEnum):
    """Which internal topic's records a dump decodes; the order is Kafka's precedence."""

    OFFSETS = "offsets"
    TRANSACTION_LOG = "transaction-log"
    CLUSTER_METADATA = "cluster-metadata"
    REMOTE_LOG_METADATA = "remote-log-metadata"
    SHARE_GROUP_STATE = "share-group-state"


class TransactionState(StrEnum):
    """How the transaction that a batch belongs to ended."""

    OPEN = "open"
    COMMITTED = "committed"
    ABORTED = "aborted"


class Filters(NamedTuple):
    """Which records to keep. Every one given must hold."""

    from_offset: int | None = None
    to_offset: int | None = None
    from_time: int | None = None
    to_time: int | None = None
    partition_leader_epoch: int | None = None
    producer_id: int | None = None
    key: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    transactional: TransactionState | None = None

    @property
    def any(self) -> bool:
        """Whether any filter was given."""
        return self != Filters()

    @property
    def by_record(self) -> bool:
        """Whether a filter looks at single records, so that batch headers alone cannot decide."""
        return self.key is not None or bool(self.headers)


class DumpOptions(NamedTuple):
    """The whole command line of a dump."""

    files: tuple[str, ...]
    print_data_log: bool = False
    deep_iteration: bool = False
    verify_index_only: bool = False
    index_sanity_check: bool = False
    max_message_size: int = MAX_MESSAGE_SIZE
    max_bytes: int = MAX_INT
    key_decoder: str = DEFAULT_DECODER
    value_decoder: str = DEFAULT_DECODER
    decoder: MessageDecoder | None = None
    skip_record_metadata: bool = False
    # beyond Kafka's
    output: Output = Output.KAFKA
    view: RowView = ALL
    filters: Filters = Filters()
    resync: bool = False
    tells_gaps: bool = True
    """Whether offsets that do not follow one another are told, as Kafka does of every segment but a log's first."""
    summary: bool = False

    @property
    def deep(self) -> bool:
        """Whether records are read, not only batch headers."""
        return self.deep_iteration or self.print_data_log or self.filters.by_record
