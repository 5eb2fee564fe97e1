"""FeatureCommand's lines about levels that were changed, or could be, and the rows that say the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kafkapy.errors import KafkaError
from kafkapy.metadata.feature_updates import FeatureUpdate

DISABLE = "disable"


def update_pairs(
    operation: str, updates: Iterable[FeatureUpdate], failures: Mapping[str, KafkaError | None], dry_run: bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Line and row of each feature by name; ``operation`` is upgrade, downgrade or disable."""
    for update in sorted(updates):
        error = failures[update.feature]
        line = _done(operation, update, dry_run) if error is None else _refused(operation, update, dry_run, error)
        yield (
            line,
            {
                "type": "feature_update",
                "feature": update.feature,
                "operation": operation,
                "level": update.level,
                "is_dry_run": dry_run,
                "error": None if error is None else error.name,
                "message": None if error is None else str(error),
            },
        )


def _done(operation: str, update: FeatureUpdate, dry_run: bool) -> str:
    done = "disabled" if operation == DISABLE else f"{operation}d to {update.level}"
    return f"{update.feature} {'can be' if dry_run else 'was'} {done}."


def _refused(operation: str, update: FeatureUpdate, dry_run: bool, error: KafkaError) -> str:
    target = "" if operation == DISABLE else f" to {update.level}"
    return f"{'Can not' if dry_run else 'Could not'} {operation} {update.feature}{target}. {error}"
