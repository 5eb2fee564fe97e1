"""What the files of a cluster tell administrators: meta.properties, the metadata log, and the state of the quorum.

What is changed here is changed through the metadata log (``Cluster.apply``); what takes nodes that run is Unsupported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from kafkapy.backends.administration import ClusterNode, NodeApiVersions
from kafkapy.backends.log_dir_identity import read_meta_properties
from kafkapy.backends.quorum import Quorum, Voter, describe_quorum
from kafkapy.errors import FormatError, KafkaError, KafkapyError, Unsupported
from kafkapy.metadata.acls import AclFilter
from kafkapy.metadata.cluster_image import BrokerRegistration
from kafkapy.metadata.feature_description import FeatureDescription, describe_features
from kafkapy.metadata.feature_updates import FeatureUpdate
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.metadata_replay import LoadedMetadata
from kafkapy.metadata.security_image import Acl

_FILES = "a cluster that is only files"
_RUNNING = "name a running cluster with --bootstrap-server"


class FileAdministration:
    """``log_dirs`` are those of all nodes, ``image`` gives the metadata, ``loaded`` what its log tells beside that;
    ``unfenced`` gives the brokers that run."""

    def __init__(
        self,
        log_dirs: Sequence[str],
        image: Callable[[], MetadataImage],
        loaded: Callable[[], LoadedMetadata | None],
        unfenced: Callable[[], frozenset[int]],
    ) -> None:
        self._log_dirs = tuple(log_dirs)
        self._image = image
        self._loaded = loaded
        self._unfenced = unfenced

    def cluster_id(self) -> str | None:
        for log_dir in self._log_dirs:
            with suppress(OSError, FormatError):
                return read_meta_properties(log_dir).cluster_id
        return None

    def nodes(self, include_fenced: bool = False) -> list[ClusterNode]:
        """Where brokers said they listen; of a cluster that is stopped all are fenced, and all are told."""
        brokers = sorted(self._image().brokers.values(), key=lambda broker: broker.id)
        unfenced = self._unfenced()
        nodes = [_node(broker, broker.id not in unfenced) for broker in brokers]
        return nodes if include_fenced else [node for node in nodes if not node.is_fenced] or nodes

    def api_versions(self) -> list[NodeApiVersions]:
        raise Unsupported("asking brokers for the versions of their requests", _FILES, _RUNNING)

    def unreachable(self, nodes: Sequence[ClusterNode]) -> dict[int, KafkapyError]:
        raise Unsupported("reaching brokers", _FILES, _RUNNING)

    def unregister_broker(self, broker_id: int) -> None:
        raise Unsupported("unregistering a broker", _FILES, _RUNNING)

    def features(self, node_id: int | None = None) -> list[FeatureDescription] | None:
        loaded = self._loaded()
        return None if loaded is None else describe_features(loaded.image, loaded.kraft_version, node_id)

    def update_features(self, updates: Sequence[FeatureUpdate], dry_run: bool) -> dict[str, KafkaError | None]:
        hint = "a new cluster directory gets its levels by 'kafkapy storage format --feature'"
        raise Unsupported("changing the levels of features", _FILES, hint)

    def quorum(self) -> Quorum:
        return describe_quorum(self._loaded(), *self._log_dirs)

    def add_controller(self, voter: Voter) -> None:
        raise Unsupported("adding a controller to the quorum", _FILES, _RUNNING)

    def remove_controller(self, controller_id: int, directory_id: str) -> None:
        raise Unsupported("removing a controller from the quorum", _FILES, _RUNNING)

    def acls(self, filters: Sequence[AclFilter]) -> list[Acl]:
        return sorted({acl for acl in self._image().acls.values() if any(each.matches(acl) for each in filters)})


def _node(broker: BrokerRegistration, is_fenced: bool) -> ClusterNode:
    listener = broker.listeners[0] if broker.listeners else None
    host, port = ("", -1) if listener is None else (listener.host, listener.port)
    return ClusterNode(broker.id, host, port, broker.rack, is_fenced)
