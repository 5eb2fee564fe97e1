"""A member of a classic group as its leader sees it: its subscription, and who it is if it is static."""

from __future__ import annotations

from typing import NamedTuple

from kafkapy.coordinator.consumer_protocol import Subscription


class MemberSubscription(NamedTuple):
    """``group_instance_id`` comes from the JoinGroup response, not from the subscription's bytes."""

    subscription: Subscription
    group_instance_id: str | None = None
