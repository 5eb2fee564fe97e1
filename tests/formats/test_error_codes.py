"""Error codes become the errors that Kafka's tools tell of."""

from __future__ import annotations

import pytest

from kafkapy.errors import KafkaError
from kafkapy.formats.error_codes import code_of, error_code, kafka_error, raise_for


def test_a_code_becomes_the_exception_of_that_name() -> None:
    error = kafka_error(3)
    assert (error.name, str(error)) == (
        "UnknownTopicOrPartitionException",
        "This server does not host this topic-partition.",
    )


def test_what_the_broker_said_stands_before_the_usual_message() -> None:
    assert str(kafka_error(36, "Topic 'orders' already exists.")) == "Topic 'orders' already exists."


def test_a_code_of_a_newer_broker_is_an_unexpected_error() -> None:
    assert error_code(31_000).name == "UNKNOWN_SERVER_ERROR"


def test_none_is_no_error() -> None:
    raise_for(0)
    with pytest.raises(KafkaError, match="not the correct controller"):
        raise_for(code_of("NOT_CONTROLLER"))


def test_whether_a_retry_may_help() -> None:
    assert error_code(code_of("NOT_COORDINATOR")).retriable
    assert not error_code(code_of("TOPIC_ALREADY_EXISTS")).retriable
