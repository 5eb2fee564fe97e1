"""The mark of a clean stop in a log dir: ``.kafka_cleanshutdown``.

Format: ``{"version":0,"brokerEpoch":17}``, no newline.

Invariant: a broker writes it as its last act and deletes it when it starts, so only its **existence** says that the
logs need no recovery. After a crash there is none. The broker epoch in it goes into the next registration; a file of
no bytes, as brokers before 3.7 wrote it, or one that does not parse has no epoch and is as good a mark.
"""

from __future__ import annotations

FILE_NAME = ".kafka_cleanshutdown"

_LONG_LIMIT = 1 << 63


def decode(data: bytes) -> int | None:
    """The broker epoch, None when the file does not tell."""
    import json

    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return None
    epoch = content.get("brokerEpoch") if isinstance(content, dict) else None
    if not isinstance(epoch, int) or isinstance(epoch, bool) or not -_LONG_LIMIT <= epoch < _LONG_LIMIT:
        return None
    return epoch


def encode(broker_epoch: int) -> bytes:
    return b'{"version":0,"brokerEpoch":%d}' % broker_epoch
