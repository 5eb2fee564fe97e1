"""What ``storage info`` tells of log dirs: StorageTool's lines, and how many problems there are."""

from __future__ import annotations

import os
from collections.abc import Sequence

from kafkapy.backends.selection import Selection, check_directory
from kafkapy.errors import FormatError, UsageError
from kafkapy.formats import java_properties, meta_properties


def storage_info(cluster: str | None, log_dirs: Sequence[str]) -> tuple[list[str], int]:
    """The lines for a cluster directory, or for log dirs; and the number of problems."""
    if cluster is not None and log_dirs:
        raise UsageError("--cluster and --log-dirs name different clusters: give one of them")
    if not log_dirs:
        log_dirs = _dirs_of(Selection(cluster).directory)
    problems, found = [], []
    for path in sorted(log_dirs):
        problem, properties = _look_at(path)
        if problem is not None:
            problems.append(problem)
        elif properties not in found:
            found.append(properties)
    lines = [
        "Found log director" + ("y:" if len(log_dirs) == 1 else "ies:"),
        *(f"  {path}" for path in sorted(log_dirs)),
        "",
    ]
    for properties in found:
        lines += [f"Found metadata: {{{properties}}}", ""]
    if problems:
        lines += [
            "Found problem" + (":" if len(problems) == 1 else "s:"),
            *(f"  {problem}" for problem in problems),
            "",
        ]
    return lines, len(problems)


def _dirs_of(directory: str) -> list[str]:
    from kafkapy.backends.cluster_file import read_cluster_file

    check_directory(directory)
    return [
        os.path.join(directory, path) for broker in read_cluster_file(directory).brokers for path in broker.log_dirs
    ]


def _look_at(path: str) -> tuple[str | None, str]:
    if not os.path.isdir(path):
        return f"{path} is not a directory" if os.path.exists(path) else f"{path} does not exist", ""
    try:
        with open(os.path.join(path, meta_properties.FILE_NAME), "rb") as file:
            data = file.read()
        meta_properties.decode(data)
    except FileNotFoundError:
        return f"{path} is not formatted.", ""
    except FormatError as error:
        return f"Error loading {path}: {error}", ""
    return None, ", ".join(f"{name}={value}" for name, value in sorted(java_properties.load(data).items()))
