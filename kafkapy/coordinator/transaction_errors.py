"""What a transaction coordinator refuses, by Kafka's names and in Kafka's words."""

from __future__ import annotations

from kafkapy.errors import KafkaError

_MESSAGES = {
    "InvalidPidMappingException": "The producer attempted to use a producer id which is not currently assigned to its "
    "transactional id.",
    "InvalidRequestException": "This most likely occurs because of a request being malformed by the client library or "
    "the message was sent to an incompatible broker. See the broker logs for more details.",
    "InvalidTxnStateException": "The producer attempted a transactional operation in an invalid state.",
    "InvalidTxnTimeoutException": "The transaction timeout is larger than the maximum value allowed by the broker (as "
    "configured by transaction.max.timeout.ms).",
    "ProducerFencedException": "There is a newer producer with the same transactionalId which fences the current one.",
    "UnknownTopicOrPartitionException": "This server does not host this topic-partition.",
}


def refusal(name: str) -> KafkaError:
    """The error that Kafka has for it."""
    return KafkaError(name, _MESSAGES[name])


def id_not_found(request: str, transactional_id: str) -> KafkaError:
    """What an admin client says of an id that no coordinator knows."""
    return KafkaError(
        "TransactionalIdNotFoundException",
        f"{request} request for transactionalId `{transactional_id}` failed because the ID could not be found",
    )
