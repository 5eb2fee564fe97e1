"""The names that only the metadata log has: users, principals, client ids, addresses, metrics subscriptions, tokens.

Their records are few. The fields up to the names are read here one by one: the tables of schemas and their interpreter
would double the time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress

from kafkapy.completion.cluster_names import ENTITIES
from kafkapy.completion.metadata_records import metadata_files, records_that_begin
from kafkapy.errors import FormatError
from kafkapy.formats.message_reader import MessageReader, decode_utf8

_BEGINS = re.compile(rb"\x01(?:\x04\x00\x10|[\x0a\x0b\x0e\x12\x13\x16\x1a]\x00)")
"""A config of client metrics (type 4, of resource type 16), or any other of the records that _READ has."""
_FRAME_SIZE = 3
_OF_QUOTAS: Mapping[str | None, str] = {"user": "USER", "client-id": "CLIENT-ID", "ip": "IP"}
_USER = "User:"

Pairs = tuple[tuple[str, str], ...]
"""Kinds and names."""
Read = tuple[Hashable, Pairs]
"""A thing, and what it names; nothing where it is taken back."""
Named = dict[Hashable, Pairs]
"""Each thing that is there."""


def names_in_metadata(directory: str) -> Mapping[str, set[str]]:
    """The names that a metadata directory has, by kind."""
    named: Named = {}
    for record in records_that_begin(metadata_files(directory), _BEGINS):
        with suppress(FormatError):
            _replay(record, named)
    found: dict[str, set[str]] = {kind: set() for kind in ENTITIES}
    for kind, name in (pair for pairs in named.values() for pair in pairs):
        found[kind].add(name)
    return {**found, **users_and_principals(found["USER"], found["PRINCIPAL"])}


def users_and_principals(users: set[str], principals: set[str]) -> dict[str, set[str]]:
    """Who is one is the other, too, but for all users and what are no users."""
    users = users | {each.removeprefix(_USER) for each in principals if each.startswith(_USER)} - {"*"}
    return {"USER": users, "PRINCIPAL": principals | {_USER + each for each in users}}


def _replay(value: bytes, named: Named) -> None:
    """Note what a record sets, or that what it takes back is there no more."""
    thing, names = _READ[value[1]](MessageReader(value, _FRAME_SIZE))
    if names:
        named[thing] = names
    else:
        named.pop(thing, None)


def _text(reader: MessageReader) -> str | None:
    size = reader.compact_length()
    return None if size < 0 else decode_utf8(reader.array(size))


def _config(reader: MessageReader) -> Read:
    reader.int8()
    subscription, name, value = _text(reader), _text(reader), _text(reader)
    return ("config", subscription, name), () if value is None else (("CLIENT-METRICS", subscription or ""),)


def _token(reader: MessageReader) -> Read:
    _text(reader), _text(reader)  # owner, requester
    for _ in range(reader.compact_length()):
        _text(reader)
    reader.array(3 * 8)  # timestamps
    token = _text(reader) or ""
    return ("token", token), (("TOKEN", token),)


def _quota(reader: MessageReader) -> Read:
    entity = []
    for _ in range(reader.compact_length()):
        entity.append((_text(reader), _text(reader)))
        reader.unsigned_varint()  # that there are no tagged fields
    key, _, is_removed = _text(reader), reader.float64(), reader.bool()
    names = tuple((_OF_QUOTAS[kind], name) for kind, name in entity if kind in _OF_QUOTAS and name is not None)
    return ("quota", *entity, key), () if is_removed else names


def _credential(reader: MessageReader) -> Read:
    user, mechanism = _text(reader) or "", reader.int8()
    return ("credential", user, mechanism), (("USER", user),)


def _acl(reader: MessageReader) -> Read:
    acl = reader.uuid()
    reader.int8(), _text(reader), reader.int8()  # the resource
    return ("acl", acl), (("PRINCIPAL", _text(reader) or ""),)


_READ: Mapping[int, Callable[[MessageReader], Read]] = {
    4: _config,
    10: _token,
    11: _credential,
    14: _quota,
    18: _acl,
    19: lambda reader: (("acl", reader.uuid()), ()),
    22: lambda reader: (_credential(reader)[0], ()),
    26: lambda reader: (("token", _text(reader)), ()),
}
"""The records by type: ConfigRecord, DelegationTokenRecord, UserScramCredentialRecord, ClientQuotaRecord,
AccessControlEntryRecord, and those that take back ACLs, credentials and tokens."""
