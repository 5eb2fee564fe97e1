"""What TransactionsCommand asks of coordinators: which transactions there are, and what is known of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kafkapy.coordinator.transaction_state import TransactionMetadata, TransactionState
from kafkapy.errors import FormatError, KafkaError

if TYPE_CHECKING:
    import re


class TransactionDescription(NamedTuple):
    """A transactional id and its coordinator, which is None where no broker leads its partition."""

    coordinator: int | None
    metadata: TransactionMetadata


class ListFilter(NamedTuple):
    """Which transactions are listed: those that run longer than ``duration_ms``, and whose ids match ``pattern``.

    One that has not begun counts as running since -1, so it is listed with any duration, as Kafka does.
    """

    now: int
    duration_ms: int = -1
    pattern: re.Pattern[str] | None = None

    def accepts(self, found: TransactionMetadata) -> bool:
        """Whether a transaction is listed."""
        if found.state is TransactionState.DEAD:
            return False
        if self.duration_ms >= 0 and self.now - found.start_timestamp <= self.duration_ms:
            return False
        return self.pattern is None or self.pattern.fullmatch(found.transactional_id) is not None


def compile_id_pattern(text: str) -> re.Pattern[str] | None:
    """The pattern of transactional ids; nothing for an empty one, which stands for all."""
    if not text:
        return None
    from kafkapy.coordinator.re2_pattern import compile_re2

    try:
        return compile_re2(text)
    except FormatError as error:
        raise KafkaError(
            "InvalidRegularExpression", f"Transaction ID pattern `{text}` is not a valid regular expression: {error}"
        ) from None
