"""What administrators ask of a cluster as a whole: its id, nodes and features, its metadata quorum, its ACLs.

Files tell what they have (file_administration.py), a running cluster is asked (live/live_administration.py). What only
a running cluster can do is Unsupported on files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from kafkapy.backends.quorum import Quorum, Voter
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.metadata.acls import AclFilter
from kafkapy.metadata.feature_description import FeatureDescription
from kafkapy.metadata.feature_updates import FeatureUpdate
from kafkapy.metadata.security_image import Acl

ApiRange = tuple[int, int]


class ClusterNode(NamedTuple):
    """A broker or a controller, and where it listens."""

    id: int
    host: str
    port: int
    rack: str | None = None
    is_fenced: bool = False
    is_controller: bool = False


class NodeApiVersions(NamedTuple):
    """The lowest and highest version of each api, by key, that a node has; an error where it did not tell."""

    node: ClusterNode
    versions: Mapping[int, ApiRange] | KafkapyError


class Administration(Protocol):
    """What commands ask."""

    def cluster_id(self) -> str | None:
        """The id of the cluster; None where nothing tells it."""
        ...

    def nodes(self, include_fenced: bool = False) -> list[ClusterNode]:
        """The brokers; of a cluster that is named by its controllers, these."""
        ...

    def api_versions(self) -> list[NodeApiVersions]:
        """Which requests every broker takes."""
        ...

    def unreachable(self, nodes: Sequence[ClusterNode]) -> dict[int, KafkapyError]:
        """Those of these nodes that cannot be talked to, also of fenced ones, and why."""
        ...

    def unregister_broker(self, broker_id: int) -> None:
        """Let the cluster forget a broker that is gone for good."""
        ...

    def features(self, node_id: int | None = None) -> list[FeatureDescription] | None:
        """The features by name, as a node supports them; None where nothing tells them."""
        ...

    def update_features(self, updates: Sequence[FeatureUpdate], dry_run: bool) -> dict[str, KafkaError | None]:
        """Change the levels of features, all or none; for each why not."""
        ...

    def quorum(self) -> Quorum:
        """The metadata quorum."""
        ...

    def add_controller(self, voter: Voter) -> None:
        """Make a controller that runs a voter."""
        ...

    def remove_controller(self, controller_id: int, directory_id: str) -> None:
        """Let a voter vote no more."""
        ...

    def acls(self, filters: Sequence[AclFilter]) -> list[Acl]:
        """The ACLs that any of the filters means."""
        ...
