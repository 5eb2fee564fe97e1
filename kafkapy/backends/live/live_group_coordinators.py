"""Who coordinates a group, and asking all of them at once.

Groups are found with one FindCoordinator for all, then each coordinator is asked about its groups in one request, all
in parallel. A group whose coordinator moves or still loads is asked about again until default.api.timeout.ms is over;
what the others answered is kept. All that is asked or changed here may be asked or changed twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from kafkapy.backends.live.client import PASSING, Call, Client, is_passing
from kafkapy.backends.live.library.network import ConnectionLost
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.formats.error_codes import NONE, code_of, error_code, kafka_error
from kafkapy.formats.message import Value

GROUP = 0

T = TypeVar("T")
Request = Callable[[Sequence[str], int], list[Call]]
"""What to send about groups to the broker that coordinates them."""
Answers = Iterable[tuple[str, T | KafkaError]]
Read = Callable[[list[Value | KafkaError], int], Answers[T]]
"""What the responses say about each group; the second argument is the broker."""


class GroupCoordinators:
    """The coordinators of groups, as far as they were looked for."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._known: dict[str, int] = {}

    def ask(self, group_ids: Iterable[str], request: Request, read: Read[T]) -> dict[str, T | KafkaError]:
        """An answer for each group, in the order of their ids."""
        ids = sorted(set(group_ids))
        found: dict[str, T | KafkaError] = {}

        def attempt() -> None:
            passing = None
            for group_id, answer in self._ask_once([each for each in ids if each not in found], request, read):
                if is_passing(answer):
                    self._known.pop(group_id, None)
                    passing = answer
                else:
                    found[group_id] = answer  # type: ignore[assignment]
            if passing is not None:
                raise passing

        if ids:
            self.client.retrying(attempt)
        return {group_id: found[group_id] for group_id in ids}

    def ask_each(
        self,
        group_ids: Iterable[str],
        request: Callable[[Sequence[str], int], Call],
        read: Callable[[Value, int], T | KafkaError],
        field: str = "groups",
    ) -> dict[str, T | KafkaError]:
        """The same where one response has all groups of a coordinator in one field, each with an error or an answer."""

        def each(responses: list[Value | KafkaError], node: int) -> Answers[T]:
            (response,) = responses
            if isinstance(response, KafkaError):
                raise response
            for group in response[field]:
                failed = group["errorCode"] != NONE
                refusal = kafka_error(group["errorCode"], group.get("errorMessage")) if failed else None
                yield group["groupId"], refusal or read(group, node)

        return self.ask(group_ids, lambda ids, node: [request(ids, node)], each)

    def ask_one(self, group_id: str, request: Callable[[int], Call], read: Callable[[Value], T]) -> T:
        """The same for one group, whose error is raised."""

        def only(responses: list[Value | KafkaError], _: int) -> Answers[T]:
            (response,) = responses
            if isinstance(response, KafkaError):
                return [(group_id, response)]
            try:
                return [(group_id, read(response))]
            except KafkaError as error:
                return [(group_id, error)]

        answer = self.ask([group_id], lambda _, node: [request(node)], only)[group_id]
        if isinstance(answer, KafkaError):
            raise answer
        return answer

    def _ask_once(
        self, ids: Sequence[str], request: Request, read: Read[T]
    ) -> Iterator[tuple[str, T | KafkaError | ConnectionLost]]:
        yield from self._find(ids)
        nodes: dict[int, list[str]] = {}
        for group_id in ids:
            if group_id in self._known:
                nodes.setdefault(self._known[group_id], []).append(group_id)
        self.client.nodes()  # asked for once, not by each of the calls
        calls = {node: request(groups, node) for node, groups in nodes.items()}
        responses = iter(self.client.call_all(call for each in calls.values() for call in each))
        for node, groups in nodes.items():
            of_node = [next(responses) for _ in calls[node]]
            failed = next((each for each in of_node if _is_lost(each)), None)
            if failed is not None:
                yield from ((group_id, failed) for group_id in groups)  # type: ignore[misc]
            else:
                yield from read(of_node, node)  # type: ignore[arg-type]

    def _find(self, ids: Iterable[str]) -> Iterator[tuple[str, KafkaError]]:
        """Look for coordinators that are not known; which could not be found."""
        missing = [group_id for group_id in ids if group_id not in self._known]
        if not missing:
            return
        response = self.client.call("FindCoordinator", {"keyType": GROUP, "coordinatorKeys": missing})
        for coordinator in response["coordinators"]:
            group_id, code = coordinator["key"], coordinator["errorCode"]
            if code == NONE:
                self._known[group_id] = coordinator["nodeId"]
            else:
                yield group_id, _refusal(group_id, code)


def _is_lost(response: Value | KafkapyError) -> bool:
    """Whether there is no answer of any kind; that a broker does not know a request is one."""
    if isinstance(response, KafkapyError) and not isinstance(response, KafkaError | ConnectionLost):
        raise response
    return isinstance(response, ConnectionLost)


def _refusal(group_id: str, code: int) -> KafkaError:
    """In the words of Kafka's client."""
    key = f"CoordinatorKey(idValue='{group_id}', type=GROUP)"
    if code == code_of("GROUP_AUTHORIZATION_FAILED"):
        text = f"FindCoordinator request for groupId `{key}` failed due to authorization failure"
        return kafka_error(code, text)
    if error_code(code).exception in PASSING:
        return kafka_error(code)
    return kafka_error(code, f"FindCoordinator request for key `{key}` failed due to an unexpected error")
