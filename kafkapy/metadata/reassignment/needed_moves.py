"""The moves that a goal cannot do without: off brokers that may not have a replica, to another replication factor, and
to racks as they should be. Each replica that is placed goes where the load is least.
"""

from __future__ import annotations

from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.reassignment.broker_loads import BrokerLoads
from kafkapy.metadata.reassignment.room import check_room
from kafkapy.metadata.topics_image import NO_LEADER


def make_needed_moves(loads: BrokerLoads) -> None:
    """Make them, large partitions first, since small ones fit in behind them."""
    goal = loads.goal
    partitions = sorted(loads.replicas, key=lambda each: (-loads.layout.size(each), each))
    check_room(loads, partitions)
    for partition in partitions:
        wanted = loads.wanted(partition)
        kept = goal.kept.intersection(loads.replicas[partition])
        for broker in [b for b in loads.replicas[partition] if b not in loads.counts and b not in kept]:
            loads.remove(partition, broker)
        while len(loads.replicas[partition]) > wanted:
            loads.remove(partition, _to_drop(loads, partition))
        if goal.fix_racks:
            _leave_crowded_racks(loads, partition, wanted)
        while len(loads.replicas[partition]) < wanted:
            loads.add(partition, _place(loads, partition))


def _to_drop(loads: BrokerLoads, partition: TopicPartition) -> int:
    """Of the replicas that racks can spare, the one on the fullest broker; who leads stays, else the first that is
    up."""
    replicas = loads.replicas[partition]
    stays = loads.layout.elected(partition, tuple(replicas))
    if stays == NO_LEADER:
        stays = next((broker for broker in replicas if broker in loads.counts), replicas[0])
    others = [broker for broker in replicas if broker != stays]
    spare = [b for b in others if loads.rule.is_kept([other for other in replicas if other != b])]
    return max(spare or others, key=lambda broker: (loads.fullness(broker), broker))


def _leave_crowded_racks(loads: BrokerLoads, partition: TopicPartition, wanted: int) -> None:
    rule = loads.rule
    cap = rule.cap(wanted)
    while rule.is_active:
        replicas = loads.replicas[partition]
        racks = [rule.racks.get(broker) for broker in replicas]
        crowded = [b for b in replicas if b in loads.counts and racks.count(rule.racks[b]) > cap]
        if not crowded:
            return
        loads.remove(partition, max(crowded, key=lambda broker: (loads.fullness(broker), broker)))


def _place(loads: BrokerLoads, partition: TopicPartition) -> int:
    """The broker with the least load among those that may have the replica; racks give way before a broker is given
    what it may not receive, and it goes home before racks do."""
    goal, present, wanted = loads.goal, loads.replicas[partition], loads.wanted(partition)
    home = [b for b in loads.original[partition] if b in loads.counts and b not in present]
    free = [b for b in goal.brokers if goal.may_receive(b) and b not in present]
    spread = [[b for b in candidates if _fits(loads, present, b, wanted)] for candidates in (home, free)]
    others = [b for b in goal.brokers if b not in present]
    found = next(filter(None, (*spread, home, free, others)))
    return min(found, key=lambda broker: (loads.fullness(broker), broker))


def _fits(loads: BrokerLoads, present: list[int], broker: int, wanted: int) -> bool:
    rule = loads.rule
    if not rule.is_active:
        return True
    return sum(rule.racks.get(other) == rule.racks[broker] for other in present) < rule.cap(wanted)
