"""Steps of the producer.

There is one. Its idempotent batches bear its id and a sequence number for each topic, by which a leader knows one that
it has already; others bear neither. As with Kafka's producer, idempotence takes acks=all.
"""

from __future__ import annotations

from kafkapy.formats.record_batch import BatchOptions, Record, encode_batch
from kafkapy.lab.laboratory import Laboratory, StepError
from kafkapy.lab.place import Place
from kafkapy.lab.produced import UNANSWERED, Produced
from kafkapy.lab.scenario import Setup, Step
from kafkapy.lab.step_kind import StepKind, flag, names, words
from kafkapy.replication.leader import ACKS_ALL

ACKS = {"0": 0, "1": 1, "all": ACKS_ALL, "-1": ACKS_ALL}
PRODUCER_ID = 1000
LOST = "lost"


def acks(what: str, place: Place, _: Setup) -> int:
    """0, 1 or all."""
    return ACKS[place.one_of(what, ACKS)]


def _answer(what: str, place: Place, _: Setup) -> str:
    return place.one_of(what, (LOST,))


def _produce(lab: Laboratory, step: Step) -> str:
    partition = lab.partition(step)
    topic = partition.topic_partition.topic
    options = BatchOptions()
    if step.options.get("idempotent"):
        if _acks(lab, step) != ACKS_ALL:
            raise StepError("an idempotent producer needs acks=all")
        sequence = lab.next_sequence.get(topic, 0)
        options = BatchOptions(producer_id=PRODUCER_ID, producer_epoch=0, base_sequence=sequence)
    records = [Record(n, lab.now, None, value.encode()) for n, value in enumerate(step.argument)]
    sentence = _send(lab, step, topic, step.argument, encode_batch(records, options))
    if step.options.get("idempotent"):
        lab.next_sequence[topic] = options.base_sequence + len(records)
        return f"{sentence} The batch carries producer id {PRODUCER_ID} and sequence {options.base_sequence}."
    return sentence


def _retry(lab: Laboratory, step: Step) -> str:
    if not lab.produced:
        raise StepError("nothing has been produced yet that could be sent again")
    last = lab.produced[-1]
    again = step._replace(options={"acks": last.acks, **step.options})
    return f"The producer sends the same batch again. {_send(lab, again, last.topic, last.values, last.batch)}"


def _send(lab: Laboratory, step: Step, topic: str, values: tuple[str, ...], batch: bytes) -> str:
    wanted = _acks(lab, step)
    partition = lab.topics[topic]
    info = partition.produce(batch, wanted)
    produced = Produced(topic, values, batch, wanted, info)
    produced.leader = partition.partition.led().broker_id
    if step.options.get("answer") == LOST:
        produced.state = UNANSWERED
    lab.produced.append(produced)
    acks_text = "all" if wanted == ACKS_ALL else str(wanted)
    beginning = f"PRODUCE of {words(values)} with acks={acks_text}: leader {produced.leader}"
    if info.duplicate:
        did = f"recognises the batch by its sequence number, has it at offset {info.first_offset}, appends nothing"
    else:
        did = f"appends at offset {info.first_offset}"
    return f"{beginning} {did}{_how_answered(wanted, produced)}."


def _acks(lab: Laboratory, step: Step) -> int:
    wanted: int = step.options.get("acks", lab.setup.acks)
    return wanted


def _how_answered(wanted: int, produced: Produced) -> str:
    if produced.state == UNANSWERED:
        due = ", when all in-sync replicas have it," if wanted == ACKS_ALL else ""
        return f"; the answer{due} is lost on its way"
    if wanted == 0:
        return ", and sends no answer, since none is expected"
    return ", and answers at once" if wanted != ACKS_ALL else ", and answers when all in-sync replicas have it"


PRODUCE_STEPS = {
    "produce": StepKind(
        _produce,
        names,
        {"acks": acks, "idempotent": flag, "answer": _answer},
        topic="one",
    ),
    "retry": StepKind(_retry),
}
