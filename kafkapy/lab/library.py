"""The scenarios that come with kafkapy, one file each in ``scenarios/``."""

from __future__ import annotations

import os

from kafkapy.errors import UsageError
from kafkapy.lab.scenario import Scenario
from kafkapy.lab.scenario_file import read_scenario
from kafkapy.lab.scenario_names import NAMES

_DIRECTORY = os.path.join(os.path.dirname(__file__), "scenarios")


def path_of(name_or_path: str) -> str:
    """The file of a scenario that comes with kafkapy, or the path itself where it is one."""
    if name_or_path in NAMES:
        return os.path.join(_DIRECTORY, f"{name_or_path}.yaml")
    if os.path.exists(name_or_path) or name_or_path.endswith((".yaml", ".yml")) or os.sep in name_or_path:
        return name_or_path
    from kafkapy.near_misses import did_you_mean

    hint = did_you_mean(name_or_path, NAMES) or "; 'kafkapy lab list' names them"
    raise UsageError(f"there is neither a scenario nor a file {name_or_path}{hint}")


def load(name_or_path: str) -> Scenario:
    """A scenario by its name or path; errors name a scenario of kafkapy by its name."""
    scenario = read_scenario(path_of(name_or_path))
    return scenario._replace(location=name_or_path)


def shipped() -> dict[str, Scenario]:
    """Every scenario that comes with kafkapy, by name."""
    return {name: load(name) for name in NAMES}
