"""Whether a resource may have these configs: the check that a controller makes before it writes any."""

from __future__ import annotations

from collections.abc import Mapping

from kafkapy.metadata.config_control import CheckConfig
from kafkapy.metadata.configs.broker_configs import check_broker_configs, merged
from kafkapy.metadata.configs.client_metrics_configs import check_client_metrics_configs
from kafkapy.metadata.configs.effective import BrokerLayers, topic_defaults
from kafkapy.metadata.configs.group_configs import check_group_configs
from kafkapy.metadata.configs.topic_configs import check_topic_configs
from kafkapy.metadata.image import BROKER, CLIENT_METRICS, GROUP, TOPIC, MetadataImage


def checker(image: MetadataImage) -> CheckConfig:
    """The check for resources of a cluster; its brokers have no properties file here."""
    cluster = image.config(BROKER, "")

    def check(resource_type: int, name: str, configs: Mapping[str, str]) -> None:
        if resource_type == TOPIC:
            existing = image.config(TOPIC, name)
            check_topic_configs(configs, existing=existing, defaults=topic_defaults(BrokerLayers(cluster=cluster)))
        elif resource_type == BROKER:
            check_broker_configs(configs, per_broker=bool(name), below=merged({}, cluster) if name else {})
        elif resource_type == GROUP:
            check_group_configs(configs, broker=cluster)
        elif resource_type == CLIENT_METRICS:
            check_client_metrics_configs(name, configs)

    return check
