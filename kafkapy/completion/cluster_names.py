"""What a cluster of any kind is asked for names, and the cluster that a line means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from kafkapy.completion.command_line import CommandLine
    from kafkapy.metadata.image import MetadataImage

ENTITIES = ("USER", "PRINCIPAL", "CLIENT-ID", "IP", "CLIENT-METRICS", "TOKEN")
"""What the metadata alone knows."""


class Names(Protocol):
    """Names that a cluster has."""

    def topics(self, prefix: str) -> set[str]: ...

    def topic_ids(self) -> set[str]: ...

    def partitions(self, topic: str) -> set[int]: ...

    def brokers(self) -> set[int]: ...

    def controllers(self) -> Mapping[int, str]: ...

    def groups(self) -> set[str]: ...

    def transactional_ids(self) -> set[str]: ...

    def producer_ids(self, topic: str, partition: int) -> set[int]: ...

    def loggers(self, broker: str) -> set[str]: ...

    def entities(self, kind: str) -> set[str]: ...

    def image(self, directory: Sequence[str]) -> MetadataImage: ...


def names_of(line: CommandLine) -> Names:
    """The names of the cluster that a line means."""
    selection = line.selection()
    if selection.is_live:
        from kafkapy.completion.live_names import LiveNames

        return LiveNames(selection)
    from kafkapy.completion.file_names import FileNames

    return FileNames(selection)
