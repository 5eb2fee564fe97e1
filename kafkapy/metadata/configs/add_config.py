"""What ``--add-config``, ``--add-config-file`` and ``--delete-config`` say.

``--add-config`` is ``key=value`` pairs with commas between them. A comma or ``=`` inside of square brackets does not
count, so a value may be a list; the brackets themselves are dropped. The last of equal keys wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafkapy.errors import UsageError
from kafkapy.metadata.configs.config_types import trim

_OUTSIDE_BRACKETS = r"(?=[^\]]*(?:\[|$))"
_KEY = r"[$a-zA-Z0-9._-]*"


def parse_add_config(text: str) -> dict[str, str]:
    """The configs of ``--add-config``, in order."""
    import re

    pairs = [re.split(rf"\s*=\s*{_OUTSIDE_BRACKETS}", pair, flags=re.ASCII) for pair in _java_split(text)]
    if any(len(pair) != 2 for pair in pairs):
        raise UsageError(
            "requirement failed: Invalid entity config: all configs to be added must be in the format "
            '"key=val" or  "key=[val1,val2]" to group values which contain commas.'
        )
    configs = {trim(key): trim(value.replace("[", "").replace("]", "")) for key, value in pairs}
    _check_keys(configs)
    return configs


def _java_split(text: str) -> list[str]:
    """The parts between commas as ``String.split`` gives them: empty ones at the end do not count."""
    import re

    parts = re.split(f",{_OUTSIDE_BRACKETS}", text)
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return [] if parts == [""] and text else parts


def parse_add_config_file(data: bytes) -> dict[str, str]:
    """The configs of the .properties file that ``--add-config-file`` names."""
    from kafkapy.formats.java_properties import load

    configs = load(data)
    _check_keys(configs)
    return configs


def parse_delete_config(texts: Iterable[str]) -> list[str]:
    """The names of all ``--delete-config`` given, each of them a list with commas."""
    return [trim(name) for text in texts for name in ([part for part in text.split(",") if part] or [text])]


def _check_keys(configs: Mapping[str, str]) -> None:
    import re

    for key in configs:
        if not re.fullmatch(_KEY, key):
            raise UsageError(f"Invalid character found for config key: {key}")
