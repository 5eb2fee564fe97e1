"""The topic configs that a log obeys, typed, with Kafka's defaults.

A field is the config's name with ``_`` for ``.``. Values are taken as they stand: whether one is allowed was checked
before it was stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kafkapy.formats.compression import Codec

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_LONG = 2**63 - 1
DAY_MS = 24 * 60 * 60 * 1000
COMPACT = "compact"
DELETE = "delete"
LOG_APPEND_TIME = "LogAppendTime"
PRODUCER_COMPRESSION = "producer"
UNCOMPRESSED = "uncompressed"
INTERNAL_SEGMENT_BYTES = "internal.segment.bytes"


class LogConfig(NamedTuple):
    """``producer_id_expiration_ms`` is a broker's config; the others are a topic's."""

    cleanup_policy: tuple[str, ...] = (DELETE,)
    compression_type: str = PRODUCER_COMPRESSION
    compression_gzip_level: int = -1
    compression_lz4_level: int = 9
    compression_zstd_level: int = 3
    delete_retention_ms: int = DAY_MS
    file_delete_delay_ms: int = 60000
    index_interval_bytes: int = 4096
    max_compaction_lag_ms: int = MAX_LONG
    max_message_bytes: int = 1048588
    message_timestamp_after_max_ms: int = 3600000
    message_timestamp_before_max_ms: int = MAX_LONG
    message_timestamp_type: str = "CreateTime"
    min_cleanable_dirty_ratio: float = 0.5
    min_compaction_lag_ms: int = 0
    producer_id_expiration_ms: int = DAY_MS
    retention_bytes: int = -1
    retention_ms: int = 7 * DAY_MS
    segment_bytes: int = 1 << 30
    segment_index_bytes: int = 10485760
    segment_jitter_ms: int = 0
    segment_ms: int = 7 * DAY_MS

    @classmethod
    def of(cls, configs: Mapping[str, str]) -> LogConfig:
        """The defaults with ``configs`` over them; names that a log does not obey are ignored."""
        values: dict[str, object] = {}
        for field, default in cls._field_defaults.items():
            text = configs.get(field.replace("_", "."))
            if text is not None:
                values[field] = _words(text) if isinstance(default, tuple) else type(default)(text)
        if INTERNAL_SEGMENT_BYTES in configs:
            values["segment_bytes"] = int(configs[INTERNAL_SEGMENT_BYTES])
        return cls(**values)  # type: ignore[arg-type]

    @property
    def compact(self) -> bool:
        """Whether only the newest record of a key is kept."""
        return COMPACT in self.cleanup_policy

    @property
    def delete(self) -> bool:
        """Whether old segments go."""
        return DELETE in self.cleanup_policy

    @property
    def is_log_append_time(self) -> bool:
        """Whether the time of the append, not the producer, dates a record."""
        return self.message_timestamp_type == LOG_APPEND_TIME

    @property
    def max_segment_ms(self) -> int:
        """A compacted segment is rolled early enough for max.compaction.lag.ms."""
        if self.compact and self.max_compaction_lag_ms > 0:
            return min(self.max_compaction_lag_ms, self.segment_ms)
        return self.segment_ms

    def target_codec(self, source: Codec) -> Codec:
        """How a batch that came with ``source`` is stored."""
        if self.compression_type == PRODUCER_COMPRESSION:
            return source
        if self.compression_type == UNCOMPRESSED:
            return Codec.NONE
        return Codec[self.compression_type.upper()]

    def compression_level(self, codec: Codec) -> int | None:
        """The level to compress with, None for the codec's own."""
        if self.compression_type == PRODUCER_COMPRESSION:
            return None
        levels = {
            Codec.GZIP: self.compression_gzip_level,
            Codec.LZ4: self.compression_lz4_level,
            Codec.ZSTD: self.compression_zstd_level,
        }
        return levels.get(codec)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip().lower() for word in text.split(",") if word.strip())
