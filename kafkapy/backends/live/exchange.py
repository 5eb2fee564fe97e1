"""One request and its response as bytes: the header, and the body by its schema.

A request is framed by its size. Its header has the api's key and version, a number by which the response is known
again, the client's id, and with flexible versions an (empty) list of tagged fields. A response's header has that number
and, with flexible versions, tagged fields; ApiVersions never has them, so that any client can read it.

The class has the members by which the client library sends a request and finds the class of its response: it gets the
bytes of the body back, which are decoded by whoever asked, or kept raw where they hold batches.
"""

from __future__ import annotations

from struct import Struct

from kafkapy.formats.message import Value, decode, encode
from kafkapy.formats.schema import Schema, schemas

_HEADER = Struct(">hhih")
_SIZE = Struct(">i")
_API_VERSIONS = 18


def request_schema(api: str) -> Schema:
    """The schema of an api's request."""
    return schemas(f"requests/{api}")[f"{api}Request"]


def response_schema(api: str) -> Schema:
    """The schema of an api's response."""
    return schemas(f"requests/{api}")[f"{api}Response"]


class Exchange:
    """A request at one version, on its way."""

    def __init__(self, api: str, version: int, fields: Value, one_way: bool = False) -> None:
        schema = request_schema(api)
        assert schema.api_key is not None
        self.api = api
        self.API_KEY = schema.api_key
        self.API_VERSION = version
        self.header: Exchange = self
        self.correlation_id = -1
        self._client_id = b""
        self._flexible = version in schema.flexible_versions
        self._one_way = one_way
        self._body = encode(schema, version, fields)

    def __repr__(self) -> str:
        return f"{self.api} version {self.API_VERSION}"

    @property
    def api_key(self) -> int:
        return self.API_KEY

    @property
    def api_version(self) -> int:
        return self.API_VERSION

    def with_header(self, correlation_id: int, client_id: str) -> None:
        self.correlation_id = correlation_id
        self._client_id = client_id.encode()

    def encode(self, framed: bool, header: bool) -> bytes:
        """The whole request; the library always asks for frame and header."""
        head = _HEADER.pack(self.API_KEY, self.API_VERSION, self.correlation_id, len(self._client_id))
        parts = [head, self._client_id, b"\0" if self._flexible else b"", self._body]
        return _SIZE.pack(sum(map(len, parts))) + b"".join(parts)

    def expect_response(self) -> bool:
        return not self._one_way

    def get_response_class(self) -> Exchange:
        """The class of the response: this very object reads it."""
        return self

    def parse_header(self, buffer: bytearray) -> Exchange:
        """Read the response's header; the number in it has to be the request's."""
        self.correlation_id = _SIZE.unpack_from(buffer)[0]
        return self

    def decode(self, buffer: bytearray) -> memoryview:
        """The body of a response, not decoded yet."""
        flexible = self._flexible and self.API_KEY != _API_VERSIONS
        return memoryview(buffer)[_SIZE.size + (_skip_tags(buffer, _SIZE.size) if flexible else 0) :]


def _skip_tags(buffer: bytearray, start: int) -> int:
    """How long the tagged fields of a header are."""
    from kafkapy.formats.message_reader import MessageReader

    reader = MessageReader(buffer, start)
    for _ in range(reader.unsigned_varint()):
        reader.unsigned_varint()
        reader.array(reader.unsigned_varint())
    return reader.position - start


def decode_response(api: str, version: int, body: memoryview) -> Value:
    """The fields of a response."""
    return decode(response_schema(api), version, body)
