"""The apis of Kafka's protocol: key, name, the lowest and highest version that 4.3.1's clients know, and whose it is.

The table (api_keys.txt) has one api a line, its columns parted by tabs; the last says whether clients use the api, or
only brokers and controllers among themselves. An api whose highest version is -1 is no longer spoken.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from kafkapy.formats.fact_table import read_rows


class ApiKey(NamedTuple):
    """One line of the table."""

    key: int
    name: str
    min_version: int
    max_version: int
    is_of_clients: bool


@cache
def api_keys() -> dict[int, ApiKey]:
    """Every api, by key."""
    rows = read_rows("api_keys.txt")
    apis = [ApiKey(int(row[0]), row[1], int(row[2]), int(row[3]), row[4] == "client") for row in rows]
    return {api.key: api for api in apis}
