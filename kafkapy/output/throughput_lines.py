"""What came in, and when it will go, as lines for people: the largest first, bytes as numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafkapy.formats.time_text import duration_text, utc_text
from kafkapy.lag.batch_flow import Flow
from kafkapy.lag.retention_forecast import Forecast
from kafkapy.output.fitted import fitted
from kafkapy.output.lag_lines import rate_text

_TITLES = (
    "BYTES", "RECORDS", "BATCHES", "BYTES/S", "RECORDS/S", "BYTES/BATCH", "RECORDS/BATCH", "CODECS", "RATIO", "SPAN",
)  # fmt: skip
_SPARE = ("RECORDS/BATCH", "BYTES/BATCH", "RATIO", "BATCHES", "SPAN", "CODECS", "RECORDS", "RECORDS/S")
_FORECAST_SPARE = ("OLDEST-SEGMENT", "BYTES/S", "SEGMENTS", "GOES-AT", "BYTES-THEN")
NO_PRODUCER = "(no id)"


def flow_lines(flows: Sequence[Flow]) -> Iterator[str]:
    """A line for each topic, partition or producer, and stretch of time."""
    if not flows:
        return
    first = flows[0]
    names = ["TIME"] * (first.start is not None) + ["TOPIC"]
    names += ["PARTITION"] * (first.partition is not None) + ["PRODUCER-ID"] * (first.producer_id is not None)
    yield from fitted([[(*names, *_TITLES), *map(_cells, flows)]], _SPARE)


def _cells(flow: Flow) -> list[str]:
    names = [] if flow.start is None else [utc_text(flow.start)]
    names.append(str(flow.topic))
    if flow.partition is not None:
        names.append(str(flow.partition))
    if flow.producer_id is not None:
        names.append(NO_PRODUCER if flow.producer_id < 0 else str(flow.producer_id))
    ratio = flow.compression_ratio
    return [
        *names,
        str(flow.bytes),
        str(flow.records),
        str(flow.batches),
        rate_text(flow.rate(flow.bytes)),
        rate_text(flow.rate(flow.records)),
        f"{flow.bytes / flow.batches:.0f}",
        f"{flow.records / flow.batches:.1f}",
        ",".join(name for name, _ in flow.codecs),
        "-" if ratio is None else f"{ratio:.2f}",
        "-" if flow.seconds is None else duration_text(round(flow.seconds * 1000)),
    ]


def forecast_lines(forecasts: Sequence[Forecast], now: int) -> Iterator[str]:
    """A line for each partition."""
    titles = (
        "TOPIC", "PARTITION", "SEGMENTS", "BYTES", "BYTES/S", "OLDEST-SEGMENT", "GOES-IN", "GOES-AT", "BYTES-THEN",
        "WHY",
    )  # fmt: skip
    if forecasts:
        yield from fitted([[titles, *(_forecast_cells(each, now) for each in forecasts)]], _FORECAST_SPARE)


def _forecast_cells(forecast: Forecast, now: int) -> list[str]:
    at = forecast.goes_at
    return [
        forecast.partition.topic,
        str(forecast.partition.partition),
        str(forecast.segments),
        str(forecast.size),
        rate_text(forecast.bytes_per_second),
        "-" if forecast.oldest is None else str(forecast.oldest.base_offset),
        "never" if at is None else "now" if at <= now else duration_text(at - now),
        "-" if at is None else utc_text(at),
        "-" if forecast.size_then is None else str(forecast.size_then),
        forecast.reason,
    ]
