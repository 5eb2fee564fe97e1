"""Whose log dir a directory is: what its meta.properties says, beside what cluster.yaml says."""

from __future__ import annotations

import os

from kafkapy.backends.cluster_file import FILE_NAME
from kafkapy.errors import FormatError, KafkapyError
from kafkapy.formats import meta_properties
from kafkapy.formats.meta_properties import MetaProperties


def read_meta_properties(log_dir: str) -> MetaProperties:
    """What a log dir says of itself; whoever asks decides what a missing or broken file means."""
    with open(os.path.join(log_dir, meta_properties.FILE_NAME), "rb") as file:
        return meta_properties.decode(file.read())


def directory_id(log_dir: str, broker_id: int, cluster_id: str) -> str:
    """The id of a log dir, which must be the one that cluster.yaml means."""
    path = os.path.join(log_dir, meta_properties.FILE_NAME)
    try:
        meta = read_meta_properties(log_dir)
    except FormatError as error:
        raise KafkapyError(f"{path}: {error}") from None
    if (meta.node_id, meta.cluster_id) != (broker_id, cluster_id):
        raise KafkapyError(
            f"{path}: belongs to broker {meta.node_id} of cluster {meta.cluster_id}, not to broker {broker_id} of "
            f"cluster {cluster_id} as {FILE_NAME} says"
        )
    if meta.directory_id is None:
        raise KafkapyError(f"{path}: has no directory.id")
    return meta.directory_id
