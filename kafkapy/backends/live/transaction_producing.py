"""Transactions as a producer drives them: an id and an epoch, partitions that take part, and the end.

The coordinator of a transactional id keeps them. Where the feature transaction.version is 2 or higher, a partition
takes part from its first Produce on, and the end of a transaction gives a new epoch; before that, the coordinator is
told of each partition first, and the epoch stays.

A request whose answer was lost is sent again: the coordinator knows what it has done already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

from kafkapy.backends.live.client import Call, Client
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.formats.error_codes import kafka_error, raise_for
from kafkapy.formats.message import Value
from kafkapy.log.topic_partition import TopicPartition

TRANSACTION = 1  # the type of a coordinator's key
FEATURE, V2 = "transaction.version", 2
DEFAULT_TIMEOUT_MS = 60_000  # transaction.timeout.ms
ADD_PARTITIONS_OF_CLIENTS = 3
END_BEFORE_V2 = 4


class TransactionProducing:
    """Speaks with the coordinators of transactional ids."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._coordinators: dict[str, int] = {}

    @cached_property
    def is_v2(self) -> bool:
        """Whether partitions are added by Produce itself."""
        fields = {"clientSoftwareName": "kafkapy", "clientSoftwareVersion": "1"}
        features = self._client.call("ApiVersions", fields)["finalizedFeatures"]
        return any(each["name"] == FEATURE and each["maxVersionLevel"] >= V2 for each in features)

    def init_producer_id(self, transactional_id: str, timeout_ms: int = DEFAULT_TIMEOUT_MS) -> tuple[int, int]:
        """The id and epoch for a producer that begins; whoever had the transactional id before is fenced."""
        fields = {"transactionalId": transactional_id, "transactionTimeoutMs": timeout_ms}
        response = self._ask(transactional_id, "InitProducerId", fields)
        return response["producerId"], response["producerEpoch"]

    def add_partitions(
        self, transactional_id: str, producer_id: int, epoch: int, partitions: Iterable[TopicPartition]
    ) -> None:
        """Tell that batches are about to go to partitions."""
        if self.is_v2:
            return
        topics: dict[str, list[int]] = defaultdict(list)
        for topic, number in partitions:
            topics[topic].append(number)
        fields = {
            "v3AndBelowTransactionalId": transactional_id,
            "v3AndBelowProducerId": producer_id,
            "v3AndBelowProducerEpoch": epoch,
            "v3AndBelowTopics": [{"name": name, "partitions": numbers} for name, numbers in topics.items()],
        }
        self._ask(transactional_id, "AddPartitionsToTxn", fields, ADD_PARTITIONS_OF_CLIENTS)

    def end(self, transactional_id: str, producer_id: int, epoch: int, commit: bool) -> tuple[int, int]:
        """Commit or abort; the id and epoch for the next transaction."""
        fields = {
            "transactionalId": transactional_id,
            "producerId": producer_id,
            "producerEpoch": epoch,
            "committed": commit,
        }
        response = self._ask(transactional_id, "EndTxn", fields, None if self.is_v2 else END_BEFORE_V2)
        if response["producerId"] < 0:
            return producer_id, epoch
        return response["producerId"], response["producerEpoch"]

    def _ask(self, transactional_id: str, api: str, fields: Value, max_version: int | None = None) -> Value:
        def attempt() -> Value:
            node = self._coordinator(transactional_id)
            try:
                (response,) = self._client.call_all([Call(api, fields, node, max_version)])
                if isinstance(response, KafkapyError):
                    raise response
                for code in _codes(response):
                    _raise_for(code)
            except KafkapyError:
                self._coordinators.pop(transactional_id, None)
                raise
            return response

        return self._client.retrying(attempt)

    def _coordinator(self, transactional_id: str) -> int:
        if transactional_id not in self._coordinators:
            fields = {"keyType": TRANSACTION, "coordinatorKeys": [transactional_id]}
            (found,) = self._client.call("FindCoordinator", fields)["coordinators"]
            raise_for(found["errorCode"], found["errorMessage"])
            self._coordinators[transactional_id] = found["nodeId"]
        return self._coordinators[transactional_id]


def _codes(response: Value) -> list[int]:
    codes = [response["errorCode"]]
    for topic in response.get("resultsByTopicV3AndBelow", ()):
        codes += [each["partitionErrorCode"] for each in topic["resultsByPartition"]]
    return codes


def _raise_for(code: int) -> None:
    """Raise; that another transaction of the id is still being ended passes."""
    error = kafka_error(code) if code else None
    if error is not None and error.name == "ConcurrentTransactionsException":
        raise KafkaError("CoordinatorLoadInProgressException", str(error))
    if error is not None:
        raise error
