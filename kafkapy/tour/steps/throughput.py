"""What comes in."""

from kafkapy.tour.step import Command, Note, Step, StepName

STEP = Step(
    StepName.THROUGHPUT,
    "See what came in",
    "Records carry their time, so the files show how fast they came in, without any broker's metrics. This is a "
    "table with some of the columns; json, jsonl, csv and yaml are available too.",
    (
        Command(
            "kafkapy throughput --exclude-internal --measure-compression --output table \\\n"
            "    --columns topic,records,batches,bytes,record_rate,compression_ratio",
            (
                Note(
                    r"orders +(?P<records>\d+) +(?P<batches>\d+) +(?P<bytes>\d+) +(?P<rate>[\d.]+) +(?P<ratio>[\d.]+)",
                    "orders: {records} records in {batches} batches and {bytes} bytes, {rate} records a second from "
                    "the first to the last; IN/S in the output of lag covers the time between commits. Uncompressed, "
                    "they would take {ratio} times as much space. In payments, the markers of transactions count as "
                    "records.",
                ),
            ),
        ),
    ),
)
