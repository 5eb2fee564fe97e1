"""Partitions that another replica leads than the preferred one, though that could: after a crash of several brokers the
first that is back leads nearly everything.

Brokers that run give leaders back by themselves, after leader.imbalance.check.interval.seconds; those of a cluster
directory do so only when they are told. So it is only there that anything is told, as something worth knowing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from kafkapy.doctor.finding import Finding, info
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.topics_image import NO_LEADER, PartitionRegistration
from kafkapy.output.counted import counted


def check_preferred_leaders(image: MetadataImage, alive: Collection[int], where: str) -> Iterator[Finding]:
    """One finding for all such partitions; ``alive`` are the brokers that can lead."""
    partitions = [each for topic in image.topics.values() for each in topic.partitions.values()]
    others = [each for each in partitions if _could_be_preferred(each, alive)]
    if not others:
        return
    ((broker, led),) = Counter(each.leader for each in partitions if each.leader != NO_LEADER).most_common(1)
    text = f"the preferred replica of {counted(len(others), 'partition')} is in sync and does not lead"
    remedy = f"kafkapy leader-election --election-type preferred --all-topic-partitions {where}"
    yield info("leaders", f"{text}; broker {broker} leads {led} of {len(partitions)}", remedy)


def _could_be_preferred(registration: PartitionRegistration, alive: Collection[int]) -> bool:
    preferred = registration.preferred_replica
    is_led_otherwise = registration.leader not in (NO_LEADER, preferred)
    return is_led_otherwise and preferred in registration.isr and preferred in alive
