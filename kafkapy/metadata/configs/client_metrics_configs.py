"""The configs of a client metrics subscription: ``ClientMetricsConfigs.validate``.

``metrics`` is a list of prefixes of metric names, ``match`` one of ``selector=pattern``. A pattern is a Java regular
expression; it is tried with Python's, which disagrees only about what no client id has.
"""

from __future__ import annotations

from collections.abc import Mapping

from kafkapy.errors import KafkaError
from kafkapy.metadata.configs.config_def import definition, parse
from kafkapy.metadata.configs.config_types import check_value_sizes, invalid_config, trim

_SELECTORS = (
    "client_instance_id",
    "client_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
)


def check_client_metrics_configs(name: str, configs: Mapping[str, str]) -> None:
    """Raises a KafkaError if these cannot be all the configs of the subscription of that name."""
    check_value_sizes(configs)
    if not name:
        raise KafkaError("InvalidRequestException", "Subscription name can't be empty")
    keys = definition("client_metrics")
    for config in configs:
        if config not in keys:
            raise KafkaError("InvalidRequestException", f"Unknown client metrics configuration: {config}")
    values = parse(keys, configs)
    interval, match = values["interval.ms"], values["match"]
    assert isinstance(interval, int)
    assert isinstance(match, list)
    if not 100 <= interval <= 3600000:
        raise KafkaError(
            "InvalidRequestException",
            f"Invalid value {interval} for interval.ms, interval must be between 100 and 3600000 (1 hour)",
        )
    for pattern in match:
        _check_pattern(pattern)


def _check_pattern(pattern: str) -> None:
    import re

    # As ``String.split`` does it, what is empty at the end does not count.
    selector, *expressions = pattern.rstrip("=").split("=")
    try:
        if len(expressions) == 1 and trim(selector) in _SELECTORS:
            re.compile(trim(expressions[0]))
            return
    except re.error:
        pass
    raise invalid_config(f"Illegal client matching pattern: {pattern}")
