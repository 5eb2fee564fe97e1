"""What becomes of each setting of a Java client's .properties file: client_settings.txt as a table, and its types.

A setting that cannot be honoured is an error. A setting that no client has is told on stderr and ignored, as Java does:
such files are shared with programs that have settings of their own. One that begins as the security settings do is an
error all the same: a misspelt ``ssl.truststore.location`` would mean a connection other than the one asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from kafkapy.errors import KafkapyError

_SECURITY = ("sasl.", "security.", "ssl.")
_PREFIXES = ("config.providers.",)
_JWT = "org.apache.kafka.common.security.oauthbearer"
_HARMLESS_VALUES = {
    "ssl.engine.factory.class": ("org.apache.kafka.common.security.ssl.DefaultSslEngineFactory",),
    "ssl.keymanager.algorithm": ("SunX509", "NewSunX509", "PKIX"),
    "ssl.trustmanager.algorithm": ("PKIX", "SunX509"),
    "sasl.oauthbearer.jwt.validator.class": (f"{_JWT}.DefaultJwtValidator", f"{_JWT}.ClientJwtValidator"),
}
_WHOLE_NUMBERS = {"SHORT": 15, "INT": 31, "LONG": 63}  # type -> bits beside the sign
_JAVA_BLANKS = "".join(map(chr, range(0x21)))


class Setting(NamedTuple):
    """A line of the table."""

    name: str
    type: str
    decision: str
    lowest: float | None = None
    highest: float | None = None


class SettingError(KafkapyError):
    """A setting that is wrong or cannot be honoured; the text names the file and the setting, never a secret."""

    def __init__(self, source: str, name: str, reason: str) -> None:
        super().__init__(f"{source}: {name}: {reason}")


@cache
def settings() -> dict[str, Setting]:
    """The table, by name."""
    with open(os.path.join(os.path.dirname(__file__), "client_settings.txt"), encoding="ascii") as table:
        return {line.split()[0]: _setting(line.split()) for line in table if not line.startswith("#")}


def _setting(words: list[str]) -> Setting:
    name, kind, decision, *limits = words
    if not limits:
        return Setting(name, kind, decision)
    lowest, _, highest = limits[0].partition("..")
    return Setting(name, kind, decision, float(lowest), float(highest) if highest else None)


def check_settings(properties: Mapping[str, str], source: str) -> list[str]:
    """Refuse what is wrong or cannot be honoured; the result are the names that no client knows."""
    unknown = []
    for name, value in properties.items():
        setting = settings().get(name)
        if setting is not None:
            _check_value(setting, value, source)
        elif name.startswith(_SECURITY):
            raise SettingError(source, name, f"no client has this setting{_similar(name)}")
        elif not name.startswith(_PREFIXES):
            unknown.append(name)
    return unknown


def _check_value(setting: Setting, value: str, source: str) -> None:
    if setting.decision == "refused" and value and value not in _HARMLESS_VALUES.get(setting.name, ()):
        raise SettingError(source, setting.name, f"{_why_refused(setting)}, so this cannot be honoured")
    if setting.decision == "role":
        return
    if setting.type in _WHOLE_NUMBERS or setting.type == "DOUBLE":
        _check_range(setting, value, _number(setting, value, source), source)
    elif setting.type == "BOOLEAN" and value.lower() not in ("true", "false"):
        raise _invalid(setting, value, source, "Expected value to be either true or false")


def _why_refused(setting: Setting) -> str:
    if ".assertion." in setting.name:
        return "kafkapy makes no signed assertions"
    if setting.type in ("CLASS", "LIST") or setting.name == "security.providers":
        return "it names Java classes, which kafkapy cannot run"
    return "it chooses among Java's algorithms or providers"


def _number(setting: Setting, value: str, source: str) -> float:
    bits = _WHOLE_NUMBERS.get(setting.type)
    try:
        number = float(value) if bits is None else int(value)
    except ValueError:
        number = None
    # Java knows no blanks or underscores in numbers, and no more bits than its type has.
    in_type = number is not None and (bits is None or -(1 << bits) <= number < 1 << bits)
    if number is None or not in_type or "_" in value or not value.isascii():
        raise _invalid(setting, value, source, f"Not a number of type {setting.type}")
    return number


def _check_range(setting: Setting, value: str, number: float, source: str) -> None:
    if setting.lowest is not None and number < setting.lowest:
        raise _invalid(setting, value, source, f"Value must be at least {setting.lowest:g}")
    if setting.highest is not None and number > setting.highest:
        raise _invalid(setting, value, source, f"Value must be no more than {setting.highest:g}")


def _invalid(setting: Setting, value: str, source: str, reason: str) -> SettingError:
    return SettingError(source, setting.name, f"Invalid value {value}: {reason}")


def _similar(name: str) -> str:
    from kafkapy.near_misses import did_you_mean

    return did_you_mean(name, settings(), 0.8)


def java_trim(text: str) -> str:
    """``String.trim``, which Kafka applies to every value."""
    return text.strip(_JAVA_BLANKS)


def words(value: str) -> list[str]:
    """A value of type LIST."""
    return [word for word in (java_trim(part) for part in value.split(",")) if word]


def unknown_settings_warning(source: str, names: Iterable[str]) -> str:
    """What to tell of settings that were ignored: their names, since any value may be a secret of somebody's."""
    return f"kafkapy: {source}: no client has these settings, so they are ignored: {', '.join(sorted(names))}"
