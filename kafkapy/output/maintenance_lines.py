"""Lines and rows of ``kafkapy maintenance``: where, what, how large, why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafkapy.backends.maintenance import Action
    from kafkapy.backends.replica_maintenance import Task

_VERBS = {
    "compact": "compacted",
    "delete segment": "deleted segment",
    "remove file": "removed file",
    "write snapshot": "wrote snapshot",
    "abort transaction": "aborted transaction",
    "forget transactional id": "forgot transactional id",
    "forget offsets": "forgot offsets of group",
    "forget group": "forgot group",
    "remove members": "removed members of group",
}
_PLANNED = {"forget offsets": "forget offsets of group", "remove members": "remove members of group"}


def maintenance_line(action: Action, is_plan: bool) -> str:
    """One action in words."""
    task = action.task
    where = f"{action.partition} on {'brokers' if len(action.brokers) > 1 else 'broker'} {_listed(action.brokers)}"
    what = f"would {_PLANNED.get(task.kind, task.kind)}" if is_plan else _VERBS[task.kind]
    return f"{where}: {what} {task.name}{_size(task)}: {task.reason}"


def maintenance_row(action: Action, is_plan: bool) -> dict[str, Any]:
    """The same, typed."""
    topic, partition = action.partition
    return {
        "type": "maintenance",
        "topic": topic,
        "partition": partition,
        "brokers": list(action.brokers),
        "task": action.task.kind,
        "name": action.task.name,
        "size": action.task.size,
        "size_after": action.task.size_after,
        "reason": action.task.reason,
        "done": not is_plan,
    }


def _size(task: Task) -> str:
    if task.size and task.size_after:
        return f" ({task.size} to {task.size_after} bytes)"
    return f" ({task.size or task.size_after} bytes)" if task.size or task.size_after else ""


def _listed(brokers: tuple[int, ...]) -> str:
    return ",".join(map(str, brokers))
