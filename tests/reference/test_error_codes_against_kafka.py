"""Our table of error codes against the one inside Kafka's jars."""

from __future__ import annotations

import subprocess

from kafkapy.formats.error_codes import error_codes
from tests.kafka_java import kafka_java


def test_the_table_is_kafkas() -> None:
    command = [*kafka_java("ListErrors")]
    lines = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout.splitlines()
    ours = ["\t".join((str(e.code), e.name, e.exception, "retriable" if e.retriable else "-", e.message))
            for e in error_codes().values()]  # fmt: skip
    assert sorted(ours) == sorted(lines)
