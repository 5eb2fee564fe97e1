"""A plan to empty a broker."""

from kafkapy.tour.step import Command, Note, Step, StepName

STEP = Step(
    StepName.REASSIGNMENT,
    "Plan how to move orders off broker 3",
    "A plan has Kafka's own JSON format. It moves as few bytes as it can. kafkapy shows what it costs, and can "
    "simulate it before anything moves.",
    (
        Command('echo \'{"version": 1, "topics": [{"topic": "orders"}]}\' >topics.json'),
        Command(
            "kafkapy reassign-partitions --generate --drain-broker 3 --simulate \\\n"
            "    --topics-to-move-json-file topics.json --save plan.json",
            (
                Note(
                    r"changes (?P<changed>\d+) of (?P<all>\d+) partitions:\n +replicas moved +(?P<replicas>\d+)\n"
                    r" +bytes moved +(?P<bytes>\d+)",
                    "{changed} of {all} partitions change: {replicas} copies have to be made, {bytes} bytes in all. "
                    "(Most of the {all} belong to Kafka's internal topics.)",
                ),
                Note(
                    r"copied +(?P<moving>\d+) +(?P<bytes>[\d.]+ \w+) ",
                    "The last table simulates the plan on a copy of the metadata: {moving} partitions copy {bytes}, "
                    "and leave broker 3. 'kafkapy reassign-partitions --execute --reassignment-json-file plan.json' "
                    "carries it out.",
                ),
            ),
        ),
    ),
)
