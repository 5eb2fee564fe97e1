"""The buffers that ``RecordBuffers`` fills, in their order, and the bits of the columns that have to be asked for."""

from __future__ import annotations

KEY, VALUE, HEADERS = 1, 2, 4

BUFFERS = (
    "offsets", "times", "time_bits", "sequences", "key_bits", "key_ends", "key_data", "value_bits", "value_ends",
    "value_data", "header_ends", "header_key_ends", "header_key_data", "header_value_bits", "header_value_ends",
    "header_value_data", "run_ends", "run_attributes", "run_producer_ids", "run_producer_epochs", "run_leader_epochs",
    "run_positions",
)  # fmt: skip
