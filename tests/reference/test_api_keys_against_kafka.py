"""Our table of apis against the one inside Kafka's jars."""

from __future__ import annotations

import subprocess

from kafkapy.formats.api_keys import api_keys
from tests.kafka_java import kafka_java


def test_the_table_is_kafkas() -> None:
    command = [*kafka_java("ListApis")]
    lines = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout.splitlines()
    ours = ["\t".join((str(api.key), api.name, str(api.min_version), str(api.max_version),
                       "client" if api.is_of_clients else "other"))
            for api in api_keys().values()]  # fmt: skip
    assert ours == lines
