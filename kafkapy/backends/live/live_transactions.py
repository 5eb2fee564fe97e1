"""Transactions of a running cluster, as administrators see them: ListTransactions, DescribeTransactions,
WriteTxnMarkers, and InitProducerId to fence a producer.

Every broker lists what it coordinates, all are asked at once. What producers do is in transaction_producing.py.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from kafkapy.backends.live.client import Call
from kafkapy.backends.live.partition_leaders import find_leaders
from kafkapy.backends.live.transaction_producing import TransactionProducing
from kafkapy.coordinator.transaction_errors import id_not_found
from kafkapy.coordinator.transaction_listing import TransactionDescription
from kafkapy.coordinator.transaction_marker import AbortTransactionSpec
from kafkapy.coordinator.transaction_state import TransactionMetadata, TransactionState
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.formats.error_codes import NONE, code_of, error_code, kafka_error
from kafkapy.formats.message import Value
from kafkapy.log.topic_partition import TopicPartition

NOT_TOLD = -1
_STATES = {state.label: state for state in TransactionState}
# Errors after which the leader or the coordinator is looked for again.
_MOVED_LEADER = ("NOT_LEADER_OR_FOLLOWER", "REPLICA_NOT_AVAILABLE", "BROKER_NOT_AVAILABLE")
_MOVED_COORDINATOR = ("NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS")


class LiveTransactions(TransactionProducing):
    """The coordinators of all transactional ids."""

    @property
    def problems(self) -> list[str]:
        """Whatever cannot be asked for is an error here."""
        return []

    def list_transactions(self, duration_ms: int = -1, id_pattern: str = "") -> list[TransactionDescription]:
        fields = {"durationFilter": duration_ms, "transactionalIdPattern": id_pattern or None}
        found = [
            TransactionDescription(broker, _listed(state))
            for broker, response in self._list(fields).items()
            for state in response["transactionStates"]
        ]
        return sorted(found, key=lambda each: (each.coordinator, each.metadata.transactional_id))

    def describe(self, transactional_id: str) -> TransactionDescription:
        def attempt() -> TransactionDescription:
            node = self._coordinator(transactional_id)
            try:
                response = self._client.call("DescribeTransactions", {"transactionalIds": [transactional_id]}, node)
                (state,) = response["transactionStates"]
                if state["errorCode"] != NONE:
                    raise _not_described(transactional_id, state["errorCode"])
            except KafkapyError:
                self._coordinators.pop(transactional_id, None)
                raise
            return TransactionDescription(node, _described(state))

        return self._client.retrying(attempt)

    def of_producers(self, producer_ids: Collection[int]) -> Mapping[int, TransactionMetadata]:
        if not producer_ids:
            return {}
        listed = self._list({"producerIdFilters": sorted(producer_ids), "transactionalIdPattern": None})
        ids = defaultdict(list)
        for broker, response in listed.items():
            for state in response["transactionStates"]:
                ids[broker].append(state["transactionalId"])
                self._coordinators[state["transactionalId"]] = broker
        calls = [Call("DescribeTransactions", {"transactionalIds": names}, node) for node, names in ids.items()]
        states = (state for response in map(_checked, self._client.call_all(calls)) for state in _states(response))
        found = [self._found(state) for state in states]
        return {state.producer_id: state for state in found if state is not None}

    def ends_by_itself(self, state: TransactionMetadata) -> bool:
        """Always: its coordinator runs, and aborts it when it is past its timeout."""
        return True

    def abort(self, spec: AbortTransactionSpec) -> None:
        topic, number = spec.partition
        marker = {
            "producerId": spec.producer_id,
            "producerEpoch": spec.producer_epoch,
            "transactionResult": False,
            "topics": [{"name": topic, "partitionIndexes": [number]}],
            "coordinatorEpoch": spec.coordinator_epoch,
        }

        def attempt() -> None:
            leader = find_leaders(self._client, [spec.partition])[spec.partition]
            if isinstance(leader, KafkaError):
                raise leader
            response = self._client.call("WriteTxnMarkers", {"markers": [marker]}, leader)
            ((code,),) = (
                [each["errorCode"] for each in topic["partitions"]]
                for result in response["markers"]
                for topic in result["topics"]
            )
            if code != NONE:
                raise kafka_error(code) if error_code(code).name in _MOVED_LEADER else spec.refused(kafka_error(code))

        self._client.retrying(attempt)

    def force_terminate(self, transactional_id: str) -> tuple[int, int]:
        try:
            self.describe(transactional_id)
        except KafkaError as error:
            if error.name == "TransactionalIdNotFoundException":
                raise id_not_found("InitProducerId", transactional_id) from None
            raise
        try:
            return self.init_producer_id(transactional_id, self._client.config.request_timeout_ms)
        except KafkaError as error:
            raise _not_fenced(transactional_id, error) from None

    def _list(self, fields: Value) -> dict[int, Value]:
        """What every broker lists."""

        def attempt() -> dict[int, Value]:
            brokers = sorted(self._client.nodes())
            responses = self._client.call_all(Call("ListTransactions", fields, broker) for broker in brokers)
            found = {broker: _checked(response) for broker, response in zip(brokers, responses, strict=True)}
            for broker, response in found.items():
                if response["errorCode"] != NONE:
                    raise _not_listed(broker, response["errorCode"])
            return found

        return self._client.retrying(attempt)

    def _found(self, state: Value) -> TransactionMetadata | None:
        """One of several; None for an id that is no longer known. One that has moved is asked for once more, alone."""
        name = error_code(state["errorCode"]).name if state["errorCode"] != NONE else None
        if name is None:
            return _described(state)
        if name == "TRANSACTIONAL_ID_NOT_FOUND":
            return None
        if name not in _MOVED_COORDINATOR:
            raise _not_described(state["transactionalId"], state["errorCode"])
        self._coordinators.pop(state["transactionalId"], None)
        return self.describe(state["transactionalId"]).metadata


def _states(response: Value) -> Iterator[Value]:
    yield from response["transactionStates"]


def _checked(response: Value | KafkapyError) -> Value:
    if isinstance(response, KafkapyError):
        raise response
    return response


def _state(text: str) -> TransactionState:
    if text not in _STATES:
        raise KafkapyError(f"a broker reported a transaction in the state {text}, which Kafka 4.3.1 does not have")
    return _STATES[text]


def _listed(state: Value) -> TransactionMetadata:
    return TransactionMetadata(
        state["transactionalId"], state["producerId"], NOT_TOLD, NOT_TOLD, state=_state(state["transactionState"])
    )


def _described(state: Value) -> TransactionMetadata:
    partitions = (TopicPartition(topic["topic"], each) for topic in state["topics"] for each in topic["partitions"])
    return TransactionMetadata(
        state["transactionalId"],
        state["producerId"],
        state["transactionTimeoutMs"],
        NOT_TOLD,
        state["producerEpoch"],
        _state(state["transactionState"]),
        frozenset(partitions),
        state["transactionStartTimeMs"],
    )


def _not_listed(broker: int, code: int) -> KafkaError:
    """In the words of Kafka's client, as those below."""
    name = error_code(code).name
    if name == "COORDINATOR_LOAD_IN_PROGRESS":
        return kafka_error(code)
    request = f"ListTransactions request sent to broker {broker} failed"
    if name == "COORDINATOR_NOT_AVAILABLE":
        return kafka_error(code, f"{request} because the coordinator is shutting down")
    return kafka_error(code, f"{request} with an unexpected exception")


def _not_described(transactional_id: str, code: int) -> KafkaError:
    name = error_code(code).name
    if name in _MOVED_COORDINATOR:
        return kafka_error(code)
    if code == code_of("TRANSACTIONAL_ID_NOT_FOUND"):
        return id_not_found("DescribeTransactions", transactional_id)
    denied = code == code_of("TRANSACTIONAL_ID_AUTHORIZATION_FAILED")
    reason = "authorization failure" if denied else "unexpected error"
    request = f"DescribeTransactions request for transactionalId `{transactional_id}` failed"
    return kafka_error(code, f"{request} due to {reason}")


def _not_fenced(transactional_id: str, error: KafkaError) -> KafkaError:
    reasons = {
        "ClusterAuthorizationException": "cluster authorization failure",
        "TransactionalIdAuthorizationException": "transactional ID authorization failure",
    }
    reason = reasons.get(error.name, "unexpected error")
    return KafkaError(
        error.name, f"InitProducerId request for transactionalId `{transactional_id}` failed due to {reason}"
    )
