"""FeatureCommand's lines about levels that were changed, or could be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kafkapy.errors import KafkaError
from kafkapy.metadata.feature_updates import FeatureUpdate

DISABLE = "disable"


def update_lines(
    operation: str, updates: Iterable[FeatureUpdate], failures: Mapping[str, KafkaError | None], dry_run: bool
) -> Iterator[str]:
    """A line for each feature by name; ``operation`` is upgrade, downgrade or disable."""
    for update in sorted(updates):
        error = failures[update.feature]
        if error is not None:
            refused = "Can not" if dry_run else "Could not"
            target = "" if operation == DISABLE else f" to {update.level}"
            yield f"{refused} {operation} {update.feature}{target}. {error}"
        else:
            done = "disabled" if operation == DISABLE else f"{operation}d to {update.level}"
            yield f"{update.feature} {'can be' if dry_run else 'was'} {done}."
