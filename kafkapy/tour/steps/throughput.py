"""What comes in."""

from kafkapy.tour.step import Command, Note, Step, StepName

STEP = Step(
    StepName.THROUGHPUT,
    "See what came in",
    "Records carry their time, so the files tell how fast they came in, without a metric of any broker. This is a "
    "table of some columns; json, jsonl, csv and yaml are there as well.",
    (
        Command(
            "kafkapy throughput --exclude-internal --measure-compression --output table \\\n"
            "    --columns topic,records,batches,bytes,record_rate,compression_ratio",
            (
                Note(
                    r"orders +(?P<records>\d+) +(?P<batches>\d+) +(?P<bytes>\d+) +(?P<rate>[\d.]+) +(?P<ratio>[\d.]+)",
                    "orders: {records} records in {batches} batches and {bytes} bytes, {rate} records a second from "
                    "the first to the last; the IN/S of lag was of the time between commits. Uncompressed, they would "
                    "take {ratio} times as much. In payments, the markers of transactions "
                    "count as records.",
                ),
            ),
        ),
    ),
)
