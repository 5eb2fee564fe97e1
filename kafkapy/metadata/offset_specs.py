"""The names of ``get-offsets --time``; completions read them, so nothing is imported here."""

OFFSET_SPECS = {
    "latest": -1,
    "earliest": -2,
    "max-timestamp": -3,
    "earliest-local": -4,
    "latest-tiered": -5,
    "earliest-pending-upload": -6,
}
"""With their numbers in a ListOffsets request."""
