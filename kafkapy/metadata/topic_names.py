"""Which names a topic may have: 1 to 249 characters of ``[a-zA-Z0-9._-]``, not ``.`` and not ``..``.

Metrics turn dots into underscores, so two topics must not differ in those alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkapy.errors import KafkaError

MAX_NAME_LENGTH = 249

_LEGAL = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


def validate(name: str) -> None:
    """Refuses a name that is none, in Kafka's words."""
    reason = _detect_invalid(name)
    if reason:
        raise KafkaError("InvalidTopicException", f"Topic name is invalid: {reason}")


def check_collision(name: str, existing: Iterable[str]) -> None:
    """Refuses a name that is another topic's but for dots and underscores."""
    if not has_collision_chars(name):
        return
    unified = name.replace(".", "_")
    for other in existing:
        if has_collision_chars(other) and other.replace(".", "_") == unified:
            raise KafkaError("InvalidTopicException", f"Topic '{name}' collides with existing topic: {other}")


def has_collision_chars(name: str) -> bool:
    return "." in name or "_" in name


def _detect_invalid(name: str) -> str:
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    if len(name) > MAX_NAME_LENGTH:
        return f"the length of '{name}' is longer than the max allowed length {MAX_NAME_LENGTH}"
    if not _LEGAL.issuperset(name):
        return f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    return ""
