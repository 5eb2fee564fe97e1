"""Typed rows to Kafka's lines, tables, JSON, CSV and YAML; the only place that knows rich."""
