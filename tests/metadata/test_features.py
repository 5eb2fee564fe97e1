"""The features of 4.3.1, as StorageTool lists them."""

import pytest

from kafkapy.errors import KafkaError
from kafkapy.metadata import features
from kafkapy.metadata.features import METADATA_VERSION

# What `StorageTool version-mapping -r RELEASE` of 4.3.1 prints, as numbers in its order.
MAPPINGS = {
    "3.3": [7, 0, 0, 0, 0, 0, 0],
    "3.5-IV1": [10, 0, 0, 0, 0, 0, 0],
    "4.0": [25, 1, 2, 1, 0, 0, 0],
    "4.1": [27, 1, 2, 1, 1, 0, 0],
    "4.2-IV0": [28, 1, 2, 1, 1, 1, 0],
    "4.3": [30, 1, 2, 1, 1, 1, 1],
    "4.3.1": [30, 1, 2, 1, 1, 1, 1],
}


@pytest.mark.parametrize("release", MAPPINGS)
def test_the_defaults_of_a_release(release):
    levels = features.default_levels(features.metadata_version_level(release))
    assert list(levels.values()) == MAPPINGS[release]
    assert list(levels) == [
        "metadata.version",
        "kraft.version",
        "transaction.version",
        "group.version",
        "eligible.leader.replicas.version",
        "share.version",
        "streams.version",
    ]


def test_names_and_levels_are_each_others():
    for level in range(features.MINIMUM_LEVEL, features.LATEST_TESTING_LEVEL + 1):
        assert features.metadata_version_level(features.metadata_version_name(level), unstable=True) == level
    assert features.metadata_version_name(30) == "4.3-IV0"
    assert features.metadata_version_name(features.LATEST_TESTING_LEVEL) == "4.4-IV0"


def test_what_is_not_known():
    with pytest.raises(KafkaError) as unknown:
        features.metadata_version_level("9.9")
    assert str(unknown.value).startswith("Unknown metadata.version '9.9'. Supported metadata.version are: 3.3-IV3, 3.4")
    assert str(unknown.value).endswith("4.2-IV1, 4.3-IV0")
    with pytest.raises(
        KafkaError, match=r"No MetadataVersion with feature level 6\. Valid feature levels are from 7 to"
    ):
        features.metadata_version_name(6)
    with pytest.raises(KafkaError, match=r"Feature nope not found\."):
        features.feature_versions("nope")
    with pytest.raises(KafkaError, match=r"No feature:group\.version with feature level 9"):
        features.dependencies("group.version", 9)


def test_an_unstable_version_is_known_only_when_asked_for():
    with pytest.raises(KafkaError):
        features.metadata_version_level("4.4-IV0")
    assert features.metadata_version_level("4.4-IV0", unstable=True) == 31


def test_dependencies():
    assert features.dependencies("eligible.leader.replicas.version", 1) == ((METADATA_VERSION, 23),)
    assert features.dependencies("transaction.version", 2) == ()
    assert features.dependencies(METADATA_VERSION, 30) == ()
    with pytest.raises(KafkaError, match=r"could not be set to 1 because it depends on metadata\.version level 23"):
        features.validate("eligible.leader.replicas.version", 1, {METADATA_VERSION: 22})
    features.validate("eligible.leader.replicas.version", 1, {METADATA_VERSION: 23})


def test_the_supported_ranges_are_those_of_a_real_broker(golden):
    lines = (golden / "tools" / "features.out").read_text().splitlines()
    ranges = features.supported_ranges()
    assert sorted(ranges) == [line.split()[1] for line in lines]
    for line in lines:
        words = line.split()
        name, lowest, highest = words[1], words[3], words[5]
        if name == METADATA_VERSION:
            lowest, highest = map(features.metadata_version_level, (lowest, highest))
        assert ranges[name] == (int(lowest), int(highest))
