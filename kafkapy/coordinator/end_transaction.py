"""Whether a producer may end its transaction: Kafka's tables, for transactions version 2 and before.

The answer is that it may, that it has done so already (a retry, which then gets the same answer as the first try), or
an error. With version 2 the end raised the epoch, so a retry comes with the epoch before; one with the current epoch
speaks of the next transaction, which may be aborted though nothing was begun, because the producer cannot know.
"""

from __future__ import annotations

from kafkapy.coordinator.transaction_errors import refusal
from kafkapy.coordinator.transaction_state import EPOCH_BUMP_VERSION, LAST_USABLE_EPOCH, TransactionMetadata
from kafkapy.coordinator.transaction_state import TransactionState as State


def is_ended_already(
    current: TransactionMetadata, producer_id: int, epoch: int, commit: bool, transaction_version: int
) -> bool:
    """Whether the transaction has ended just so; an error where it cannot, False where it is to be ended."""
    if transaction_version >= EPOCH_BUMP_VERSION:
        return _since_version_2(current, producer_id, epoch, commit)
    check_producer(current, producer_id, epoch)
    if current.state is State.ONGOING:
        return False
    if current.state is _complete(commit):
        return True
    raise refusal("InvalidTxnStateException")


def check_producer(current: TransactionMetadata, producer_id: int, epoch: int) -> None:
    """Refuse a producer that the transactional id does not belong to, any more."""
    if current.producer_id != producer_id:
        raise refusal("InvalidPidMappingException")
    if current.producer_epoch != epoch:
        raise refusal("ProducerFencedException")


def _since_version_2(current: TransactionMetadata, producer_id: int, epoch: int, commit: bool) -> bool:
    if not _is_retry(current, producer_id, epoch):
        check_producer(current, producer_id, epoch)
        if commit and current.state is not State.ONGOING:
            raise refusal("InvalidTxnStateException")
        return False
    if current.state is not _complete(commit):
        raise refusal("InvalidTxnStateException")
    return True


def _is_retry(current: TransactionMetadata, producer_id: int, epoch: int) -> bool:
    if current.state not in (State.COMPLETE_COMMIT, State.COMPLETE_ABORT):
        return False
    if current.producer_id == producer_id and current.producer_epoch == epoch + 1:
        return True
    # the first try used up the epochs of the producer id
    return current.previous_producer_id == producer_id and epoch == LAST_USABLE_EPOCH and current.producer_epoch == 0


def _complete(commit: bool) -> State:
    return State.COMPLETE_COMMIT if commit else State.COMPLETE_ABORT
