"""The metadata hash: what a group's coordinator remembers of the topics that the group reads.

    topic   XXH3 of a magic byte, the topic's id, its name, the number of its partitions and, of each partition, its
            number and the sorted racks of its replicas, every rack behind its length
    group   XXH3 of the hashes of its topics, sorted by name; 0 for no topic

Integers are little-endian. A string is its UTF-16 code units, also little-endian, and then how many those are, which
for a rack tells its length a second time. A topic that does not exist is not part of a group's hash.

When the hash of a group is no longer the one in its record, its topics changed: the group's epoch rises and the
partitions are divided anew. A hash that was computed otherwise would cost every group one rebalance as soon as a real
coordinator loads it.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import pack

from kafkapy.formats.uuid import uuid_bytes
from kafkapy.formats.xxh3 import xxh3_64
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.topics_image import TopicImage

MAGIC = b"\x00"


class TopicHashes:
    """The hashes of topics, each computed again only when its topic changed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[TopicImage, int]] = {}

    def group_hash(self, image: MetadataImage, topics: Iterable[str]) -> int:
        """The metadata hash of a group that reads ``topics``."""
        hashes = [self._topic_hash(image, name) for name in sorted(set(topics)) if name in image.topics]
        return xxh3_64(pack(f"<{len(hashes)}q", *hashes)) if hashes else 0

    def _topic_hash(self, image: MetadataImage, name: str) -> int:
        topic = image.topics[name]
        known = self._known.get(name)
        if known is None or known[0] is not topic:
            known = self._known[name] = topic, topic_hash(image, topic)
        return known[1]


def topic_hash(image: MetadataImage, topic: TopicImage) -> int:
    """The hash of one topic."""
    id_bytes = uuid_bytes(topic.id)
    out = bytearray(MAGIC)
    out += id_bytes[7::-1] + id_bytes[:7:-1]  # two numbers of 64 bits
    out += _string(topic.name) + pack("<i", len(topic.partitions))
    for partition in range(len(topic.partitions)):
        out += pack("<i", partition)
        for rack in _racks(image, topic, partition):
            out += pack("<i", len(rack) // 2) + _counted(rack)
    return xxh3_64(bytes(out))


def _racks(image: MetadataImage, topic: TopicImage, partition: int) -> list[bytes]:
    """The racks of a partition's replicas as code units, in Java's order of strings."""
    registration = topic.partitions.get(partition)
    replicas = () if registration is None else registration.replicas
    brokers = [image.brokers[replica] for replica in replicas if replica in image.brokers]
    units = sorted(broker.rack.encode("utf-16-be", "surrogatepass") for broker in brokers if broker.rack is not None)
    return [rack.decode("utf-16-be", "surrogatepass").encode("utf-16-le", "surrogatepass") for rack in units]


def _string(text: str) -> bytes:
    return _counted(text.encode("utf-16-le", "surrogatepass"))


def _counted(units: bytes) -> bytes:
    return units + pack("<i", len(units) // 2)
