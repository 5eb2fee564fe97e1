"""A group that remembers how far it has read."""

from kafkapy.tour.step import Command, Note, Step, StepName

STEP = Step(
    StepName.GROUP,
    "Consume as a group",
    "A consumer that is in a group joins it, is assigned partitions, and commits how far it has read. This one stops "
    "after two records.",
    (
        Command(
            "kafkapy console-consumer --topic orders --group billing --from-beginning \\\n"
            "    --max-messages 2 --formatter-property print.partition=true \\\n"
            "    --formatter-property print.offset=true --formatter-property print.key=true",
            (
                Note(
                    r"(?s)Partition:(?P<partition>\d+)\tOffset:(?P<offset>\d+)\t(?P<key>\w+)\t(?P<value>\w+)\nProcessed",
                    "The last record, at offset {offset} of partition {partition}, has the key {key} and the value "
                    "{value}.",
                ),
            ),
        ),
        Command(
            "kafkapy consumer-groups --describe --group billing",
            (
                Note(
                    r"billing +orders +0 +(?P<committed>\d+) +(?P<end>\d+) +(?P<lag>\d+)",
                    "In partition 0, the group has committed offset {committed}, where the next run begins; the log "
                    "ends at {end}. The difference is its lag: {lag}.",
                ),
            ),
        ),
    ),
)
