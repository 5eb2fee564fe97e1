"""What can be wrong with the records of a batch: the numbers that both kernels use, and the words that people read."""

from __future__ import annotations

NONE = 0
NEED_MORE = 1  # damage only where the batch ends here
INVALID_RECORD = 2
REMAINING = 3

TEXTS = {
    NEED_MORE: "Incorrect declared batch size, premature EOF reached",
    INVALID_RECORD: "Found invalid record structure",
    REMAINING: "Incorrect declared batch size, records still remaining in file",
}
