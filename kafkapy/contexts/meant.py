"""What commands mean that name no cluster, where that is another one than somebody may think who just made one.

Without a context and without a variable it is ./kafkapy-cluster, as everywhere: nothing is told of that.
"""

from __future__ import annotations

import os

from kafkapy.contexts.config_file import read_config
from kafkapy.contexts.resolution import CLUSTER_VARIABLE, VARIABLE, chosen_context, is_needed
from kafkapy.errors import KafkapyError


def otherwise_meant(directory: str) -> str | None:
    """The cluster that a variable or a context names in place of ``directory``, and who says so; None where none does,
    or where commands are refused."""
    variable = os.environ.get(CLUSTER_VARIABLE)
    if variable:
        return None if _is_same(variable, directory) else f"{variable} (${CLUSTER_VARIABLE})"
    if not is_needed(None):
        return None
    try:
        config = read_config()
        chosen = chosen_context(config, None)
        if chosen is None:
            return None
        context = chosen.context
        cluster = config.resolved(context, context.kind)
    except (KafkapyError, OSError):
        return None
    if context.kind == "cluster" and _is_same(cluster, directory):
        return None
    by = f", by ${VARIABLE}" if chosen.said_by == f"${VARIABLE}" else ""
    return f"{cluster} (context {context.name}{by})"


def _is_same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
