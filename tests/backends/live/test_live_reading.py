"""What of a running cluster can be told without one: sections that load when looked at, brokers that are too old."""

from __future__ import annotations

import subprocess
import sys

from kafkapy.backends.live.live_configs import is_asked_itself, own_source
from kafkapy.backends.live.live_image import Section
from kafkapy.backends.live.live_offsets import too_old
from kafkapy.metadata.image import BROKER, BROKER_LOGGER, TOPIC

LIST_OFFSETS = 2


def test_a_section_is_loaded_once_when_it_is_first_looked_at() -> None:
    loads: list[int] = []

    def load() -> dict[str, int]:
        loads.append(1)
        return {"a": 1, "b": 2}

    section = Section(load)
    assert loads == []
    assert "a" in section
    assert dict(section) == {"a": 1, "b": 2}
    assert (len(section), section.get("c")) == (2, None)
    assert loads == [1]


def test_a_broker_that_is_too_old_for_a_name_of_an_offset() -> None:
    assert too_old({LIST_OFFSETS: (1, 11)}, LIST_OFFSETS, 7, 11) is None
    error = too_old({LIST_OFFSETS: (1, 6)}, LIST_OFFSETS, 7, 11)
    assert error is not None
    assert error.name == "UnsupportedVersionException"
    assert str(error) == (
        "The node does not support LIST_OFFSETS with version in range [7,11]. The supported range is [1,6]."
    )


def test_only_a_broker_knows_its_own_configs() -> None:
    assert is_asked_itself(BROKER, "1")
    assert is_asked_itself(BROKER_LOGGER, "1")
    assert not is_asked_itself(BROKER, "")
    assert not is_asked_itself(TOPIC, "1")
    assert (own_source(BROKER, "1"), own_source(BROKER, "")) == (
        "DYNAMIC_BROKER_CONFIG",
        "DYNAMIC_DEFAULT_BROKER_CONFIG",
    )


def test_the_client_library_comes_without_its_clients() -> None:
    """And whoever wants a package of it later gets the real one."""
    script = """
import sys
import kafkapy.backends.live.library.network
print(*(name for name in ("kafka.producer", "kafka.consumer", "kafka.admin") if name in sys.modules))
from kafka.protocol.admin import ListGroupsRequest
print(ListGroupsRequest.__module__)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == ""
    assert done.stdout.splitlines()[1].startswith("kafka.protocol.admin")
