"""What ``storage info`` tells of log dirs: StorageTool's lines, and a row for each."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kafkapy.backends.selection import Selection, check_directory
from kafkapy.errors import FormatError, UsageError
from kafkapy.formats import java_properties, meta_properties

PROPERTIES = ("cluster.id", "node.id", "directory.id", "version")


class StorageInfo(NamedTuple):
    """What was found: for people, for programs, and what is wrong."""

    lines: list[str]
    rows: list[dict[str, Any]]
    problems: list[str]


def storage_info(cluster: str | None, log_dirs: Sequence[str]) -> StorageInfo:
    """What there is in a cluster directory, or in log dirs."""
    if cluster is not None and log_dirs:
        raise UsageError("--cluster and --log-dirs name different clusters: give only one of them")
    if not log_dirs:
        log_dirs = _dirs_of(Selection(cluster).directory)
    problems: list[str] = []
    found: list[str] = []
    rows = []
    for path in sorted(log_dirs):
        problem, properties = _look_at(path)
        rows.append(_row(path, problem, properties))
        text = ", ".join(f"{name}={value}" for name, value in sorted(properties.items()))
        if problem is not None:
            problems.append(problem)
        elif text not in found:
            found.append(text)
    lines = [
        "Found log director" + ("y:" if len(log_dirs) == 1 else "ies:"),
        *(f"  {path}" for path in sorted(log_dirs)),
        "",
    ]
    for text in found:
        lines += [f"Found metadata: {{{text}}}", ""]
    if problems:
        lines += [
            "Found problem" + (":" if len(problems) == 1 else "s:"),
            *(f"  {problem}" for problem in problems),
            "",
        ]
    return StorageInfo(lines, rows, problems)


def _row(path: str, problem: str | None, properties: Mapping[str, str]) -> dict[str, Any]:
    values = {name.replace(".", "_"): properties.get(name) for name in PROPERTIES}
    node_id = values["node_id"]
    return {"type": "storage", "path": path, **values, "node_id": node_id and int(node_id), "problem": problem}


def _dirs_of(directory: str) -> list[str]:
    from kafkapy.backends.cluster_file import read_cluster_file

    check_directory(directory)
    return [
        os.path.join(directory, path) for broker in read_cluster_file(directory).brokers for path in broker.log_dirs
    ]


def _look_at(path: str) -> tuple[str | None, Mapping[str, str]]:
    if not os.path.isdir(path):
        return f"{path} is not a directory" if os.path.exists(path) else f"{path} does not exist", {}
    try:
        with open(os.path.join(path, meta_properties.FILE_NAME), "rb") as file:
            data = file.read()
        meta_properties.decode(data)
    except FileNotFoundError:
        return f"{path} is not formatted.", {}
    except FormatError as error:
        return f"Error loading {path}: {error}", {}
    return None, java_properties.load(data)
