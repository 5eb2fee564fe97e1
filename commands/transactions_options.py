"""What the sub-commands of ``kafkapy transactions`` share: options, and how they open a cluster and fail."""

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from kafkapy.errors import KafkaError, KafkapyError

from .tool_errors import fail, missing_partitions

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.coordinator.transactions import Transactions
    from kafkapy.log.topic_partition import TopicPartition

WHICH = "Which transactions"
WHICH_PARTITION = "Which partition"
MS_IN_A_MINUTE = 60_000


def option(metavar: str, help_text: str, panel: str, *names: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=help_text, rich_help_panel=panel)


TopicOption = Annotated[str, option("TOPIC", "The topic's name.", WHICH_PARTITION)]
PartitionOption = Annotated[int, option("PARTITION", "The partition's number.", WHICH_PARTITION)]


def not_described(partition: "TopicPartition", broker_id: int | None) -> str:
    """That the producers of a partition could not be found out."""
    asked = "leader" if broker_id is None else f"broker {broker_id}"
    return f"Failed to describe producers for partition {partition} on {asked}"


def hinting_id(error: KafkaError, transactions: "Transactions", transactional_id: str) -> KafkaError:
    """An error about a transactional id, with the one that was probably meant."""
    from kafkapy.near_misses import hinting

    if error.name != "TransactionalIdNotFoundException":
        return error
    with suppress(KafkapyError):
        known = [found.metadata.transactional_id for found in transactions.list_transactions()]
        return hinting(error, "transactional id", transactional_id, known)
    return error


def failed(what: str, error: KafkapyError) -> NoReturn:
    """End as TransactionsCommand does."""
    fail(f"{what}: {error}. Enable debug logging for additional detail.", error)


def failed_on(partition: "TopicPartition", cluster: "Cluster", what: str, error: KafkaError) -> NoReturn:
    """The same of what is asked about a partition, with those that there are where it is not among them."""
    error.hint = error.hint or next(iter(missing_partitions([partition], cluster)), None)
    failed(what, error)
