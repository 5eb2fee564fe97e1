"""Which decoder a dump uses on its records: one of an internal topic's, or one for keys and one for values."""

from __future__ import annotations

from collections.abc import Callable

from kafkapy.scan.options import DumpOptions
from kafkapy.scan.payload import is_string_decoder, payload_decoder

RecordParser = Callable[[int, bytes | None, bytes | None], tuple[str | None, str | None]]


def record_parser(options: DumpOptions) -> RecordParser | None:
    """The decoder that the options name; None for plain strings, which the kernel writes by itself."""
    if options.decoder is not None:
        from kafkapy.formats.record_decoders import RECORD_DECODERS

        return RECORD_DECODERS[options.decoder.value]
    if is_string_decoder(options.key_decoder) and is_string_decoder(options.value_decoder):
        return None
    return payload_parser(options.key_decoder, options.value_decoder)


def payload_parser(key_decoder: str, value_decoder: str) -> RecordParser:
    """A decoder of keys and one of values, as one; what is null is not printed."""
    decode_key, decode_value = payload_decoder(key_decoder), payload_decoder(value_decoder)

    def parse(_offset: int, key: bytes | None, value: bytes | None) -> tuple[str | None, str | None]:
        return None if key is None else decode_key(key), None if value is None else decode_value(value)

    return parse
