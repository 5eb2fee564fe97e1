"""kafkapy replica-diff on a running cluster; no tool of Kafka's does this.

The files of a broker that runs are damaged under its feet: it gives out what it reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkapy.formats.checksum import crc32c
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.topic_partition import TopicPartition
from tests.live_kafka import LiveKafka

CRC, ATTRIBUTES = 17, 21  # where they lie in a batch


def on(live: LiveKafka, *args: str) -> tuple[str, ...]:
    return ("--bootstrap-server", live.bootstrap, *args)


@pytest.fixture
def topic(live: LiveKafka) -> Iterator[str]:
    """Three batches on all brokers, led by broker 1."""
    made = live.create_topic(live.name("diff"), assignment=[[1, 2, 3]])
    for value in ("first", "second", "third"):
        live.produce(made, [value])
    live.until(lambda: all(segment(live, made, broker).stat().st_size > 150 for broker in (1, 2, 3)))
    yield made
    live.start_all()
    live.delete_topics(made)


def segment(live: LiveKafka, topic: str, broker: int) -> Path:
    (found,) = live.directory.glob(f"broker-{broker}*/{topic}-0/00000000000000000000.log")
    return found


def change(live: LiveKafka, topic: str, broker: int, offset: int, valid: bool) -> None:
    """Change the last byte but one of the batch with an offset; ``valid``: with the checksum that it then has."""
    path = segment(live, topic, broker)
    reader = PartitionReader(str(path.parent), TopicPartition(topic, 0))
    (batch,) = [each for each in reader.read(offset) if each.header.base_offset == offset]
    data = bytearray(batch.data)
    data[-2] ^= 1
    if valid:
        data[CRC:ATTRIBUTES] = crc32c(bytes(data[ATTRIBUTES:])).to_bytes(4, "big")
    with path.open("r+b") as file:
        file.seek(batch.position)
        file.write(data)


def test_copies_that_are_alike(live: LiveKafka, topic: str) -> None:
    done = live.kafkapy("replica-diff", *on(live, topic))
    assert (done.code, done.err) == (0, "")
    assert done.lines[0] == f"{topic}-0: 3 copies, alike"
    assert [line.split()[1] for line in done.lines[1:]] == ["1", "2", "3"]
    assert [line.split("  ")[-1] for line in done.lines[1:]] == ["trusted", "alike", "alike"]


def test_a_copy_with_other_records(live: LiveKafka, topic: str) -> None:
    change(live, topic, 2, 1, valid=True)
    done = live.kafkapy("replica-diff", *on(live, f"{topic}:0", "--repair-plan"))
    assert (done.code, done.err) == (1, "")
    assert done.lines[0] == f"{topic}-0: 3 copies, different"
    assert done.lines[2].startswith("  broker 2  in ISR  start 0  end 3")
    assert done.lines[2].endswith("different from offset 1 on")
    assert done.lines[3] == "    the batches differ, offset 1:"
    assert done.lines[4].startswith("    broker 1: offsets 1-1, epoch 0, crc ")
    assert done.lines[4].endswith(f" bytes in {segment(live, topic, 1).parent}")
    assert done.lines[5].startswith("    broker 2: offsets 1-1, epoch 0, crc ")
    assert done.lines[6].endswith("alike")
    assert done.lines[7] == "  plan for broker 1: trust it: it is the leader's"
    assert done.lines[8].startswith(
        "  plan for broker 2: with its broker stopped, delete the copy and let it be fetched anew"
    )


def test_the_rows_are_those_of_files(live: LiveKafka, topic: str) -> None:
    change(live, topic, 3, 2, valid=True)
    running = live.kafkapy("replica-diff", *on(live, topic, "--output", "jsonl"))
    paths = [str(path) for path in sorted(live.directory.glob("broker-*"))]
    files = live.kafkapy("replica-diff", "--log-dirs", ",".join(paths), topic, "--output", "jsonl")
    assert (running.code, files.code) == (1, 1)
    rows = [[json.loads(line) for line in done.lines] for done in (running, files)]
    for row in (row for each in rows for row in each):
        for batch in (row["trusted_batch"], row["batch"]):
            for name in ("file", "position") if batch else ():
                del batch[name]
        row["truncate_to"] = None  # by leader epochs, of which a broker tells only the last
    for mine, others in zip(*rows, strict=True):
        assert mine == others


def test_a_damaged_copy(live: LiveKafka, topic: str) -> None:
    change(live, topic, 3, 1, valid=False)
    done = live.kafkapy("replica-diff", *on(live, topic))
    assert done.code == 1
    assert done.lines[3].endswith("damaged at offset 1")
    assert done.lines[4].startswith(f"    {segment(live, topic, 3).parent}: Record is corrupt")


def test_a_damaged_leader(live: LiveKafka, topic: str) -> None:
    change(live, topic, 1, 1, valid=False)
    done = live.kafkapy("replica-diff", *on(live, topic, "--repair-plan"))
    assert done.code == 1
    assert done.lines[1].endswith("trusted")
    assert done.lines[1].startswith("  broker 2  in ISR")
    assert "that of the leader, broker 1, is damaged" in done.out


def test_a_compacted_topic_is_compared_by_its_records(live: LiveKafka) -> None:
    made = live.create_topic(live.name("diff"), assignment=[[1, 2]], configs={"cleanup.policy": "compact"})
    try:
        for number in range(3):
            live.produce(made, [f"v{number}"], key="k")
        live.until(lambda: segment(live, made, 2).stat().st_size == segment(live, made, 1).stat().st_size)
        assert live.kafkapy("replica-diff", *on(live, made)).lines[0] == f"{made}-0: 2 copies, alike"
        change(live, made, 2, 1, valid=True)
        done = live.kafkapy("replica-diff", *on(live, made))
        assert (done.code, "the records differ, offset 1:" in done.out) == (1, True)
    finally:
        live.delete_topics(made)


def test_what_is_not_there(live: LiveKafka) -> None:
    done = live.kafkapy("replica-diff", *on(live, "not-there"))
    assert (done.code, done.err) == (1, "kafkapy: no copy of not-there is in the running cluster\n")


def test_a_broker_that_is_down(live: LiveKafka, topic: str) -> None:
    live.stop_broker(3)
    done = live.kafkapy("replica-diff", *on(live, topic))
    assert done.code == 0
    assert done.lines[-1] == "  broker 3 has a replica too, which is not compared: its broker is down"
    rows = live.kafkapy("replica-diff", *on(live, topic, "--output", "jsonl"))
    assert len(rows.lines) == 2
    assert rows.err == f"kafkapy: {topic}-0: broker 3 has a replica too, which is not compared: its broker is down\n"


def test_what_lies_above_the_high_watermark(live: LiveKafka, topic: str, tmp_path: Path) -> None:
    """Without a quorum the ISR stays as it is, so what broker 1 takes with acks=1 stays above the high watermark."""
    live.kill_broker(3, wait=False)
    live.kill_broker(2, wait=False)
    (tmp_path / "client.properties").write_text("request.timeout.ms=3000\ndefault.api.timeout.ms=4000\n")
    where = ("--bootstrap-server", live.address(1), "--command-config", str(tmp_path / "client.properties"))
    sent = live.kafkapy("console-producer", *where, "--topic", topic, "--request-required-acks", "1", stdin="more\n")
    assert sent.code == 0, sent
    done = live.kafkapy("replica-diff", *where, topic)
    assert done.code == 0, done
    assert done.lines[1].startswith("  broker 1  leader  start 0  end 4")
    assert done.lines[2].startswith("    read up to its high watermark, offset 3: ")
    assert [line.split(":")[0] for line in done.lines[3:]] == [
        f"  broker {broker} has a replica too, which is not compared" for broker in (2, 3)
    ]
