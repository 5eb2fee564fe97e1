"""Errors as Java prints them: the class with its package, then the message."""

from __future__ import annotations

from kafkapy.errors import KafkaError

_JAVA_LANG = frozenset(["IllegalArgumentException", "IllegalStateException"])


def exception_text(error: KafkaError) -> str:
    """An error as ``Throwable.toString`` gives it."""
    package = "java.lang" if error.name in _JAVA_LANG else "org.apache.kafka.common.errors"
    return f"{package}.{error.name}: {error}"


def execution_failure(error: KafkaError) -> KafkaError:
    """What comes out of a tool that wraps a failed request into a RuntimeException."""
    return KafkaError("RuntimeException", f"java.util.concurrent.ExecutionException: {exception_text(error)}")
