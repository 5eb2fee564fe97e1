"""What came in, added up by an engine: the log of a partition is a part. The sums are those of one process."""

from __future__ import annotations

from functools import partial

from kafkapy.backends.replicas import whole_copy
from kafkapy.lag.batch_flow import Flow, Flows, NameOf
from kafkapy.lag.cluster_batches import Wanted, batch_rows, partition_logs
from kafkapy.lag.log_answers import Tell
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.tables.engine import Engine
from kafkapy.tables.opening import open_paths


def engine_flows(
    engine: Engine, paths: tuple[str, ...], wanted: Wanted, name_of: NameOf, step_ms: int | None, tell: Tell
) -> list[Flow]:
    """What came into the logs at ``paths``."""
    partitions = [partition for partition, _ in partition_logs(open_paths(paths), wanted.topic)]
    whole = Flows(name_of, step_ms)
    for sums, problems in engine.map(partial(_flows, paths, wanted, name_of, step_ms), partitions):
        whole.merge(sums)
        for problem in problems:
            tell(problem)
    return whole.flows()


def _flows(
    paths: tuple[str, ...], wanted: Wanted, name_of: NameOf, step_ms: int | None, partition: TopicPartition
) -> tuple[Flows, list[str]]:
    sums = Flows(name_of, step_ms)
    problems: list[str] = []
    log = whole_copy(open_paths(paths).copies(partition))
    if log is not None:
        sums.add(batch_rows(log, wanted.stretch, wanted.measures, problems.append))
    return sums, problems
