"""The names that only the metadata log has: users, principals, client ids, addresses, metrics subscriptions, tokens.

Their records are few among those of topics and partitions, and to replay all of these takes longer than a user waits.
So a batch is decoded only if its bytes have what such a record begins with (the frame's version, 1, the type, and the
version, 0), and of its records only those. What the bytes of others happen to look like costs a look, and no more. The
fields up to the names are read here one by one: the tables of schemas and their interpreter would double the time.

The newest snapshot is read and the log after it; where there is no snapshot, bootstrap.checkpoint first, whose records
the log may lack. Transactions of the metadata are not waited for: what an aborted one had set is offered.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import suppress

from kafkapy.completion.cluster_names import ENTITIES
from kafkapy.errors import FormatError, KafkapyError
from kafkapy.formats import snapshot_id
from kafkapy.formats.compression import Codec
from kafkapy.formats.message_reader import MessageReader, decode_utf8
from kafkapy.log.batch import batch_bytes, read_records, walk
from kafkapy.log.names import LOG_SUFFIX
from kafkapy.log.window import Window

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
    for path, start in _files(directory):
        with suppress(KafkapyError, OSError):
            _fold(path, start, named)
    found: dict[str, set[str]] = {kind: set() for kind in ENTITIES}
    for kind, name in (pair for pairs in named.values() for pair in pairs):
        found[kind].add(name)
    return {**found, **users_and_principals(found["USER"], found["PRINCIPAL"])}


def users_and_principals(users: set[str], principals: set[str]) -> dict[str, set[str]]:
    """Who is one is the other, too, but for all users and what are no users."""
    users = users | {each.removeprefix(_USER) for each in principals if each.startswith(_USER)} - {"*"}
    return {"USER": users, "PRINCIPAL": principals | {_USER + each for each in users}}


def _files(directory: str) -> Iterator[tuple[str, int]]:
    """The files to read, in order, and from which offset on."""
    names = os.listdir(directory)
    snapshots = [found for found in map(_snapshot, names) if found is not None]
    newest = max(snapshots, key=lambda each: (each.epoch, each.end_offset), default=None)
    if newest is None:
        yield os.path.join(os.path.dirname(directory), snapshot_id.BOOTSTRAP_FILE_NAME), 0
    else:
        yield os.path.join(directory, newest.file_name()), 0
    for name in sorted(name for name in names if name.endswith(LOG_SUFFIX)):
        yield os.path.join(directory, name), 0 if newest is None else newest.end_offset


def _snapshot(name: str) -> snapshot_id.SnapshotId | None:
    with suppress(FormatError):
        found = snapshot_id.parse(name)
        if found is not None and not found.partial and not found.deleted:
            return found.snapshot_id
    return None


def _fold(path: str, start: int, named: Named) -> None:
    with Window(path) as window:
        for _, header in walk(window):
            if header.is_control or header.last_offset < start:
                continue
            data = batch_bytes(window, header.size)
            if header.codec is Codec.NONE and _BEGINS.search(data) is None:
                continue
            for record in read_records(header, data):
                if record.value is not None and _BEGINS.match(record.value):
                    _replay(bytes(record.value), named)


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
