"""Which brokers run, as far as files tell: the metadata first, so that a cluster directory and its log dirs agree.

Real brokers are unfenced in the metadata while they run; the last ones of a cluster that was stopped stay so, since no
quorum was left to fence them. What they left is whole if every log dir has the mark of a clean stop and nobody uses it:
then all may lead at the next start. In what kafkapy wrote all are fenced, and those run that lead something. Where
nobody leads anything, the cluster was stopped as a whole.
"""

from __future__ import annotations

from kafkapy.backends.directory_reader import DirectoryReader
from kafkapy.backends.log_dir_lock import holder_of
from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.doctor.log_dir_files import is_stopped
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.topics_image import NO_LEADER


def running_brokers(cluster: LogDirsCluster) -> frozenset[int]:
    """The brokers that may lead; of a cluster directory none that its cluster.yaml has stopped or killed."""
    image, log_dirs = cluster.image(), cluster.everywhere().dirs.paths
    running = frozenset(broker.id for broker in image.brokers.values() if not broker.fenced)
    if running and all(is_stopped(each) and holder_of(each) is None for each in log_dirs):
        running = frozenset(image.brokers)
    running = running or _leaders(image) or frozenset(image.brokers)
    return running & cluster.brokers.alive if isinstance(cluster, DirectoryReader) else running


def _leaders(image: MetadataImage) -> frozenset[int]:
    leaders = {each.leader for topic in image.topics.values() for each in topic.partitions.values()}
    return frozenset(leaders - {NO_LEADER})
