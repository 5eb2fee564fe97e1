from pathlib import Path
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.coordinator.topic_hash import TopicHashes, topic_hash
from kafkapy.formats.xxh3 import xxh3_64
from kafkapy.metadata.cluster_image import BrokerRegistration
from kafkapy.metadata.image import EMPTY, MetadataImage
from kafkapy.metadata.topics_image import PartitionRegistration, TopicImage

ORDERS = "62WlZ-83SfGc8fQtyZw7WQ"


def image(partitions: int = 3, racks: tuple[str | None, ...] = (None, None, None)) -> MetadataImage:
    brokers = {number: BrokerRegistration(number, 0, "", (), {}, rack) for number, rack in enumerate(racks, 1)}
    replicas = tuple(brokers)
    topic = TopicImage(
        "orders", ORDERS, {number: PartitionRegistration(replicas, (), replicas) for number in range(partitions)}
    )
    return EMPTY._replace(brokers=brokers, topics={"orders": topic}, topics_by_id={ORDERS: topic})


def test_values_that_xxhash_gives() -> None:
    # by Dynatrace's hash4j, which Kafka uses
    data = bytes(number * 7 % 256 for number in range(3000))
    assert [xxh3_64(data[:size]) for size in (0, 1, 4, 9, 17, 65)] == [
        3244421341483603138, -4302098779834749733, -3182342801937314167, 245602082024904742, -915289979429514543,
        2756348719807272299,
    ]  # fmt: skip
    assert [xxh3_64(data[:size]) for size in (129, 241, 1025, 3000)] == [
        2884094242154568485, 6060465359239009000, -2172479308038689242, 7019065733197450447,
    ]  # fmt: skip


def test_the_hash_that_a_broker_wrote(golden: Path) -> None:
    """It is in the record that made group next-gen."""
    cluster = LogDirsCluster(*(str(golden / "clean" / f"broker-{number}") for number in (1, 2, 3)))
    assert TopicHashes().group_hash(cluster.image(), ["orders"]) == 6732098397807513070


def test_no_topic_and_topics_that_do_not_exist() -> None:
    assert TopicHashes().group_hash(image(), []) == 0
    assert TopicHashes().group_hash(image(), ["gone"]) == 0
    assert TopicHashes().group_hash(image(), ["orders", "gone"]) == TopicHashes().group_hash(image(), ["orders"])


@given(st.lists(st.text(max_size=5), min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_racks_does_not_matter_but_where_one_ends_does(racks: list[str], rng: Random) -> None:
    shuffled = list(racks)
    rng.shuffle(shuffled)
    found = image(racks=tuple(racks))
    assert topic_hash(found, found.topics["orders"]) == topic_hash(image(racks=tuple(shuffled)), found.topics["orders"])
    joined = image(racks=("".join(racks), *[""] * (len(racks) - 1)))
    if sorted(racks) != sorted(("".join(racks), *[""] * (len(racks) - 1))):
        assert topic_hash(found, found.topics["orders"]) != topic_hash(joined, found.topics["orders"])


def test_a_topic_is_hashed_again_when_it_changed() -> None:
    hashes = TopicHashes()
    before = hashes.group_hash(image(3), ["orders"])
    assert hashes.group_hash(image(4), ["orders"]) not in (before, 0)
    assert hashes.group_hash(image(3), ["orders"]) == before
