"""What the meta.properties of a cluster directory's log dirs must say: cluster.yaml knows the broker, the metadata the
directory ids. Of several log dirs of a broker, those that say who they are tell which id is left for the others."""

from __future__ import annotations

import os
from collections.abc import Iterable
from shlex import quote

from kafkapy.backends.cluster_file import ClusterFile
from kafkapy.backends.log_dir_identity import read_meta_properties
from kafkapy.errors import FormatError
from kafkapy.formats import meta_properties
from kafkapy.formats.meta_properties import MetaProperties
from kafkapy.metadata.image import MetadataImage


def expected_identities(directory: str, cluster: ClusterFile, image: MetadataImage) -> dict[str, MetaProperties]:
    """Of each log dir that does not say who it is, what it should say."""
    expected = {}
    for broker in cluster.brokers:
        paths = [os.path.join(directory, path) for path in broker.log_dirs]
        registered = image.brokers.get(broker.id)
        left = sorted({*(registered.directories if registered is not None else ())} - {*_known(paths)})
        silent = [path for path in paths if said(path) is None]
        for path, directory_id in zip(silent, left, strict=False):
            expected[path] = MetaProperties(1, cluster.cluster_id, broker.id, directory_id)
    return expected


def writing_command(log_dir: str, meta: MetaProperties) -> str:
    """The command that writes it."""
    lines = (f"version={meta.version}", f"cluster.id={meta.cluster_id}", f"node.id={meta.node_id}")
    text = r"\n".join((*lines, f"directory.id={meta.directory_id}"))
    return rf"printf '{text}\n' > {quote(os.path.join(log_dir, meta_properties.FILE_NAME))}"


def _known(paths: Iterable[str]) -> Iterable[str]:
    return (meta.directory_id for meta in map(said, paths) if meta is not None and meta.directory_id is not None)


def said(path: str) -> MetaProperties | None:
    """What a log dir says of itself; None where it says nothing that can be read."""
    try:
        return read_meta_properties(path)
    except (FormatError, OSError):
        return None
