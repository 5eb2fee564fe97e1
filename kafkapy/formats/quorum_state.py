"""What a KRaft voter must not forget: ``__cluster_metadata-0/quorum-state``, one line of JSON without a newline.

| key              | data_version 0 (static voters)    | data_version 1 (kraft.version 1)   |
|------------------|-----------------------------------|------------------------------------|
| clusterId        | always ""                         | -                                  |
| leaderId         | -1 for none                       | the same                           |
| leaderEpoch      |                                   |                                    |
| votedId          | -1 for none                       | the same                           |
| votedDirectoryId | -                                 | zero for none                      |
| appliedOffset    | always 0                          | -                                  |
| currentVoters    | [{"voterId": n}]                  | -, they are in the log             |
| data_version     | last key of the line              | last key of the line               |

Invariant: the epoch never goes back, and a vote in an epoch never changes, also through a crash: it is written as
``quorum-state.tmp``, synced and renamed before the vote is answered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kafkapy.errors import FormatError
from kafkapy.formats.java_parsing import read_lines
from kafkapy.formats.uuid import ZERO_UUID, uuid_bytes, uuid_text

FILE_NAME = "quorum-state"
NO_ID = -1
HIGHEST_SUPPORTED_VERSION = 1

_INT_BITS = 31
_LONG_BITS = 63


@dataclass(frozen=True, slots=True)
class QuorumState:
    data_version: int
    leader_id: int
    leader_epoch: int
    voted_id: int = NO_ID
    voted_directory_id: str = ZERO_UUID
    current_voters: tuple[int, ...] = ()
    cluster_id: str = ""
    applied_offset: int = 0


def decode(data: bytes) -> QuorumState:
    node = _read_object(data)
    if "data_version" not in node:
        raise FormatError(f"Deserialized node {node} does not have data_version field")
    version = _integer(node, "data_version", _INT_BITS)
    if not 0 <= version <= HIGHEST_SUPPORTED_VERSION:
        raise FormatError(
            f"data_version ({version}) is not within the min (0) and max ({HIGHEST_SUPPORTED_VERSION}) "
            "supported version"
        )
    common = (
        version,
        _integer(node, "leaderId", _INT_BITS),
        _integer(node, "leaderEpoch", _INT_BITS),
        _integer(node, "votedId", _INT_BITS),
    )
    if version:
        return QuorumState(*common, voted_directory_id=uuid_text(uuid_bytes(_text(node, "votedDirectoryId"))))
    return QuorumState(
        *common,
        current_voters=_voters(node),
        cluster_id=_text(node, "clusterId"),
        applied_offset=_integer(node, "appliedOffset", _LONG_BITS),
    )


def encode(state: QuorumState) -> bytes:
    """The line, with the keys of its version in Kafka's order."""
    import json

    election = {"leaderId": state.leader_id, "leaderEpoch": state.leader_epoch, "votedId": state.voted_id}
    node: dict[str, Any]
    if state.data_version:
        node = {**election, "votedDirectoryId": state.voted_directory_id}
    else:
        voters = [{"voterId": voter} for voter in state.current_voters]
        tail = {"appliedOffset": state.applied_offset, "currentVoters": voters}
        node = {"clusterId": state.cluster_id, **election, **tail}
    node["data_version"] = state.data_version
    return json.dumps(node, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")


def _read_object(data: bytes) -> dict[str, Any]:
    import json

    lines = read_lines(data)
    if not lines:
        raise FormatError("File ended prematurely.")
    try:
        node, _ = json.JSONDecoder().raw_decode(lines[0].lstrip())
    except (ValueError, RecursionError) as error:
        raise FormatError(f"quorum-state is not JSON: {error}") from None
    if not isinstance(node, dict):
        raise FormatError(f"Deserialized node {node} is not an object node")
    return node


def _field(node: dict[str, Any], key: str) -> object:
    if key not in node:
        raise FormatError(f"QuorumStateData: unable to locate field '{key}'")
    return node[key]


def _integer(node: dict[str, Any], key: str, bits: int) -> int:
    value = _field(node, key)
    if not isinstance(value, int) or isinstance(value, bool) or not -(1 << bits) <= value < 1 << bits:
        raise FormatError(f"QuorumStateData: field '{key}' is not an int{bits + 1}")
    return value


def _text(node: dict[str, Any], key: str) -> str:
    value = _field(node, key)
    if not isinstance(value, str):
        raise FormatError(f"QuorumStateData: field '{key}' is not a string")
    return value


def _voters(node: dict[str, Any]) -> tuple[int, ...]:
    voters = _field(node, "currentVoters")
    if not isinstance(voters, list) or not all(isinstance(voter, dict) for voter in voters):
        raise FormatError("QuorumStateData: field 'currentVoters' is not an array of voters")
    return tuple(_integer(voter, "voterId", _INT_BITS) for voter in voters)
