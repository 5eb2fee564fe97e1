"""Bytes to values and back: Kafka's on-disk formats. No files, no clock."""
