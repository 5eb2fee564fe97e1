"""Times on the command line: epoch milliseconds, or ISO 8601 in UTC unless it names a zone."""

from __future__ import annotations

MAX_LONG = 2**63 - 1


def parse_timestamp(text: str) -> int:
    """Milliseconds since the epoch; ValueError says what was expected.

    A word of digits alone is always milliseconds, also where ISO 8601 would read a date (``20260102``).
    """
    if text.isascii() and text.isdigit():
        if len(text) > len(str(MAX_LONG)) or int(text) > MAX_LONG:
            raise ValueError(f"{text} is past the last timestamp, {MAX_LONG}")
        return int(text)
    from datetime import UTC, datetime, timedelta

    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is neither epoch milliseconds nor a time like 2026-01-31T09:30:00Z") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - datetime.fromtimestamp(0, UTC)) // timedelta(milliseconds=1)
