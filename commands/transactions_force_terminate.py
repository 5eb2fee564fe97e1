"""``kafkapy transactions forceTerminateTransaction``."""

from contextlib import closing
from typing import Annotated

from kafkapy.errors import KafkaError
from kafkapy.subcommand import examples

from .cluster_options import BootstrapOption, ClusterOption, CommandConfigOption, LogDirsOption, selection
from .transactions_options import WHICH, failed, hinting_id, option

EXAMPLES = examples(
    (
        "Abort the open transaction of an id, and fence its producer:",
        "kafkapy transactions --cluster my-cluster forceTerminateTransaction --transactionalId pay-1",
    ),
    (
        "The same in a running cluster:",
        "kafkapy transactions --bootstrap-server localhost:9092 forceTerminateTransaction --transactionalId pay-1",
    ),
    ("The same in the default cluster:", "kafkapy transactions forceTerminateTransaction --transactionalId pay-1"),
)


def force_terminate_transaction(
    transactional_id: Annotated[str, option("TRANSACTIONAL-ID", "The transactional id.", WHICH, "--transactionalId")],
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    command_config: CommandConfigOption = None,
) -> None:
    """Abort the open transaction of a transactional id.

    Its producer is fenced: it cannot continue with this id.
    """
    from kafkapy.backends.selection import open_cluster_for_writing

    selected = selection(cluster, log_dirs, bootstrap_server, command_config)
    with closing(open_cluster_for_writing(selected)) as opened:
        try:
            opened.transactions().force_terminate(transactional_id)
        except KafkaError as error:
            hinted = hinting_id(error, opened.transactions(), transactional_id)
            failed(f"Failed to force terminate transactionalId `{transactional_id}`", hinted)
