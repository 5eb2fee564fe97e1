"""Where a broker listens."""

from __future__ import annotations

from kafkapy.metadata.image import MetadataImage


def broker_address(image: MetadataImage, broker: int) -> str | None:
    """``HOST:PORT`` of a broker's first listener; None for a broker that is not registered."""
    registration = image.brokers.get(broker)
    if registration is None or not registration.listeners:
        return None
    return f"{registration.listeners[0].host}:{registration.listeners[0].port}"
