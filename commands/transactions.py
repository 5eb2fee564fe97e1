"""``kafkapy transactions``: kafka-transactions.sh. Each sub-command has a file of its own."""

from collections.abc import Callable

from kafkapy.subcommand import Subcommand, examples, new_group

from . import (
    transactions_abort,
    transactions_describe,
    transactions_describe_producers,
    transactions_find_hanging,
    transactions_force_terminate,
    transactions_list,
)
from .options_first import PLACE_OF_OPTIONS, OptionsFirst

app = new_group(
    "List and describe transactions, find those that hang, and abort them.\n\n"
    "A transaction that never ends stops all consumers that read only committed records (read_committed) at its "
    "first record. Its coordinator is the broker that keeps its state in __transaction_state.\n\n"
    "" + PLACE_OF_OPTIONS.format("kafkapy transactions"),
    examples(
        (
            "List the transactional ids of brokers' directories:",
            "kafkapy transactions --log-dirs /kafka/1,/kafka/2 list",
        ),
        ("Ask a running cluster:", "kafkapy transactions --bootstrap-server localhost:9092 list"),
        ("Find hanging transactions:", "kafkapy transactions find-hanging --log-dirs /kafka/1,/kafka/2"),
    ),
)


@app.callback(cls=OptionsFirst)
def transactions() -> None:
    """Only to have a group of this class."""


def _add(name: str, command: Callable[..., None], epilog: str) -> None:
    app.command(name, cls=Subcommand, epilog=epilog)(command)


_add("list", transactions_list.list_transactions, transactions_list.EXAMPLES)
_add("describe", transactions_describe.describe, transactions_describe.EXAMPLES)
_add(
    "describe-producers",
    transactions_describe_producers.describe_producers,
    transactions_describe_producers.EXAMPLES,
)
_add("find-hanging", transactions_find_hanging.find_hanging, transactions_find_hanging.EXAMPLES)
_add("abort", transactions_abort.abort, transactions_abort.EXAMPLES)
_add(
    "forceTerminateTransaction",
    transactions_force_terminate.force_terminate_transaction,
    transactions_force_terminate.EXAMPLES,
)
