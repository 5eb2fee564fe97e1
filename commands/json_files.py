"""The JSON files that Kafka's tools take. Errors in their words do not say which file is wrong, so a hint does."""

from collections.abc import Callable
from typing import TypeVar

from kafkapy.errors import KafkaError

Parsed = TypeVar("Parsed")


def read_json(path: str, parse: Callable[[bytes], Parsed], example: str) -> Parsed:
    """What ``parse`` makes of a file, which is to be like ``example``."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        return parse(data)
    except KafkaError as error:
        error.hint = f"{path}{'' if data.strip() else ' is empty'}: the file should look like {example}"
        raise


def java_string(data: bytes) -> str:
    """A file's text as Java reads it: what is no UTF-8 is replaced."""
    return data.decode("utf-8", "replace")
