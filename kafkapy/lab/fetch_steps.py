"""Steps of followers: fetches, whole or as request and answer, and what a broker does with its disk."""

from __future__ import annotations

from kafkapy.lab.laboratory import Laboratory, StepError, UnderWay
from kafkapy.lab.scenario import Step
from kafkapy.lab.step_kind import StepKind, flag, numbers, some_brokers, words
from kafkapy.lab.view import logged
from kafkapy.replication.broker_state import RUNNING
from kafkapy.replication.fetch import DelayedFetch
from kafkapy.replication.follower import Fetched
from kafkapy.replication.simulated_partition import SimulatedPartition


def _fetch(lab: Laboratory, step: Step) -> str:
    min_bytes = 1 if step.options.get("wait") else 0
    sentences = []
    for broker_id, partition in _followers(lab, step):
        start = partition.partition.replicas[broker_id].log_end_offset
        fetched = partition.fetch(broker_id, min_bytes)
        sentences.append(f"FETCH of broker {broker_id} from offset {start}{_of(lab, partition)}: ")
        if isinstance(fetched, DelayedFetch):
            sentences[-1] += "there is nothing new, so the request waits in the leader's purgatory."
        else:
            sentences[-1] += _received(partition, broker_id, fetched)
    return " ".join(sentences)


def _fetch_request(lab: Laboratory, step: Step) -> str:
    sentences = []
    for broker_id, partition in _followers(lab, step):
        start = partition.partition.replicas[broker_id].log_end_offset
        answer = partition.partition.send_fetch(broker_id, lab.now)
        assert not isinstance(answer, DelayedFetch)
        leader = partition.partition.led()
        topic = partition.topic_partition.topic
        lab.under_way[topic, broker_id] = UnderWay(answer, leader.epoch)
        sentences.append(
            f"FETCH of broker {broker_id} from offset {start} arrives{_of(lab, partition)}: leader "
            f"{leader.broker_id} learns from it what broker {broker_id} has. The answer, "
            f"{'with' if answer.data else 'without'} records and with high watermark {answer.high_watermark}, is on "
            "its way."
        )
    return " ".join(sentences)


def _fetch_response(lab: Laboratory, step: Step) -> str:
    sentences = []
    for broker_id, partition in _followers(lab, step):
        under_way = lab.under_way.pop((partition.topic_partition.topic, broker_id), None)
        if under_way is None:
            raise StepError(f"no answer is on its way to broker {broker_id}: it takes a fetch-request first")
        beginning = f"The answer arrives at broker {broker_id}{_of(lab, partition)}: "
        if partition.partition.followers[broker_id].leader_epoch != under_way.leader_epoch:
            sentences.append(f"{beginning}it is from a former leader, and is ignored.")
        else:
            fetched = partition.partition.receive(broker_id, under_way.response, lab.now)
            sentences.append(beginning + _received(partition, broker_id, fetched))
    return " ".join(sentences)


def _fetch_round(lab: Laboratory, step: Step) -> str:
    who = sorted({broker_id for partition in lab.partitions(step) for broker_id in partition.fetch_round()})
    return f"Every follower fetches once: {numbers(who) or 'there are none'}."


def _catch_up(lab: Laboratory, step: Step) -> str:
    rounds = max(partition.catch_up() for partition in lab.partitions(step))
    return f"Followers fetch until they have everything and know it: {rounds} round{'' if rounds == 1 else 's'}."


def _flush(lab: Laboratory, step: Step) -> str:
    for broker_id in step.argument:
        for partition in lab.partitions_on(broker_id):
            partition.flush(broker_id)
    who = f"Broker {step.argument[0]} syncs" if len(step.argument) == 1 else f"Brokers {numbers(step.argument)} sync"
    return f"{who} to disk: what is in the log now survives a crash."


def _followers(lab: Laboratory, step: Step) -> list[tuple[int, SimulatedPartition]]:
    """Who is to fetch, with each partition that it follows."""
    found = []
    for broker_id in step.argument:
        lab.require_state(broker_id, RUNNING)
        followed = [each for each in lab.partitions(step) if broker_id in each.partition.followers]
        if not followed:
            raise StepError(f"broker {broker_id} follows no leader, so it has nothing to fetch")
        found += [(broker_id, partition) for partition in followed]
    return found


def _received(partition: SimulatedPartition, broker_id: int, fetched: Fetched) -> str:
    replica = partition.partition.replicas[broker_id]
    if fetched.truncated_from == replica.log_end_offset:
        return "it forgets an epoch in which nothing was written."
    if fetched.truncated_from is not None:
        return f"its history diverges from the leader's, and it cuts its log off at offset {replica.log_end_offset}."
    values = [each.value for each in logged(replica) if each.offset >= fetched.first_offset]
    return f"it gets {words(values)}, and its high watermark is {replica.high_watermark}."


def _of(lab: Laboratory, partition: SimulatedPartition) -> str:
    return f" for {partition.topic_partition}" if len(lab.topics) > 1 else ""


FETCH_STEPS = {
    "fetch": StepKind(_fetch, some_brokers, {"wait": flag}, "all"),
    "fetch-request": StepKind(_fetch_request, some_brokers, topic="all"),
    "fetch-response": StepKind(_fetch_response, some_brokers, topic="all"),
    "fetch-round": StepKind(_fetch_round, topic="all"),
    "catch-up": StepKind(_catch_up, topic="all"),
    "flush": StepKind(_flush, some_brokers),
}
