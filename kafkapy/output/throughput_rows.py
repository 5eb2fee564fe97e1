"""What came in, and when it will go, as rows with typed fields; null is what is not known or not there."""

from __future__ import annotations

from typing import Any

from kafkapy.lag.batch_flow import Flow
from kafkapy.lag.retention_forecast import Forecast

Row = dict[str, Any]


def flow_row(flow: Flow) -> Row:
    """What came in of a topic, partition or producer; -1 is who has no producer id. Rates are a second."""
    return {
        "type": "throughput",
        "start_timestamp": flow.start,
        "end_timestamp": flow.end,
        "topic": flow.topic,
        "partition": flow.partition,
        "producer_id": flow.producer_id,
        "bytes": flow.bytes,
        "records": flow.records,
        "batches": flow.batches,
        "byte_rate": _rounded(flow.rate(flow.bytes)),
        "record_rate": _rounded(flow.rate(flow.records)),
        "records_per_batch": _rounded(flow.records / flow.batches if flow.batches else None),
        "bytes_per_batch": _rounded(flow.bytes / flow.batches if flow.batches else None),
        "largest_batch": flow.largest_batch,
        "codecs": dict(flow.codecs),
        "compression_ratio": _rounded(flow.compression_ratio),
        "first_timestamp": flow.first_timestamp,
        "last_timestamp": flow.last_timestamp,
    }


def forecast_row(forecast: Forecast) -> Row:
    """When the oldest segment of a partition goes."""
    oldest = forecast.oldest
    return {
        "type": "retention_forecast",
        "topic": forecast.partition.topic,
        "partition": forecast.partition.partition,
        "segments": forecast.segments,
        "bytes": forecast.size,
        "byte_rate": _rounded(forecast.bytes_per_second),
        "oldest_segment": None if oldest is None else oldest.base_offset,
        "oldest_segment_bytes": None if oldest is None else oldest.size,
        "oldest_segment_timestamp": None if oldest is None else oldest.largest_timestamp,
        "goes_timestamp": forecast.goes_at,
        "reason": forecast.reason,
        "bytes_then": forecast.size_then,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
